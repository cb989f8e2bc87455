import { describe } from "../api/describe.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountDescribe(plane: Plane, controller: Controller): void {
  mount(plane, describe, ({ query }) => controller.describe(query));
}
