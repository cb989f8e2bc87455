import { why } from "../api/why.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountWhy(plane: Plane, controller: Controller): void {
  mount(plane, why, ({ query }) => controller.why(query));
}
