import { requireAllApps } from "../../access/apps.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readParam } from "../../base/http/request.ts";
import { deleteDrain, listDrains, putDrain, testDrain } from "../api/log-drains.ts";
import type { DrainRoom } from "../service/drains/create.ts";

export function mountDrains(plane: Plane, drains: DrainRoom): void {
  mount(plane, listDrains, ({ by }) => {
    requireAllApps(by);
    return { drains: drains.list() };
  });
  mount(plane, putDrain, ({ params, body, by }) => {
    requireAllApps(by);
    return drains.put(readParam(params, "name"), body);
  });
  mount(plane, deleteDrain, ({ params, by }) => {
    requireAllApps(by);
    return drains.remove(readParam(params, "name"));
  });
  mount(plane, testDrain, ({ params, by }) => {
    requireAllApps(by);
    return drains.test(readParam(params, "name"));
  });
}
