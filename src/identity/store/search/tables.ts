import type { SearchKind } from "../../core/search-columns.ts";
import { auditResource, sessionResource, userResource } from "../../core/resources.ts";

/** A row as searches read it: by the names of `core/identity/search-columns.ts`, and what its resource object needs. */
export interface FoundRow {
  seq: number;
  [column: string]: string | number | null;
}

/** How a kind lies in the database. `t` is its table in every statement. */
export interface SearchTable {
  name: string;
  select: string;
  /** Index of an instance's rows by `seq`. */
  byInstance: string;
  /** Where the SQL of a column is another than `t.<column>`. */
  sql: Readonly<Record<string, string>>;
  /** Equality of a column by an index. Where rows may be many, the index is named: it has them in the order of `seq`. */
  equal: Readonly<Record<string, { sql: string; index?: string }>>;
  /** Columns with an index that a beginning can be looked up in; the values as the index orders them. */
  prefix: Readonly<Record<string, string>>;
  /** Times with an index. */
  times: readonly string[];
  /** Columns in the trigram index; none: it has no such index. */
  trigrams: readonly string[];
  resource(row: FoundRow): unknown;
}

const text = (value: string | number | null | undefined) => (typeof value === "string" ? value : "");
const optionalText = (value: string | number | null | undefined) => (typeof value === "string" ? value : undefined);
const time = (value: string | number | null | undefined) => (typeof value === "number" ? value : 0);
const optionalTime = (value: string | number | null | undefined) => (typeof value === "number" ? value : undefined);

const users: SearchTable = {
  name: "users",
  select:
    "t.seq, t.id, t.email, t.name, t.avatar_url, t.email_verified_at, t.banned_at, t.created_at, t.updated_at," +
    " t.password_hash is not null as has_password, (select json_group_array(provider) from" +
    " (select provider from identities where user = t.seq order by seq)) as providers",
  byInstance: "users_by_instance",
  sql: {},
  equal: {
    id: { sql: "t.id = ?" },
    email: { sql: "t.email = ?" },
    name: { sql: "t.name = ? collate nocase", index: "users_by_name" },
  },
  // Addresses are stored in lower case.
  prefix: { email: "t.email", name: "t.name collate nocase" },
  times: ["created_at"],
  trigrams: ["email", "name"],
  resource: (row) =>
    userResource({
      id: text(row.id),
      email: text(row.email),
      name: text(row.name),
      avatarUrl: optionalText(row.avatar_url),
      emailVerifiedAt: optionalTime(row.email_verified_at),
      createdAt: time(row.created_at),
      providers: JSON.parse(text(row.providers)) as string[],
      hasPassword: row.has_password === 1,
    }),
};

const owner = "(select id from users where seq = t.user)";

const sessions: SearchTable = {
  name: "sessions",
  select:
    "t.seq, t.id, t.session_id, t.provider, t.name, t.email, t.ip_address, t.user_agent, t.geo_data, t.logged_in_at," +
    ` t.last_signin_at, t.revoked_at, t.created_at, ${owner} as user_id`,
  byInstance: "sessions_by_instance",
  sql: { user_id: owner },
  equal: {
    id: { sql: "t.id = ?" },
    session_id: { sql: "t.session_id = ?" },
    user_id: { sql: "t.user = (select seq from users where id = ?)", index: "sessions_by_user" },
    email: { sql: "t.email = ?", index: "sessions_by_email" },
    ip_address: { sql: "t.ip_address = ?", index: "sessions_by_ip" },
    provider: { sql: "t.provider = ?", index: "sessions_by_provider" },
  },
  prefix: { email: "t.email", ip_address: "t.ip_address", provider: "t.provider" },
  times: ["last_signin_at"],
  trigrams: ["email", "name", "ip_address"],
  resource: (row) =>
    sessionResource({
      id: text(row.id),
      sessionId: text(row.session_id),
      userId: text(row.user_id),
      provider: text(row.provider),
      name: text(row.name),
      email: text(row.email),
      ipAddress: text(row.ip_address),
      geoData: JSON.parse(text(row.geo_data)) as Record<string, unknown>,
      loggedInAt: time(row.logged_in_at),
      lastSigninAt: time(row.last_signin_at),
      revokedAt: optionalTime(row.revoked_at),
    }),
};

const audit: SearchTable = {
  name: "audit",
  select:
    "t.seq, t.id, t.actor, t.action, t.user_id, t.email, t.session_id, t.provider, t.ip_address, t.detail," +
    " t.at as created_at",
  byInstance: "audit_by_instance",
  sql: { created_at: "t.at" },
  equal: {
    id: { sql: "t.id = ?" },
    action: { sql: "t.action = ?", index: "audit_by_action" },
    user_id: { sql: "t.user_id = ?", index: "audit_by_user" },
    email: { sql: "t.email = ?", index: "audit_by_email" },
  },
  prefix: { action: "t.action" },
  times: ["created_at"],
  trigrams: [],
  resource: (row) =>
    auditResource({
      id: text(row.id),
      at: time(row.created_at),
      actor: text(row.actor),
      action: text(row.action),
      userId: optionalText(row.user_id),
      email: optionalText(row.email),
      sessionId: optionalText(row.session_id),
      provider: optionalText(row.provider),
      ipAddress: optionalText(row.ip_address),
      detail: JSON.parse(text(row.detail)) as Record<string, unknown>,
    }),
};

export const searchTables: Readonly<Record<SearchKind, SearchTable>> = { users, sessions, audit };
