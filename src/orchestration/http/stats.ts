import { listStats } from "../api/stats.ts";
import { readFlag } from "../../base/wire/query.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

/** `headerPrefix`: of the header that tells the age of the figures in whole seconds. */
export function mountStats(plane: Plane, controller: Controller, headerPrefix: string): void {
  mount(plane, listStats, {
    answer: ({ query: { orphans, live, ...filter } }) =>
      controller.stats(filter, { orphans: readFlag(orphans, false), live: readFlag(live, false) }),
    headers: ({ sampled_at: at }) => ({ [`${headerPrefix}-Snapshot-Age`]: String(ageSeconds(at)) }),
  });
}

function ageSeconds(at: string): number {
  return Math.max(Math.round((Date.now() - Date.parse(at)) / 1_000), 0);
}
