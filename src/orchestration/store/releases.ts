import type { Database } from "bun:sqlite";
import { keyOf, keyText } from "../api/manifest-key.ts";
import { createCache } from "./cache.ts";
import { orderedJson } from "../../base/pure/canonical.ts";
import type { ReleaseHead, ReleasePage, ReleasePlace, ReleaseRecord } from "./records.ts";
import type { ManifestKey } from "../api/manifest.ts";
import { columnsOf, idTaken, type KeyColumns, sameOwner, whereKey } from "./rows.ts";
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
  taken_back: string | null;
  started_at: number;
  ended_at: number | null;
  pre_exit_code: number | null;
  exit_code: number | null;
  post_exit_code: number | null;
  error: string | null;
  reasons: string | null;
  actor: string | null;
  message: string | null;
  lesser: number;
  spec: string;
  sealed: number;
  log: string;
}

type Sealer = SpecSealer<Pick<ReleaseRecord, "kind" | "scope" | "name" | "id">>;

/** Histories kept in memory: the reconciler asks for one several times a round, and specs are long. */
const historiesCached = 500;

type History = readonly ReleaseRecord[];

type PlaceRow = ManifestKey & ReleasePlace;
type HeadRow = Omit<Row, "spec" | "sealed" | "log">;

/** Read in one go while a page is filled. */
const placesAtOnce = 256;

interface ReleaseNoun {
  releases: Transaction["releases"];
  /** Forgets one resource (its manifest was deleted), or all (writes were undone). */
  forget(id?: string): void;
}

/**
 * What was rolled out: of each resource the newest `kept`, and as many good ones of different specs or images. Their
 * specs are sealed as those of manifests are.
 */
export function createReleases(db: Database, sealer: Sealer, kept: number): ReleaseNoun {
  const sql = prepare(db);
  const open = (row: Row) => toRelease(row, sealer);
  const histories = createCache<History>(historiesCached);
  const historyOf = (key: ManifestKey) =>
    histories.get(keyText(key), () => sql.byKey.all(...columnsOf(key)).map((row) => Object.freeze(open(row))));

  function insert(release: ReleaseRecord): void {
    const { changes } = sql.upsert.run(
      release.id,
      ...columnsOf(release),
      ...valuesOf(release),
      ...specOf(release, sealer),
    );
    if (changes === 0) throw idTaken("release", release.id);
  }

  function page({ before, limit, isWanted }: ReleasePage): ReleaseHead[] {
    const found: ReleasePlace[] = [];
    let { startedAt, id }: ReleasePlace = before ?? { startedAt: Number.MAX_SAFE_INTEGER, id: "" };
    for (let some: PlaceRow[] = []; found.length < limit;) {
      some = sql.older.all(startedAt, id, placesAtOnce);
      found.push(...some.filter(isWanted));
      const last = some.at(-1);
      if (last === undefined || some.length < placesAtOnce) break;
      ({ startedAt, id } = last);
    }
    return found.slice(0, limit).flatMap((place) => {
      const row = sql.head.get(place.id);
      return row === null ? [] : [headOf(row)];
    });
  }

  const releases: Transaction["releases"] = {
    page,
    get(id) {
      const owner = sql.ownerOf.get(id);
      return owner === null ? undefined : historyOf(owner).find((release) => release.id === id);
    },
    now: (release) => historyOf(release).find(({ id }) => id === release.id),
    isTaken: (id) => sql.ownerOf.get(id) !== null,
    list: (key) => [...historyOf(key)],
    unfinished: () => sql.unfinished.all().map(open),
    put(release) {
      const history = historyOf(release);
      const known = history.find(({ id }) => id === release.id);
      // Its spec is most of a row, and what a release is about never changes.
      if (known !== undefined && known.spec === release.spec) sql.update.run(...valuesOf(release), release.id);
      else insert(release);
      const all = known === undefined ? [release, ...history] : history.map((one) => (one === known ? release : one));
      const staying = all.length <= kept ? all : worthKeeping(all, kept);
      for (const one of all) if (!staying.includes(one)) sql.drop.run(one.id);
      histories.set(
        keyText(release),
        staying.map((one) => (one === release ? Object.freeze({ ...release }) : one)),
      );
    },
  };
  return { releases, forget: (id) => (id === undefined ? histories.clear() : histories.drop(id)) };
}

function isUnderWay({ status }: ReleaseRecord): boolean {
  return status === "pending" || status === "running";
}

