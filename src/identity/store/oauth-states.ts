import type { Database } from "bun:sqlite";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { OAuthState, StateEndpoints } from "./records.ts";

interface Row {
  hash: Uint8Array;
  instance: number;
  provider: string;
  redirect_uri: string;
  browser: Uint8Array;
  client: string;
  endpoints: string;
  code_verifier: Uint8Array | null;
  nonce: string | null;
  created_at: number;
  expires_at: number;
}

export interface OauthStates {
  put(state: OAuthState): void;
  /** Leaves it where it is. */
  has(hash: Uint8Array): boolean;
  /** Removes it, valid or not, and returns it: no caller gets it twice. */
  take(hash: Uint8Array): OAuthState | undefined;
  /** How many there are of everybody, of an instance, and of a client in it. */
  waiting(instance: number, client: string): { all: number; instance: number; client: number };
}

const everybody = "*";
const allInstances = 0;

/** The code verifier is sealed. */
export function createOauthStates(db: Database, seal: Seal): OauthStates {
  const insert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into oauth_states (hash, instance, provider, redirect_uri, browser, client, endpoints, code_verifier, nonce," +
      ` created_at, expires_at) values (${Array(11).fill("?").join(", ")})`,
  );
  const one = db.query<unknown, [Uint8Array]>("select 1 from oauth_states where hash = ?");
  const take = db.query<Row, [Uint8Array]>("delete from oauth_states where hash = ? returning *");
  const counted = db.query<{ n: number }, [number, string]>(
    "select n from oauth_state_counts where instance = ? and client = ?",
  );
  const count = (instance: number, client: string) => counted.get(instance, client)?.n ?? 0;
  return {
    put(state) {
      const { hash, instance, provider, redirectUri, browser, client, endpoints, codeVerifier, nonce } = state;
      const verifier = codeVerifier === undefined ? null : seal.seal(codeVerifier, placeOf(hash));
      const target = [hash, instance, provider, redirectUri, browser, client, JSON.stringify(endpoints)];
      insert.run(...target, verifier, nonce ?? null, state.createdAt, state.expiresAt);
    },
    has: (hash) => one.get(hash) !== null,
    take(hash) {
      const row = take.get(hash);
      return row === null ? undefined : toState(row, seal);
    },
    waiting: (instance, client) => ({
      all: count(allInstances, everybody),
      instance: count(instance, everybody),
      client: count(instance, client),
    }),
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
    client: row.client,
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
