/** What a column holds; times are epoch milliseconds. */
type ColumnType = "text" | "time";
export type SearchColumns = Readonly<Record<string, ColumnType>>;

export type SearchKind = "users" | "sessions" | "audit";

/**
 * What may be searched by; anything else is as good as not there. Hashes of passwords, keys, tokens and the internal
 * numbers of rows are left out on purpose (docs/contract/identity.md, 2.6).
 */
export const searchColumns: Readonly<Record<SearchKind, SearchColumns>> = {
  users: {
    id: "text",
    email: "text",
    name: "text",
    avatar_url: "text",
    created_at: "time",
    updated_at: "time",
    email_verified_at: "time",
    banned_at: "time",
  },
  sessions: {
    id: "text",
    session_id: "text",
    user_id: "text",
    email: "text",
    name: "text",
    provider: "text",
    ip_address: "text",
    user_agent: "text",
    logged_in_at: "time",
    last_signin_at: "time",
    revoked_at: "time",
    created_at: "time",
  },
  audit: {
    id: "text",
    actor: "text",
    action: "text",
    user_id: "text",
    email: "text",
    session_id: "text",
    provider: "text",
    ip_address: "text",
    created_at: "time",
  },
};
