import { requireAllApps } from "../../access/apps.ts";
import { getDisk, planPrune, prune } from "../api/disk.ts";
import { readFlag } from "../../base/wire/query.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import type { Controller } from "../controller/controller.ts";

const wholeServer = "this is about the whole server";

export function mountDisk(plane: Plane, controller: Controller): void {
  mount(plane, getDisk, ({ query }) => controller.disk({ wait: readFlag(query.wait, false) }));
  mount(plane, planPrune, ({ by }) => {
    requireAllApps(by, wholeServer);
    return controller.planPrune();
  });
  mount(plane, prune, ({ by, actor }) => {
    requireAllApps(by, wholeServer);
    return controller.prune({ actor });
  });
}
