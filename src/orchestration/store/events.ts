import type { Database } from "bun:sqlite";
import { createMeta } from "../../base/sqlite/meta.ts";
import type { Seal } from "../../base/sqlite/seal.ts";
import { keyOf } from "../api/manifest-key.ts";
import type { ManifestKey, Spec } from "../api/manifest.ts";
import { blockPlace } from "./blocks.ts";
import type { HistoryChange, HistoryReads, IsSeen, WantedState } from "./history-records.ts";
import { columnsOf, filteredSelect, type KeyColumns, whereKey } from "./rows.ts";
import type { SpecSealer } from "./sealed-spec.ts";
import type { NewEvent, StoredEvent, Transaction } from "./store.ts";

interface Row {
  seq: number;
  at: number;
  actor: string;
  action: string;
  kind: string | null;
  scope: string | null;
  name: string | null;
  revision: number | null;
  detail: string | null;
}

/** The log keeps between 63/64 of `kept` and `kept` rows: cut in chunks, because each cut costs a search. */
const chunksPerLog = 64;

/** The append-only event log, oldest rows dropped beyond `kept`. */
export function createEvents(db: Database, kept: number): Transaction["events"] {
  const chunk = Math.max(1, Math.floor(kept / chunksPerLog));
  const insert = db.query<unknown, (string | number | null)[]>(
    "insert into events (at, actor, action, kind, scope, name, revision, detail) values (?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const cut = db.query<unknown, [number]>("delete from events where seq <= ?");
  const columns = { kind: "kind = ?", scope: "scope = ?", name: "name = ?" };
  const newest = filteredSelect<Row>(
    db,
    columns,
    (clauses) => `select * from events where true${clauses} order by seq desc limit ?`,
  );
  const following = filteredSelect<Row>(
    db,
    { ...columns, after: "seq > ?" },
    (clauses) => `select * from events where true${clauses} order by seq limit ?`,
  );
  return {
    append(event, now) {
      const { actor, action, kind = null, scope = null, name = null, revision = null } = event;
      const detail = event.detail === undefined ? null : JSON.stringify(event.detail);
      const seq = Number(insert.run(now, actor, action, kind, scope, name, revision, detail).lastInsertRowid);
      if (seq % chunk === 0) cut.run(seq - (kept - chunk) - 1);
      return seq;
    },
    list({ limit, ...filter }) {
      const rows = filter.after === undefined ? newest(filter, limit).reverse() : following(filter, limit);
      return rows.map(toEvent);
    },
  };
}

function toEvent(row: Row): StoredEvent {
  return {
    seq: row.seq,
    at: row.at,
    actor: row.actor,
    action: row.action,
    ...(row.kind === null ? {} : { kind: row.kind }),
    ...(row.scope === null ? {} : { scope: row.scope }),
    ...(row.name === null ? {} : { name: row.name }),
    ...(row.revision === null ? {} : { revision: row.revision }),
    ...(row.detail === null ? {} : { detail: JSON.parse(row.detail) }),
  };
}

interface HistoryRow extends ManifestKey {
  seq: number;
  at: number;
  revision: number | null;
  actor: string;
  action: string;
  detail: string | null;
  children: string | null;
  sealed: number;
  spec: string | Uint8Array | null;
}

/** Each cut frees this part of what may be kept, because it costs a search. */
const chunksPerHistory = 64;

const deletes: readonly string[] = ["manifest.delete", "block.delete"];
/** Actions of events that say that another spec is wanted. A delete is one only where something was wanted. */
const changes: readonly string[] = ["manifest.apply", "scale", "release.rollback", "asset.changed", "block.apply"];

/**
 * What was wanted when: the newest `historyKept` changes, at most `historyBytesKept`, and the state before these. `record`
 * writes the state that a change led to, where an event is about one, in the transaction of the change; `forget` drops what
 * was counted before writes were undone. `sealer` is the one of the manifests, whose sealed specs are copied as they are.
 */
export function createHistory(
  db: Database,
  {
    seal,
    sealer,
    limits,
  }: { seal: Seal; sealer: SpecSealer<ManifestKey>; limits: Record<"historyKept" | "historyBytesKept", number> },
) {
  const sql = prepare(db);
  const meta = createMeta(db);
  const resources = db.query<ManifestKey, []>("select distinct kind, scope, name from history");
  const known = { kind: "kind = ?", scope: "scope = ?", name: "name = ?", seen: among };
  const page = filteredSelect<Omit<HistoryRow, "spec"> & { gone: number }>(
    db,
    { ...known, before: "seq < ?" },
    (clauses) => `select ${listed}, spec is null as gone from history where true${clauses} order by seq desc limit ?`,
  );
  const wanted = filteredSelect<HistoryRow>(
    db,
    { seq: "seq <= ?", ...known },
    (clauses) =>
      `select * from history where seq in (select max(seq) from history where true${clauses} group by kind, scope, name)` +
      " and spec is not null order by kind, scope, name",
  );
  // Changes up to `seq` are kept only as far as they are the state at `at`.
  const horizon = (): { at: number; seq: number } => JSON.parse(meta.get("history_begins") ?? '{"at":0,"seq":0}');
  const open = (row: HistoryRow): Spec => {
    if (typeof row.spec === "string") return sealer.open(row, { text: row.spec, sealed: row.sealed === 1 });
    return JSON.parse(seal.open(row.spec ?? new Uint8Array(), blockPlace(row)));
  };
  // What a caller may not see is passed over by the database: its rows are neither read nor opened.
  const seenBy = (isSeen: IsSeen) => isSeen && JSON.stringify(resources.all().filter(isSeen).map(columnsOf));
  let beyond: { changes: number; bytes: number } | undefined;

  function trim(): void {
    const { seq } = horizon();
    beyond ??= sql.beyond.get(seq) ?? { changes: 0, bytes: 0 };
    if (beyond.changes <= limits.historyKept && beyond.bytes <= limits.historyBytesKept) return;
    const spared = 1 - 1 / chunksPerHistory;
    let left = beyond;
    for (const row of sql.oldest.iterate(seq)) {
      left = { changes: left.changes - 1, bytes: left.bytes - row.bytes };
      meta.put("history_begins", JSON.stringify({ at: row.at, seq: row.seq }));
      if (left.changes <= limits.historyKept * spared && left.bytes <= limits.historyBytesKept * spared) break;
    }
    beyond = left;
    const cut = horizon().seq;
    sql.drop.run(cut, cut);
  }

  /** How many rows it wrote. */
  function write(action: string, who: Who, key: KeyColumns): number {
    if (deletes.includes(action)) return sql.gone.run(...who, ...key, ...key).changes;
    if (!changes.includes(action)) return 0;
    return (action === "block.apply" ? sql.block : sql.manifest).run(...who, ...key).changes;
  }

  const history: HistoryReads = {
    list: ({ limit, isSeen, ...filter }) => page({ ...filter, seen: seenBy(isSeen) }, limit).map(toChange),
    begins: () => (meta.get("history_begins") === undefined ? sql.first.get()?.at : horizon().at),
    at(time, { isSeen, ...filter }) {
      const seq = Math.max(horizon().seq, sql.last.get(time)?.seq ?? 0);
      return wanted({ ...filter, seen: seenBy(isSeen), seq }).map((row) => toWanted(row, open(row)));
    },
  };
  return {
    history,
    record(event: NewEvent, now: number): void {
      const { kind, scope, name } = event;
      if (kind === undefined || scope === undefined || name === undefined) return;
      const key = columnsOf({ kind, scope, name });
      const detail = event.detail === undefined ? null : JSON.stringify(event.detail);
      const who = [now, event.actor, event.action, detail] as const;
      const written = write(event.action, who, key);
      if (written === 0) return;
      const bytes = sql.newest.get()?.bytes ?? 0;
      if (beyond !== undefined) beyond = { changes: beyond.changes + 1, bytes: beyond.bytes + bytes };
      trim();
    },
    forget(): void {
      beyond = undefined;
    },
  };
}

/** Resources in a list of JSON. */
const among = "(kind, scope, name) in (select value ->> 0, value ->> 1, value ->> 2 from json_each(?))";
const listed = "seq, at, kind, scope, name, revision, actor, action, detail, children, sealed";
const inserted =
  "insert into history (at, actor, action, detail, kind, scope, name, bytes, revision, children, sealed, spec) ";

type Who = readonly [now: number, actor: string, action: string, detail: string | null];

function prepare(db: Database) {
  return {
    first: db.query<{ at: number }, []>("select at from history order by seq limit 1"),
    last: db.query<{ seq: number }, [number]>("select seq from history where at <= ? order by seq desc limit 1"),
    newest: db.query<{ bytes: number }, []>("select bytes from history order by seq desc limit 1"),
    beyond: db.query<{ changes: number; bytes: number }, [number]>(
      "select count(*) as changes, coalesce(sum(bytes), 0) as bytes from history where seq > ?",
    ),
    oldest: db.query<{ seq: number; at: number; bytes: number }, [number]>(
      "select seq, at, bytes from history where seq > ? order by seq",
    ),
    manifest: db.query<unknown, [...Who, ...KeyColumns]>(
      `${inserted}select ?, ?, ?, ?, kind, scope, name, length(spec), revision, null, sealed, spec` +
        ` from manifests where ${whereKey}`,
    ),
    block: db.query<unknown, [...Who, ...KeyColumns]>(
      `${inserted}select ?, ?, ?, ?, kind, scope, name, length(spec), revision, (` +
        "select json_group_array(json_object('kind', kind, 'scope', scope, 'name', name)) from block_children" +
        " where block_kind = blocks.kind and block_scope = blocks.scope and block_name = blocks.name and by_action = 0" +
        `), 1, spec from blocks where ${whereKey}`,
    ),
    gone: db.query<unknown, [...Who, ...KeyColumns, ...KeyColumns]>(
      `${inserted}select ?, ?, ?, ?, ?, ?, ?, 0, null, null, 0, null` +
        ` where (select spec is not null from history where ${whereKey} order by seq desc limit 1)`,
    ),
    drop: db.query<unknown, [number, number]>(
      "delete from history where seq <= ? and (spec is null or exists (select 1 from history as later" +
        " where later.kind = history.kind and later.scope = history.scope and later.name = history.name" +
        " and later.seq > history.seq and later.seq <= ?))",
    ),
  };
}

function toChange({ gone, detail, ...row }: Omit<HistoryRow, "spec"> & { gone: number }): HistoryChange {
  return {
    ...keyOf(row),
    seq: row.seq,
    at: row.at,
    revision: row.revision ?? undefined,
    actor: row.actor,
    action: row.action,
    detail: detail === null ? undefined : JSON.parse(detail),
    isDelete: gone === 1,
  };
}

function toWanted(row: HistoryRow, spec: Spec): WantedState {
  const { seq, at, actor } = row;
  const children = row.children === null ? undefined : JSON.parse(row.children);
  return { ...keyOf(row), seq, at, actor, revision: row.revision ?? 0, spec, children };
}
