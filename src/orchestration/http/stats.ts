import { isFromAfar, sees } from "../../access/apps.ts";
import { listStats } from "../api/stats.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

/** `headerPrefix`: of the header that tells the age of the figures in seconds. */
export function mountStats(plane: Plane, controller: Controller, headerPrefix: string): void {
  const header = `${headerPrefix}-Snapshot-Age`;
  mount(plane, listStats, {
    async answer({ query: { orphans, live, ...filter }, by }) {
      const answer = await controller.stats(filter, { orphans: readFlag(orphans, false), live: readFlag(live, false) });
      return { ...answer, pods: answer.pods.filter(({ identity }) => sees(by, identity)) };
    },
    // The contract of tokens has tenths of seconds, and none for figures that were taken for the request.
    headers({ sampled_at: at, snapshot }, { by }) {
      const age = Math.max((Date.now() - Date.parse(at)) / 1_000, 0);
      if (!isFromAfar(by)) return { [header]: String(Math.round(age)) };
      return snapshot ? { [header]: age.toFixed(1) } : {};
    },
  });
}
