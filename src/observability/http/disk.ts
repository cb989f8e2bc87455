import { Failure } from "../../base/wire/failure.ts";
import { hostDisk, hostServer } from "../api/disk.ts";
import { reachesAll } from "../../access/apps.ts";
import type { Grant } from "../core/tokens/grant.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** The disk of the machine, what makes room on it, and the server itself. */
export function mountDisk(plane: ObservabilityPlane): void {
  const { hostDisk: room } = plane.observability;
  const allowed = ({ grant, actor }: { grant: Grant; actor: string }) => {
    if (reachesAll(grant)) return actor;
    throw new Failure("forbidden", "this token is limited to some apps, and this is about the whole server");
  };
  mount(plane, hostDisk, (call) => room.disk(allowed(call)));
  mount(plane, hostServer, (call) => room.server(allowed(call)));
}
