import type { Endpoint } from "../../base/wire/endpoint.ts";
import { searchInstances } from "./instances.ts";
import { exchangeSession, refreshSession, revokeRefresh } from "./refresh.ts";
import { searchSessions, searchUsers } from "./search.ts";
import { getSession, listSessions, revokeSession, sessionConfig } from "./sessions.ts";
import { redeemToken, verifyToken } from "./tokens.ts";
import { deleteUser, getUser, listUsers } from "./users.ts";

/** Every endpoint of the identity API. Hosted pages are not part of it. */
export const identityEndpoints: readonly Endpoint[] = [
  verifyToken,
  redeemToken,
  searchSessions,
  listSessions,
  getSession,
  revokeSession,
  sessionConfig,
  exchangeSession,
  refreshSession,
  revokeRefresh,
  searchUsers,
  listUsers,
  getUser,
  deleteUser,
  searchInstances,
];
