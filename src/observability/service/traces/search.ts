import { foldCase } from "../../../base/pure/fold-case.ts";
import { mayReach } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import { isOfApp } from "../paging.ts";
import type { StoredPart, TracesStore } from "../../store/traces/traces-store.ts";

/** A trace as a list shows it. */
export interface FoundTrace {
  trace: string;
  fromUs: number;
  untilUs: number;
  root: string;
  apps: string[];
  spans: number;
  errors: number;
}

interface TraceQuestion {
  reach: Pick<Grant, "apps">;
  /** `SCOPE` or `SCOPE/NAME`. */
  app: string | undefined;
  sinceUs: number;
  minUs: number;
  error: boolean;
  /** Folded. */
  text: string;
  limit: number;
  from: Place;
}

/** A place in the order of traces: by time, the newest first, and then by id. */
export interface Place {
  us: number;
  trace: string;
}

interface FoundTraces {
  traces: FoundTrace[];
  /** Where the next page begins; undefined after the last one. */
  next: Place | undefined;
  /** Whether the page ends because there was no more time for it. */
  isCut: boolean;
}

interface SearchParts {
  store: TracesStore;
  steady: () => number;
  pause: () => Promise<void>;
  limits: { searchMs: number; turnMs: number };
}

const rowsAtOnce = 200;

/** Goes back in time from trace to trace. A trace counts where its first part begins that the caller may see. */
export async function searchTraces(parts: SearchParts, question: TraceQuestion): Promise<FoundTraces> {
  const { store, steady, limits } = parts;
  const until = steady() + limits.searchMs;
  const known = new Map<string, FoundTrace | undefined>();
  const traces: FoundTrace[] = [];
  let place = question.from;
  for (;;) {
    const turnUntil = steady() + limits.turnMs;
    const rows = store.partsBefore(place, rowsAtOnce);
    for (const row of rows) {
      if (row.fromUs < question.sinceUs) return { traces, next: undefined, isCut: false };
      const summary = known.has(row.trace) ? known.get(row.trace) : summaryOf(store.partsOf(row.trace), question);
      known.set(row.trace, summary);
      place = { us: row.fromUs, trace: row.trace };
      if (summary !== undefined && summary.fromUs === row.fromUs) {
        traces.push(summary);
        // Parts that began at the same time are one trace.
        known.set(row.trace, undefined);
      }
      if (traces.length >= question.limit) return { traces, next: place, isCut: false };
      if (steady() > turnUntil) break;
    }
    if (rows.length === 0) return { traces, next: undefined, isCut: false };
    if (steady() > until) return { traces, next: place, isCut: true };
    await parts.pause();
  }
}

/** What the caller may see of a trace; undefined where that is nothing, or not what was asked for. */
function summaryOf(parts: readonly StoredPart[], question: TraceQuestion): FoundTrace | undefined {
  const seen = seenParts(parts, question.reach);
  const summary = traceOf(seen);
  if (summary === undefined) return undefined;
  const fits =
    seen.some(({ app }) => isOfApp(question.app, app)) &&
    summary.untilUs - summary.fromUs >= question.minUs &&
    (!question.error || summary.errors > 0) &&
    (question.text === "" || seen.some(({ words }) => foldCase(words).includes(question.text)));
  return fits ? summary : undefined;
}

function seenParts(parts: readonly StoredPart[], reach: Pick<Grant, "apps">): StoredPart[] {
  return parts.filter(({ app }) => mayReach(reach, app));
}

export function traceOf(parts: readonly StoredPart[]): FoundTrace | undefined {
  const [first] = parts;
  if (first === undefined) return undefined;
  return {
    trace: first.trace,
    fromUs: parts.reduce((least, { fromUs }) => Math.min(least, fromUs), first.fromUs),
    untilUs: parts.reduce((most, { untilUs }) => Math.max(most, untilUs), first.untilUs),
    root: parts.find(({ root }) => root !== "")?.root ?? first.words.split(" ").slice(0, 8).join(" "),
    apps: [...new Set(parts.map(({ app }) => `${app.scope}/${app.name}`))],
    spans: parts.reduce((sum, { spans }) => sum + spans, 0),
    errors: parts.reduce((sum, { errors }) => sum + errors, 0),
  };
}
