import { wake } from "../api/wake.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountWake(plane: Plane, controller: Controller): void {
  mount(plane, wake, ({ query, actor }) => controller.wake(query, { actor }));
}
