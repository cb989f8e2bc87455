import { readParam } from "../../base/http/request.ts";
import { deleteDrain, listDrains, putDrain, testDrain } from "../api/log-drains.ts";
import type { DrainRoom } from "../service/drains/create.ts";
import type { MountRoom } from "./both-planes.ts";

export function mountDrains(mount: MountRoom, drains: DrainRoom): void {
  mount(listDrains, ({ requireAllApps }) => {
    requireAllApps();
    return { drains: drains.list() };
  });
  mount(putDrain, ({ params, body, requireAllApps }) => {
    requireAllApps();
    return drains.put(readParam(params, "name"), body);
  });
  mount(deleteDrain, ({ params, requireAllApps }) => {
    requireAllApps();
    return drains.remove(readParam(params, "name"));
  });
  mount(testDrain, ({ params, requireAllApps }) => {
    requireAllApps();
    return drains.test(readParam(params, "name"));
  });
}
