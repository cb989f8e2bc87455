import { reachesAll, sees, sightOf } from "../../access/apps.ts";
import { readFlag } from "../../base/wire/query.ts";
import { listEvents } from "../api/events.ts";
import { type HistoryChange, historyState, listHistory, restoreHistory } from "../api/history.ts";
import type { Controller } from "../controller/controller.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readCount } from "../../base/http/request.ts";
import { withName } from "./seen.ts";

const eventsPageDefault = 100;

export function mountEvents(plane: Plane, controller: Controller, options: { pageMax: number }): void {
  mount(plane, listEvents, ({ query: { after, limit, ...filter } }) => {
    const from = readCount("after", after, Number.MAX_SAFE_INTEGER);
    const count = readCount("limit", limit, options.pageMax) ?? eventsPageDefault;
    return controller.events({ ...filter, ...(from === undefined ? {} : { after: from }), limit: count });
  });
}

/** What was wanted when, and the way back to it. */
export function mountHistory(plane: Plane, controller: Controller, options: { pageMax: number }): void {
  mount(plane, listHistory, ({ query: { before, limit, ...filter }, by }) => {
    const wanted = readCount("limit", limit, options.pageMax) ?? eventsPageDefault;
    const found: HistoryChange[] = [];
    let from = readCount("before", before, Number.MAX_SAFE_INTEGER);
    // A token that sees some apps gets as many rows as it asked for, too: others are passed over.
    for (;;) {
      const size = reachesAll(sightOf(by)) ? wanted : options.pageMax;
      const { begins, changes } = controller.listHistory({ ...filter, before: from, limit: size });
      const seen = changes.filter((change) => sees(by, { scope: change.scope ?? "", name: change.name }));
      found.push(...seen.slice(0, wanted - found.length).map((change) => withName(plane, change)));
      from = changes.at(-1)?.seq;
      if (found.length === wanted || changes.length < size || from === undefined) return { begins, changes: found };
    }
  });
  mount(plane, historyState, ({ query: { at, ...part }, by }) => {
    const { manifests, ...times } = controller.historyState({ at, ...part });
    return { ...times, manifests: manifests.filter(({ scope = "", name }) => sees(by, { scope, name })) };
  });
  mount(plane, restoreHistory, ({ query: { at, scope, name, dry_run, expect, message }, actor, by }) =>
    controller.restoreHistory(
      { at, scope, name },
      {
        dryRun: readFlag(dry_run, false),
        expect: readCount("expect", expect, Number.MAX_SAFE_INTEGER),
        message,
        actor,
        by,
      },
    ),
  );
}
