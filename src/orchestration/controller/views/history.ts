import { isoTime } from "../../../base/pure/iso-time.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type {
  HistoryChange as WireChange,
  historyState as endpoint,
  listHistory as listing,
} from "../../api/history.ts";
import { coreKinds } from "../../api/manifest.ts";
import { maskSpec } from "../../core/mask.ts";
import { maskBlock } from "../../core/plugins/block-mask.ts";
import type { HistoryChange, IsSeen } from "../../store/history-records.ts";
import type { Target } from "../requests.ts";
import type { Context } from "../state/context.ts";
import { filterKind, required } from "../state/target.ts";

/** `isSeen`: what the caller may see; undefined for all. */
type Part = Pick<Target, "scope" | "name"> & { isSeen?: IsSeen };

/** GET /history. */
export function listHistory(
  { store, limits }: Context,
  { kind, isSeen, ...page }: Target & Part & { before: number | undefined; limit: number },
): DataOf<typeof listing> {
  const begins = store.history.begins();
  const limit = Math.min(page.limit, limits.eventsPageMax);
  const asked = { scope: page.scope || undefined, name: page.name || undefined, before: page.before, limit, isSeen };
  const changes = store.history.list({ ...asked, kind: filterKind(kind) });
  return { begins: begins === undefined ? undefined : isoTime(begins), changes: changes.map(wireChange) };
}

/** GET /history/state. Fails `invalid` for a time that the history does not know. */
export function historyState(
  context: Context,
  { at, scope, name, isSeen }: Part & { at: string | undefined },
): DataOf<typeof endpoint> {
  const { time, begins } = knownTime(context, at);
  const states = context.store.history.at(time, { scope: scope || undefined, name: name || undefined, isSeen });
  const manifests = states.map(({ kind, scope: place, name: called, spec, revision, at: since }) => ({
    ...{ kind, ...(place === "" ? {} : { scope: place }), name: called },
    spec: isCore(kind) ? maskSpec(kind, spec) : maskBlock(spec),
    metadata: { revision, updated_at: isoTime(since) },
  }));
  return { at: isoTime(time), begins: isoTime(begins), manifests };
}

/** A time that the history knows, epoch milliseconds. Fails `invalid` with the range for another one. */
export function knownTime({ store, clock }: Context, text: string | undefined): { time: number; begins: number } {
  const written = required(text, "at");
  const time = /T.*(?:Z|[+-]\d\d:\d\d)$/.test(written) ? Date.parse(written) : Number.NaN;
  if (Number.isNaN(time)) {
    const example = "write it in ISO 8601 with its zone, like 2026-11-28T14:05:00Z";
    throw new Failure("invalid", `at: "${written.slice(0, 80)}" is not a time; ${example}`);
  }
  const begins = store.history.begins();
  if (begins === undefined) throw new Failure("invalid", "at: nothing was ever applied, so there is no history yet");
  const now = clock.now();
  if (time >= begins && time <= now) return { time, begins };
  const which = time < begins ? "before the history begins" : "in the future";
  const range = `choose a time from ${isoTime(begins)} to ${isoTime(now)}`;
  throw new Failure("invalid", `at: ${isoTime(time)} is ${which}; ${range}`);
}

function isCore(kind: string): boolean {
  return coreKinds.some((core) => core === kind);
}

const causes: Readonly<Record<string, WireChange["cause"]>> = {
  scale: "scale",
  "release.rollback": "rollback",
  "asset.changed": "asset",
  "manifest.delete": "delete",
  "block.delete": "delete",
  "history.begin": "begin",
};

function wireChange({ kind, scope, name, seq, at, actor, action, detail = {}, ...change }: HistoryChange): WireChange {
  const { changed, why, message, outcome, restored } = detail;
  const isNew = outcome === "created";
  const reason = message ?? why;
  return {
    ...{ seq, at: isoTime(at), kind, ...(scope === "" ? {} : { scope }), name, revision: change.revision, actor },
    cause: restored === undefined ? (causes[action] ?? "apply") : "restore",
    outcome: change.isDelete ? "deleted" : isNew ? "created" : "changed",
    // Everything is new, so every field is.
    changed: Array.isArray(changed) && !isNew ? changed.map(String) : pathsOf(action, detail),
    why: typeof reason === "string" ? reason : undefined,
  };
}

function pathsOf(action: string, { taken_back: paths }: Record<string, unknown>): string[] | undefined {
  if (action === "scale") return ["replicas"];
  return Array.isArray(paths) ? paths.map(String) : undefined;
}
