import type { Database } from "bun:sqlite";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { KeyState, PublicJwk, SigningPair } from "./records.ts";

interface Row {
  id: string;
  instance: number;
  state: string;
  public_jwk: string;
  sealed: Uint8Array;
  created_at: number;
  expires_at: number | null;
}

/** RS256 pairs of instances that have opted in. */
export interface SigningPairs {
  /** Pairs of one instance, newest first. */
  list(instance: number): SigningPair[];
  add(pair: SigningPair): void;
  setState(id: string, state: KeyState, expiresAt: number | undefined): void;
  /** Drops what has expired; returns how many went. */
  purge(now: number): number;
}

/** The private half is sealed. `changed` is called after every write. */
export function createSigningPairs(db: Database, seal: Seal, changed: () => void): SigningPairs {
  const list = db.query<Row, [number]>("select * from signing_pairs where instance = ? order by created_at desc, id");
  const insert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into signing_pairs (id, instance, state, public_jwk, sealed, created_at, expires_at)" +
      " values (?, ?, ?, ?, ?, ?, ?)",
  );
  const setState = db.query<unknown, [string, number | null, string]>(
    "update signing_pairs set state = ?, expires_at = ? where id = ?",
  );
  const purge = db.query<unknown, [number]>("delete from signing_pairs where expires_at <= ?");
  const toPair = (row: Row): SigningPair => ({
    id: row.id,
    instance: row.instance,
    state: row.state === "signing" || row.state === "previous" ? row.state : "staged",
    publicJwk: JSON.parse(row.public_jwk) as PublicJwk,
    privatePem: seal.open(row.sealed, placeOf(row.id)),
    createdAt: row.created_at,
    expiresAt: row.expires_at ?? undefined,
  });
  return {
    list: (instance) => list.all(instance).map(toPair),
    add({ id, instance, state, publicJwk, privatePem, createdAt, expiresAt }) {
      const sealed = seal.seal(privatePem, placeOf(id));
      insert.run(id, instance, state, JSON.stringify(publicJwk), sealed, createdAt, expiresAt ?? null);
      changed();
    },
    setState(id, state, expiresAt) {
      setState.run(state, expiresAt ?? null, id);
      changed();
    },
    purge(now) {
      const { changes } = purge.run(now);
      if (changes > 0) changed();
      return changes;
    },
  };
}

function placeOf(id: string): string {
  return ["signing_pairs", id, "private"].join("\0");
}
