import { isoTime } from "../../../base/pure/iso-time.ts";
import type { StoredEvent } from "../../store/store.ts";
import type { Context } from "./context.ts";
import type { Target } from "../requests.ts";
import { filterKind } from "./target.ts";

/** GET /events. */
export function listEvents(context: Context, filter: Target & { after?: number; limit: number }) {
  const limit = Math.min(filter.limit, context.limits.eventsPageMax);
  const { scope, name, after } = filter;
  const kind = filterKind(filter.kind);
  const events = context.store.events.list({
    limit,
    ...(kind ? { kind } : {}),
    ...(scope ? { scope } : {}),
    ...(name ? { name } : {}),
    ...(after === undefined ? {} : { after }),
  });
  return { events: events.map(wireEvent) };
}

export function wireEvent({ seq, at, ...rest }: StoredEvent) {
  return { seq, at: isoTime(at), ...rest };
}
