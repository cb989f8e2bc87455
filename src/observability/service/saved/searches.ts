import { Failure, type Problem } from "../../../base/wire/failure.ts";
import { schemaReader } from "../../../base/wire/read-body.ts";
import { type LogSearch, LogSearchBody } from "../../api/log-searches.ts";
import { compileQuery } from "../../core/logs/query.ts";
import { parseSpan } from "../../core/metrics/plan.ts";
import type { SavedRecord } from "../../store/saved.ts";
import type { ObservabilityContext } from "../context.ts";
import { askedLines } from "../logs/views.ts";
import { createShelf } from "./shelf.ts";

/** Log searches under names. */
export interface SearchRoom {
  list(): LogSearch[];
  /** Fails `invalid` with the path of each fault. */
  put(name: string, body: unknown, by: string): Promise<LogSearch>;
  /** Fails `not_found`. */
  remove(name: string): Promise<LogSearch>;
}

const readBody = schemaReader(LogSearchBody);

export function createSearchRoom(context: ObservabilityContext): SearchRoom {
  const shelf = createShelf(context, {
    sort: "search",
    label: "saved search",
    list: "berth searches",
    limits: context.limits.saved.searches,
  });
  return {
    list: () => shelf.list().map(viewOf),
    async put(name, given, by) {
      const body = readBody(given);
      return viewOf(await shelf.put({ name, body, by }, searchProblems(body, context.clock.now())));
    },
    remove: async (name) => viewOf(await shelf.remove(name)),
  };
}

/** What the search itself would refuse: better told when it is saved than each time it is used. */
function searchProblems({ q = "", app = "", level = "", from = "" }: LogSearchBody, now: number): Problem[] {
  return [
    ...faultOf("q", () => compileQuery({ apps: [], text: q })),
    ...faultOf("app", () => askedLines({ app }, { apps: [] }, now)),
    ...(level === "" ? [] : faultOf("level", () => askedLines({ level }, { apps: [] }, now))),
    ...(from === "" || parseSpan(from) !== undefined
      ? []
      : [{ path: "from", message: `"${from}" is not a duration: write it like 15m, 1h or 24h` }]),
  ];
}

function faultOf(path: string, run: () => unknown): Problem[] {
  try {
    run();
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [{ path, message: error.message.replace(/^(?:query )?\w+: /, "") }];
  }
}

function viewOf({ name, body, updatedAt, updatedBy }: SavedRecord): LogSearch {
  return { name, ...(body as LogSearchBody), updated_at: new Date(updatedAt).toISOString(), updated_by: updatedBy };
}
