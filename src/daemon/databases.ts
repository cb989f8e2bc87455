import { join } from "node:path";
import { type Principal, theServer } from "../access/principal.ts";
import { createCopyGroup } from "../backups/restic/copy-group.ts";
import { createRclone } from "../backups/restic/rclone.ts";
import { createDatabases, type Databases } from "../backups/service/databases.ts";
import type { ShippedDatabase } from "../backups/service/shipping.ts";
import type { Client } from "../base/wire/client.ts";
import { systemClock } from "../base/words/clock.ts";
import { backupLimits, pointInTimeLimits } from "../config/backup-limits.ts";
import { type ListedManifest, listManifests } from "../orchestration/api/apply.ts";
import { backupsVolume } from "../orchestration/api/manifest-key.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import { recordsOf } from "./backups.ts";
import type { Ground } from "./ground.ts";

/** How the bundled plugin calls the kind, and for short. */
const kinds = ["postgres", "pg"];
const dayMs = 86_400_000;

interface Given {
  engine: Pick<Engine, "inspectVolume" | "observe">;
  ask: (actor: string, by: Principal) => Client;
}

/** Databases by point in time: blocks of the bundled plugin postgres that have the field `point_in_time`. */
export function createDatabaseRoom({ layout, store, gate, names, log }: Ground, { engine, ask }: Given): Databases {
  const mountPointOf = async (database: { scope: string; name: string }) =>
    (await engine.inspectVolume(backupsVolume(names, database)))?.mountpoint;

  async function shipped({ scope, name, spec }: ListedManifest): Promise<ShippedDatabase[]> {
    const field: unknown = spec.point_in_time;
    if (scope === undefined || typeof field !== "object" || field === null) return [];
    const { keep, target } = { keep: "7d", target: undefined, ...field } as { keep: unknown; target: unknown };
    const [pod] = await engine.observe({ kind: "statefulset", scope, name });
    return [
      {
        ...{ scope, name, target: typeof target === "string" ? target : undefined },
        keepMs: Number.parseInt(String(keep), 10) * dayMs,
        mountPoint: await mountPointOf({ scope, name }),
        ...{ image: pod?.image ?? "", imageId: pod?.imageId ?? "" },
      },
    ];
  }

  return createDatabases({
    records: recordsOf(store),
    rclone: createRclone(pointInTimeLimits, createCopyGroup(backupLimits, log)),
    async list() {
      const server = ask("server", theServer);
      const lists = await Promise.all(kinds.map((kind) => server.call(listManifests, { query: { kind } })));
      return (await Promise.all(lists.flat().map(shipped))).flat();
    },
    ...{ mountPointOf, staging: join(layout.copies, "databases"), gate, clock: systemClock, log },
    limits: pointInTimeLimits,
  });
}
