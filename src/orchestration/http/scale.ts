import { scale } from "../api/scale.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountScale(plane: Plane, controller: Controller): void {
  mount(plane, scale, ({ query: { replicas, ...target }, actor }) =>
    controller.scale({ ...target, replicas }, { actor }),
  );
}
