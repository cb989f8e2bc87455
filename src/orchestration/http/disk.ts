import { getDisk, planPrune, prune } from "../api/disk.ts";
import { readFlag } from "../../base/wire/query.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import type { Controller } from "../controller/controller.ts";

export function mountDisk(plane: Plane, controller: Controller): void {
  mount(plane, getDisk, ({ query }) => controller.disk({ wait: readFlag(query.wait, false) }));
  mount(plane, planPrune, () => controller.planPrune());
  mount(plane, prune, ({ actor }) => controller.prune({ actor }));
}
