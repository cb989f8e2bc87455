import { requireAllApps } from "../../access/apps.ts";
import type { Principal } from "../../access/principal.ts";
import { mount } from "../../base/http/mount.ts";
import { hostDisk, hostServer } from "../api/disk.ts";
import { planeSystem } from "../api/system.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** The machine, its disk, and the server itself. `version`: of the server, as `/health` tells it. */
export function mountHost(plane: ObservabilityPlane, version: string): void {
  const { hostDisk: room } = plane.observability;
  const allowed = ({ by, actor }: { by: Principal; actor: string }) => {
    requireAllApps(by, "this is about the whole server");
    return actor;
  };
  mount(plane, planeSystem, () => room.system(version));
  mount(plane, hostDisk, (call) => room.disk(allowed(call)));
  mount(plane, hostServer, (call) => room.server(allowed(call)));
}
