import type { Database } from "bun:sqlite";
import type { UiSession } from "./records.ts";

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

export interface Sessions {
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

export function createSessions(db: Database): Sessions {
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
