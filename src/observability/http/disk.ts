import { Failure } from "../../base/wire/failure.ts";
import { hostDisk, hostPrune, hostPrunePlan, hostServer } from "../api/disk.ts";
import { reachesAll } from "../../access/apps.ts";
import type { Grant } from "../core/tokens/grant.ts";
import { mountPlane } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** The disk of the machine, what makes room on it, and the server itself. */
export function mountDisk(plane: ObservabilityPlane): void {
  const { hostDisk: room } = plane.observability;
  const allowed = ({ grant, actor }: { grant: Grant; actor: string }) => {
    if (reachesAll(grant)) return actor;
    throw new Failure("forbidden", "this token is limited to some apps, and this is about the whole server");
  };
  mountPlane(plane, hostDisk, (call) => room.disk(allowed(call)));
  mountPlane(plane, hostPrunePlan, (call) => room.planPrune(allowed(call)));
  mountPlane(plane, hostPrune, (call) => room.prune(allowed(call)));
  mountPlane(plane, hostServer, (call) => room.server(allowed(call)));
}
