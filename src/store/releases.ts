import type { Database } from "bun:sqlite";
import { createCache } from "./cache.ts";
import { canonicalJson } from "./canonical.ts";
import type { ReleaseRecord } from "./records.ts";
import { columnsOf, idOf, idTaken, type KeyColumns, keyOf, sameOwner, whereKey } from "./rows.ts";
import type { SpecSealer } from "./sealed-spec.ts";
import type { Transaction } from "./store.ts";

interface Row {
  seq: number;
  id: string;
  kind: string;
  scope: string;
  name: string;
  status: ReleaseRecord["status"];
  cause: ReleaseRecord["cause"];
  good: number;
  hash: string;
  revision: number;
  image: string;
  image_id: string | null;
  rolled_back_from: string | null;
  started_at: number;
  ended_at: number | null;
  pre_exit_code: number | null;
  exit_code: number | null;
  post_exit_code: number | null;
  error: string | null;
  spec: string;
  sealed: number;
  log: string;
}

type Sealer = SpecSealer<Pick<ReleaseRecord, "kind" | "scope" | "name" | "id">>;

/** Histories kept in memory: the reconciler asks for one several times a round, and specs are long. */
const historiesCached = 200;

export interface ReleaseNoun {
  releases: Transaction["releases"];
  /** Forgets one resource (its manifest was deleted), or all (writes were undone). */
  forget(id?: string): void;
}

/** What was rolled out, per resource the newest `kept`; their specs sealed as those of manifests are. */
export function createReleases(db: Database, sealer: Sealer, kept: number): ReleaseNoun {
  const sql = prepare(db);
  const open = (row: Row) => toRelease(row, sealer);
  const histories = createCache<readonly ReleaseRecord[]>(historiesCached);
  const releases: Transaction["releases"] = {
    get(id) {
      const row = sql.byId.get(id);
      return row ? open(row) : undefined;
    },
    list: (key) => [...histories.get(idOf(key), () => sql.byKey.all(...columnsOf(key)).map(open))],
    unfinished: () => sql.unfinished.all().map(open),
    put(release) {
      const key = columnsOf(release);
      histories.drop(idOf(release));
      const { changes } = sql.upsert.run(release.id, ...key, ...valuesOf(release, sealer));
      if (changes === 0) throw idTaken("release", release.id);
      sql.trim.run(...key, ...key, kept, ...key);
    },
  };
  return { releases, forget: (id) => (id === undefined ? histories.clear() : histories.drop(id)) };
}

const unfinished = "status in ('pending', 'running')";

const columns = [
  ...["status", "cause", "good", "hash", "revision", "image", "image_id", "rolled_back_from", "started_at"],
  ...["ended_at", "pre_exit_code", "exit_code", "post_exit_code", "error", "spec", "sealed", "log"],
];

function prepare(db: Database) {
  return {
    byId: db.query<Row, [string]>("select * from releases where id = ?"),
    byKey: db.query<Row, KeyColumns>(`select * from releases where ${whereKey} order by seq desc`),
    unfinished: db.query<Row, []>(`select * from releases where ${unfinished} order by seq`),
    upsert: db.query<unknown, [string, ...KeyColumns, ...(string | number | null)[]]>(
      `insert into releases (id, kind, scope, name, ${columns.join(", ")})` +
        ` values (?, ?, ?, ?, ${columns.map(() => "?").join(", ")})` +
        ` on conflict (id) do update set ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}` +
        ` where ${sameOwner}`,
    ),
    trim: db.query<unknown, [...KeyColumns, ...KeyColumns, number, ...KeyColumns]>(
      `delete from releases where ${whereKey} and not ${unfinished}` +
        ` and seq not in (select seq from releases where ${whereKey} order by seq desc limit ?)` +
        ` and seq is not (select max(seq) from releases where ${whereKey} and good = 1)`,
    ),
  };
}

/** In the order of `columns`. */
function valuesOf(release: ReleaseRecord, sealer: Sealer): (string | number | null)[] {
  const { text, sealed } = sealer.seal(release, release.spec, canonicalJson(release.spec));
  return [
    ...[release.status, release.cause, Number(release.good), release.hash, release.revision, release.image],
    ...[release.imageId ?? null, release.rolledBackFrom ?? null, release.startedAt, release.endedAt ?? null],
    ...[release.preExitCode ?? null, release.exitCode ?? null, release.postExitCode ?? null, release.error ?? null],
    ...[text, Number(sealed), release.log],
  ];
}

function toRelease(row: Row, sealer: Sealer): ReleaseRecord {
  return {
    ...keyOf(row),
    id: row.id,
    status: row.status,
    cause: row.cause,
    good: row.good === 1,
    hash: row.hash,
    revision: row.revision,
    image: row.image,
    imageId: row.image_id ?? undefined,
    rolledBackFrom: row.rolled_back_from ?? undefined,
    startedAt: row.started_at,
    endedAt: row.ended_at ?? undefined,
    preExitCode: row.pre_exit_code ?? undefined,
    exitCode: row.exit_code ?? undefined,
    postExitCode: row.post_exit_code ?? undefined,
    error: row.error ?? undefined,
    spec: sealer.open(row, { text: row.spec, sealed: row.sealed === 1 }),
    log: row.log,
  };
}
