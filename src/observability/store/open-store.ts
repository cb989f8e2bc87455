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
import { createSessions, type Sessions } from "./sessions.ts";
import { createTokens, type Tokens } from "./tokens.ts";

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
