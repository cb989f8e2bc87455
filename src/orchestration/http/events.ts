import { type AppName, isFromAfar, reachesAll, sees, sightOf } from "../../access/apps.ts";
import { mayChange, ownsMachine, type Principal } from "../../access/principal.ts";
import { Failure } from "../../base/wire/failure.ts";
import { readFlag } from "../../base/wire/query.ts";
import { listEvents } from "../api/events.ts";
import { historyState, listHistory, restoreHistory } from "../api/history.ts";
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

const isSeenBy = (by: Principal) => (reachesAll(sightOf(by)) ? undefined : (app: AppName) => sees(by, app));

/** What was wanted when, and the way back to it. */
export function mountHistory(plane: Plane, controller: Controller, options: { pageMax: number }): void {
  mount(plane, listHistory, ({ query: { before, limit, ...filter }, by }) => {
    const page = {
      before: readCount("before", before, Number.MAX_SAFE_INTEGER),
      limit: readCount("limit", limit, options.pageMax) ?? eventsPageDefault,
    };
    const { begins, changes } = controller.listHistory({ ...filter, ...page, isSeen: isSeenBy(by) });
    return { begins, changes: changes.map((change) => withName(plane, change)) };
  });
  mount(plane, historyState, ({ query: { at, ...part }, by }) =>
    controller.historyState({ at, ...part, isSeen: isSeenBy(by) }),
  );
  mount(
    plane,
    restoreHistory,
    ({ query: { at, scope, name, dry_run, no_backup, expect, message }, actor, by, left }) => {
      // It writes and deletes whatever was wanted then, of any kind.
      if (isFromAfar(by) && !(ownsMachine(by) && mayChange(by)))
        throw new Failure(
          "forbidden",
          "going back to an earlier state takes the scopes admin and actions, for all apps",
        );
      return controller.restoreHistory(
        { at, scope, name },
        {
          dryRun: readFlag(dry_run, false),
          noBackup: readFlag(no_backup, false),
          left,
          expect: readCount("expect", expect, Number.MAX_SAFE_INTEGER),
          message,
          actor,
          by,
        },
      );
    },
  );
}
