import type { Database } from "bun:sqlite";
import type { Seal } from "../seal.ts";
import type { OAuthState, StateEndpoints } from "./records.ts";

interface Row {
  hash: Uint8Array;
  instance: number;
  provider: string;
  redirect_uri: string;
  browser: Uint8Array;
  endpoints: string;
  code_verifier: Uint8Array | null;
  nonce: string | null;
  created_at: number;
  expires_at: number;
}

/** Looking for what is too much costs a walk over the index, so it is done now and then. */
const trimEvery = 1_000;

export interface OauthStates {
  /** Anybody may start a sign-in: beyond about `kept` states over all instances, those that end first are dropped. */
  put(state: OAuthState, kept: number): void;
  /** Removes it, whatever it is good for, and returns it: nobody gets it twice. */
  take(hash: Uint8Array): OAuthState | undefined;
  /** How many there are. */
  count(): number;
}

/** The code verifier is sealed. */
export function createOauthStates(db: Database, seal: Seal): OauthStates {
  const insert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into oauth_states (hash, instance, provider, redirect_uri, browser, endpoints, code_verifier, nonce," +
      ` created_at, expires_at) values (${Array(10).fill("?").join(", ")})`,
  );
  const take = db.query<Row, [Uint8Array]>("delete from oauth_states where hash = ? returning *");
  const trim = db.query<unknown, [number]>(
    "delete from oauth_states where hash in (select hash from oauth_states order by expires_at desc limit -1 offset ?)",
  );
  const count = db.query<{ n: number }, []>("select count(*) as n from oauth_states");
  let puts = 0;
  return {
    put(state, kept) {
      const { hash, instance, provider, redirectUri, browser, endpoints, codeVerifier, nonce } = state;
      if (puts++ % trimEvery === 0) trim.run(kept);
      const verifier = codeVerifier === undefined ? null : seal.seal(codeVerifier, placeOf(hash));
      const target = [hash, instance, provider, redirectUri, browser, JSON.stringify(endpoints)];
      insert.run(...target, verifier, nonce ?? null, state.createdAt, state.expiresAt);
    },
    take(hash) {
      const row = take.get(hash);
      return row === null ? undefined : toState(row, seal);
    },
    count: () => count.get()?.n ?? 0,
  };
}

function toState(row: Row, seal: Seal): OAuthState {
  const verifier = row.code_verifier;
  return {
    hash: row.hash,
    instance: row.instance,
    provider: row.provider,
    redirectUri: row.redirect_uri,
    browser: row.browser,
    endpoints: JSON.parse(row.endpoints) as StateEndpoints,
    codeVerifier: verifier === null ? undefined : seal.open(verifier, placeOf(row.hash)),
    nonce: row.nonce ?? undefined,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}

function placeOf(hash: Uint8Array): string {
  return ["oauth_states", Buffer.from(hash).toString("hex"), "code_verifier"].join("\0");
}
