import type { Database } from "bun:sqlite";
import { copyInto, openDatabase, quickCheck } from "../../base/sqlite/database.ts";
import { bindKey, createMeta } from "../../base/sqlite/meta.ts";
import { createSeal, type Seal } from "../../base/sqlite/seal.ts";
import { createWriter, type WriteOptions } from "../../base/sqlite/write.ts";
import type { Secret } from "../../base/words/secret.ts";
import { type AlertNouns, createAlertNouns } from "./alerts/nouns.ts";
import { type Audit, createAudit } from "./audit.ts";
import { observabilityMigrations } from "./migrations/all.ts";
import { createLogDrains, type LogDrains } from "./log-drains.ts";
import { createPeople, type People } from "./people.ts";
import { createSaved, type Saved } from "./saved.ts";
import { createTokens, type Tokens } from "./tokens.ts";
import type { UiSession } from "./records.ts";

/** The nouns of the observability plane. Reads see the last commit; call what writes only inside `write`. */
export interface ObservabilityNouns {
  tokens: Tokens;
  sessions: Sessions;
  people: People;
  audit: Audit;
  alerting: AlertNouns;
  drains: LogDrains;
  saved: Saved;
}

/**
 * What the plane must not lose: tokens, audit trail, alerts. A database file of its own, part of backups, held by the
 * lock of the root. Figures and logs are elsewhere.
 */
export interface ObservabilityStore extends ObservabilityNouns {
  /** As `Store.write`: one transaction of its own inside a shared commit; resolves once that is durable. */
  write<T>(change: (nouns: ObservabilityNouns) => T, options?: WriteOptions): Promise<T>;
  check(): string;
  copyTo(path: string): void;
  close(): void;
}

interface ObservabilityStoreOptions {
  path: string;
  /** 32 bytes; the same key as the platform's database. */
  key: Secret<Uint8Array>;
}

/** Call it as the holder of the root's lock. Fails as `openStore` does. */
export function openObservabilityStore({ path, key }: ObservabilityStoreOptions): ObservabilityStore {
  const db = openDatabase(path, observabilityMigrations);
  try {
    const seal = createSeal(key);
    bindKey(createMeta(db), seal, path);
    return assemble(db, path, seal);
  } catch (error) {
    db.close();
    throw error;
  }
}

function assemble(db: Database, file: string, seal: Seal): ObservabilityStore {
  const nouns: ObservabilityNouns = {
    tokens: createTokens(db),
    sessions: createSessions(db),
    people: createPeople(db),
    audit: createAudit(db),
    alerting: createAlertNouns(db, seal),
    drains: createLogDrains(db, seal),
    saved: createSaved(db),
  };
  const nothing = () => undefined;
  const writer = createWriter<never>({ db, file, onMoved: nothing, keyText: (key) => key, onUndone: nothing });
  return {
    ...nouns,
    write: (change, options) => writer.write(() => change(nouns), options),
    check: () => quickCheck(db),
    copyTo: (target) => copyInto(db, target),
    close() {
      writer.close();
      db.close();
    },
  };
}

interface Row {
  id: string;
  token: string;
  owned: number;
  created_at: number;
  expires_at: number;
  ended_at: number | null;
  ip: string;
  agent: string;
  person: string | null;
  identity_session: string | null;
}

interface Sessions {
  get(id: string): UiSession | undefined;
  add(session: UiSession): void;
  /** False where there is none, or it has ended before. */
  end(id: string, at: number): boolean;
  /** Open ones of people who signed in through the identity service, newest first. */
  ofPeople(now: number): UiSession[];
  /** How many are open. */
  count(now: number): number;
  /** Drops those whose time is over. */
  trim(now: number): number;
}

function createSessions(db: Database): Sessions {
  const byId = db.query<Row, [string]>("select * from sessions where id = ?");
  const insert = db.query<unknown, (string | number | null)[]>(
    "insert into sessions (id, token, owned, created_at, expires_at, ip, agent, person, identity_session)" +
      " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const ofPeople = db.query<Row, [number]>(
    "select * from sessions where person is not null and expires_at > ? and ended_at is null order by created_at desc",
  );
  const end = db.query<unknown, [number, string]>("update sessions set ended_at = ? where id = ? and ended_at is null");
  const count = db.query<{ count: number }, [number]>(
    "select count(*) as count from sessions where expires_at > ? and ended_at is null",
  );
  const trim = db.query<unknown, [number]>("delete from sessions where expires_at <= ?");
  return {
    get(id) {
      const row = byId.get(id);
      return row === null ? undefined : toSession(row);
    },
    add({ id, token, owned, createdAt, expiresAt, ip, agent, person }) {
      const whose = [person?.id ?? null, person?.session ?? null];
      insert.run(id, token, owned ? 1 : 0, createdAt, expiresAt, ip, agent, ...whose);
    },
    ofPeople: (now) => ofPeople.all(now).map(toSession),
    end: (id, at) => end.run(at, id).changes > 0,
    count: (now) => count.get(now)?.count ?? 0,
    trim: (now) => trim.run(now).changes,
  };
}

function toSession(row: Row): UiSession {
  return {
    id: row.id,
    token: row.token,
    owned: row.owned === 1,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    endedAt: row.ended_at ?? undefined,
    ip: row.ip,
    agent: row.agent,
    person: row.person === null ? undefined : { id: row.person, session: row.identity_session ?? "" },
  };
}
