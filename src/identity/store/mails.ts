import type { Database } from "bun:sqlite";
import type { Seal } from "../../base/sqlite/seal.ts";
import type { Mail, MailMessage, MailState } from "./records.ts";

interface Row {
  seq: number;
  id: string;
  instance: number;
  purpose: string;
  message: Uint8Array;
  state: string;
  attempts: number;
  next_at: number;
  last_error: string | null;
  created_at: number;
}

export interface Mails {
  /** A mail of any instance: `id` is not guessable. */
  get(id: string): Mail | undefined;
  /** Newest first; without `instance`, of all of them. */
  list(page: { limit: number; instance?: number }): Mail[];
  /** Those that wait to be sent, due or not, the one that is due first at the front. */
  waiting(limit: number): Mail[];
  /** Keeps the newest `kept` mails of an instance. */
  add(mail: Omit<Mail, "seq">, kept: number): void;
  /** State, attempts, next try and last error. */
  update(mail: Mail): void;
}

/** Mails to people; the whole message is sealed, for it holds a link that signs in. */
export function createMails(db: Database, seal: Seal): Mails {
  const one = db.query<Row, [string]>("select * from mails where id = ?");
  const all = db.query<Row, [number]>("select * from mails order by seq desc limit ?");
  const ofInstance = db.query<Row, [number, number]>(
    "select * from mails where instance = ? order by seq desc limit ?",
  );
  const waiting = db.query<Row, [number]>("select * from mails where state = 'waiting' order by next_at, seq limit ?");
  const insert = db.query<unknown, (string | number | Uint8Array | null)[]>(
    "insert into mails (id, instance, purpose, message, state, attempts, next_at, last_error, created_at)" +
      " values (?, ?, ?, ?, ?, ?, ?, ?, ?)",
  );
  const update = db.query<unknown, (string | number | null)[]>(
    "update mails set state = ?, attempts = ?, next_at = ?, last_error = ? where seq = ?",
  );
  const trim = db.query<unknown, [number, number]>(
    "delete from mails where seq in (select seq from mails where instance = ? order by seq desc limit -1 offset ?)",
  );
  const read = (row: Row): Mail => toMail(row, seal);
  return {
    get(id) {
      const row = one.get(id);
      return row === null ? undefined : read(row);
    },
    list: ({ limit, instance }) =>
      (instance === undefined ? all.all(limit) : ofInstance.all(instance, limit)).map(read),
    waiting: (limit) => waiting.all(limit).map(read),
    add({ id, instance, purpose, message, state, attempts, nextAt, lastError, createdAt }, kept) {
      const sealed = seal.seal(JSON.stringify(message), placeOf(id));
      insert.run(id, instance, purpose, sealed, state, attempts, nextAt, lastError ?? null, createdAt);
      trim.run(instance, kept);
    },
    update({ seq, state, attempts, nextAt, lastError }) {
      update.run(state, attempts, nextAt, lastError ?? null, seq);
    },
  };
}

function toMail(row: Row, seal: Seal): Mail {
  return {
    seq: row.seq,
    id: row.id,
    instance: row.instance,
    purpose: row.purpose as Mail["purpose"],
    message: JSON.parse(seal.open(row.message, placeOf(row.id))) as MailMessage,
    state: row.state as MailState,
    attempts: row.attempts,
    nextAt: row.next_at,
    lastError: row.last_error ?? undefined,
    createdAt: row.created_at,
  };
}

function placeOf(id: string): string {
  return ["mails", id, "message"].join("\0");
}