/**
 * The newest, those under way, and the newest good releases, one for each spec and image: failed fixes never push them out.
 */
function worthKeeping(all: History, kept: number): History {
  const waysBack: ReleaseRecord[] = [];
  return all.filter((one, index) => {
    const isWayBack = one.good && waysBack.length < kept && !waysBack.some((other) => isSameContent(one, other));
    if (isWayBack) waysBack.push(one);
    return isWayBack || index < kept || isUnderWay(one);
  });
}

function isSameContent(one: ReleaseRecord, other: ReleaseRecord): boolean {
  return one.hash === other.hash && one.imageId === other.imageId;
}

const unfinished = "status in ('pending', 'running')";

const valueColumns = [
  ...[
    "status",
    "cause",
    "good",
    "hash",
    "revision",
    "image",
    "image_id",
    "rolled_back_from",
    "taken_back",
    "started_at",
  ],
  ...["ended_at", "pre_exit_code", "exit_code", "post_exit_code", "error", "reasons", "log"],
  ...["actor", "message", "lesser"],
];
const columns = [...valueColumns, "spec", "sealed"];
const headColumns = valueColumns.filter((column) => column !== "log");

function prepare(db: Database) {
  return {
    ownerOf: db.query<ManifestKey, [string]>("select kind, scope, name from releases where id = ?"),
    byKey: db.query<Row, KeyColumns>(`select * from releases where ${whereKey} order by seq desc`),
    older: db.query<PlaceRow, [number, string, number]>(
      'select kind, scope, name, started_at as "startedAt", id from releases' +
        " where (started_at, id) < (?, ?) order by started_at desc, id desc limit ?",
    ),
    head: db.query<HeadRow, [string]>(
      `select id, kind, scope, name, ${headColumns.join(", ")} from releases where id = ?`,
    ),
    unfinished: db.query<Row, []>(`select * from releases where ${unfinished} order by seq`),
    upsert: db.query<unknown, [string, ...KeyColumns, ...(string | number | null)[]]>(
      `insert into releases (id, kind, scope, name, ${columns.join(", ")})` +
        ` values (?, ?, ?, ?, ${columns.map(() => "?").join(", ")})` +
        ` on conflict (id) do update set ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}` +
        ` where ${sameOwner}`,
    ),
    update: db.query<unknown, (string | number | null)[]>(
      `update releases set ${valueColumns.map((column) => `${column} = ?`).join(", ")} where id = ?`,
    ),
    drop: db.query<unknown, [string]>("delete from releases where id = ?"),
  };
}

/** In the order of `valueColumns`. */
function valuesOf(release: ReleaseRecord): (string | number | null)[] {
  return [
    ...[release.status, release.cause, Number(release.good), release.hash, release.revision, release.image],
    ...[release.imageId ?? null, release.rolledBackFrom ?? null, listText(release.takenBack)],
    ...[release.startedAt, release.endedAt ?? null],
    ...[release.preExitCode ?? null, release.exitCode ?? null, release.postExitCode ?? null, release.error ?? null],
    ...[listText(release.reasons ?? []), release.log, release.actor ?? null, release.message ?? null],
    Number(release.lesser === true),
  ];
}

function listText(words: readonly string[]): string | null {
  return words.length === 0 ? null : JSON.stringify(words);
}

function specOf(release: ReleaseRecord, sealer: Sealer): [text: string, sealed: number] {
  const { text, sealed } = sealer.seal(release, release.spec, orderedJson(release.spec));
  return [text, Number(sealed)];
}

function toRelease(row: Row, sealer: Sealer): ReleaseRecord {
  return {
    ...headOf(row),
    spec: sealer.open(row, { text: row.spec, sealed: row.sealed === 1 }),
    log: row.log,
  };
}

function headOf(row: HeadRow): ReleaseHead {
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
    takenBack: row.taken_back === null ? [] : JSON.parse(row.taken_back),
    startedAt: row.started_at,
    endedAt: row.ended_at ?? undefined,
    preExitCode: row.pre_exit_code ?? undefined,
    exitCode: row.exit_code ?? undefined,
    postExitCode: row.post_exit_code ?? undefined,
    error: row.error ?? undefined,
    ...(row.reasons === null ? {} : { reasons: JSON.parse(row.reasons) }),
    ...(row.actor === null ? {} : { actor: row.actor }),
    ...(row.message === null ? {} : { message: row.message }),
    ...(row.lesser === 1 ? { lesser: true } : {}),
  };
}
