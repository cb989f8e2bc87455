import type { Database } from "bun:sqlite";
import { isRole } from "../api/people.ts";
import type { Person } from "./records.ts";

interface Row {
  id: string;
  email: string;
  role: string;
  apps: string;
  user_id: string | null;
  created_at: number;
  created_by: string;
  last_sign_in_at: number | null;
}

/** People who may sign in through the identity service. */
export interface People {
  /** Id of the instance that they sign in through; undefined while that is turned off. */
  instance(): string | undefined;
  /** Another instance has other users: whom people were bound to is forgotten. */
  setInstance(id: string | undefined): void;
  get(id: string): Person | undefined;
  byEmail(email: string): Person | undefined;
  byUser(user: string): Person | undefined;
  /** By address. */
  list(): Person[];
  add(person: Person): void;
  change(id: string, to: Pick<Person, "role" | "apps" | "user">): void;
  /** Notes a sign-in, and binds the person to its user. */
  signedIn(id: string, user: string, at: number): void;
  remove(id: string): void;
}

export function createPeople(db: Database): People {
  const instance = db.query<{ instance: string }, []>("select instance from people_instance");
  const clear = db.query<unknown, []>("delete from people_instance");
  const keep = db.query<unknown, [string]>("insert into people_instance (only_row, instance) values (1, ?)");
  const unbind = db.query<unknown, []>("update people set user_id = null");
  const byId = db.query<Row, [string]>("select * from people where id = ?");
  const byEmail = db.query<Row, [string]>("select * from people where email = ?");
  const byUser = db.query<Row, [string]>("select * from people where user_id = ?");
  const all = db.query<Row, []>("select * from people order by email");
  const insert = db.query<unknown, (string | number)[]>(
    "insert into people (id, email, role, apps, created_at, created_by) values (?, ?, ?, ?, ?, ?)",
  );
  const change = db.query<unknown, [string, string, string | null, string]>(
    "update people set role = ?, apps = ?, user_id = ? where id = ?",
  );
  const signedIn = db.query<unknown, [string, number, string]>(
    "update people set user_id = ?, last_sign_in_at = ? where id = ?",
  );
  const remove = db.query<unknown, [string]>("delete from people where id = ?");
  return {
    instance: () => instance.get()?.instance,
    setInstance(id) {
      if (id === instance.get()?.instance) return;
      clear.run();
      unbind.run();
      if (id !== undefined) keep.run(id);
    },
    get: (id) => toPerson(byId.get(id)),
    byEmail: (email) => toPerson(byEmail.get(email)),
    byUser: (user) => toPerson(byUser.get(user)),
    list: () => all.all().flatMap((row) => toPerson(row) ?? []),
    add({ id, email, role, apps, createdAt, createdBy }) {
      insert.run(id, email, role, JSON.stringify(apps), createdAt, createdBy);
    },
    change: (id, { role, apps, user }) => void change.run(role, JSON.stringify(apps), user ?? null, id),
    signedIn: (id, user, at) => void signedIn.run(user, at, id),
    remove: (id) => void remove.run(id),
  };
}

/** A role of another version opens nothing: its holder is not a person here. */
function toPerson(row: Row | null): Person | undefined {
  if (row === null || !isRole(row.role)) return undefined;
  const apps: unknown = JSON.parse(row.apps);
  return {
    id: row.id,
    email: row.email,
    role: row.role,
    apps: Array.isArray(apps) ? apps.map(String) : [],
    user: row.user_id ?? undefined,
    createdAt: row.created_at,
    createdBy: row.created_by,
    lastSignInAt: row.last_sign_in_at ?? undefined,
  };
}
