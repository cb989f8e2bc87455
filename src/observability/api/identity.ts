import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { listIdentityAudit } from "../../identity/api/manage/audit.ts";
import {
  getIdentityInstance,
  listIdentityInstances,
  updateIdentityInstance,
} from "../../identity/api/manage/instances.ts";
import { createIdentityKey, deleteIdentityKey, listIdentityKeys } from "../../identity/api/manage/keys.ts";
import { previewIdentityPage } from "../../identity/api/manage/preview.ts";
import { listIdentityProviders } from "../../identity/api/manage/providers.ts";
import { listIdentitySessions, revokeIdentitySession } from "../../identity/api/manage/sessions.ts";
import {
  banIdentityUser,
  createIdentityUser,
  deleteIdentityUser,
  listIdentityUsers,
  setIdentityPassword,
  unbanIdentityUser,
  verifyIdentityUser,
} from "../../identity/api/manage/users.ts";
import { aliasOf, type PlaneEndpoint, planeEndpoint } from "./plane-endpoint.ts";

/*
 * Instances of the identity service, for owners of apps. What names no person needs `read`. Users, sessions and the audit
 * of an instance are personal data, and need `admin`, as every change does. A token that is limited to apps sees none.
 */
const instances = "/identity/instances";
const one = `${instances}/:instance` as const;
const paged = {
  query: Text("search tokens such as email:*@shop.test created_at>2026-01-01"),
  limit: Text("at most this many (default 50, at most 1000)"),
  cursor: Text("`next` of the page before"),
};

export const listPlaneInstances = planeEndpoint({
  method: "GET",
  path: instances,
  scope: "read",
  summary: "Instances of the identity service, oldest first",
  data: Type.Object({
    instances: listIdentityInstances.data?.properties.instances ?? Type.Never(),
    operators: Type.Optional(Type.String({ description: "id of the instance that operators sign in through" })),
  }),
});

export const SettingForm = Type.Object({
  name: Type.String(),
  help: Type.String(),
  kind: Type.String({ description: "flag, word, number, list or text" }),
  choices: Type.Optional(Type.Array(Type.String(), { description: "words to choose from" })),
});
export type SettingForm = Static<typeof SettingForm>;

export const listPlaneSettings = planeEndpoint({
  method: "GET",
  path: "/identity/settings",
  scope: "read",
  summary: "The settings that an instance can have: what each is for, and its possible values",
  data: Type.Object({ settings: Type.Array(SettingForm) }),
});

export const getPlaneInstance = aliasOf(getIdentityInstance, { path: one, scope: "read" });

export const updatePlaneInstance = aliasOf(updateIdentityInstance, { path: one, scope: "admin" });

export const previewPlanePage = aliasOf(previewIdentityPage, { scope: "read" });

const listPlaneProviders = aliasOf(listIdentityProviders, {
  path: `${one}/providers`,
  scope: "read",
  summary: "Providers of an instance, without their secrets",
  query: undefined,
});

export const listPlaneKeys = aliasOf(listIdentityKeys, { path: `${one}/keys`, scope: "read" });
export const createPlaneKey = aliasOf(createIdentityKey, { path: `${one}/keys`, scope: "admin" });
export const deletePlaneKey = aliasOf(deleteIdentityKey, { path: `${one}/keys/:key`, scope: "admin" });

const user = `${one}/users/:user` as const;

export const listPlaneUsers = aliasOf(listIdentityUsers, {
  path: `${one}/users`,
  scope: "admin",
  query: Type.Object(paged),
});

const without = Type.Object({});

export const createPlaneUser = aliasOf(createIdentityUser, { path: `${one}/users`, scope: "admin", query: without });
export const banPlaneUser = aliasOf(banIdentityUser, { path: `${user}/ban`, scope: "admin", query: without });
export const unbanPlaneUser = aliasOf(unbanIdentityUser, { path: `${user}/unban`, scope: "admin", query: without });
export const verifyPlaneUser = aliasOf(verifyIdentityUser, { path: `${user}/verify`, scope: "admin", query: without });
export const setPlanePassword = aliasOf(setIdentityPassword, {
  path: `${user}/password`,
  scope: "admin",
  query: without,
});
export const deletePlaneUser = aliasOf(deleteIdentityUser, { path: user, scope: "admin", query: without });

export const endPlaneUserSessions = planeEndpoint({
  method: "POST",
  path: `${user}/sign-out`,
  scope: "admin",
  summary: "Ends every active session of a user; the user can sign in again",
  data: Type.Object({ sessions_revoked: Type.Integer() }),
});

export const listPlaneSessions = aliasOf(listIdentitySessions, {
  path: `${one}/sessions`,
  scope: "admin",
  query: Type.Object({ user: Text("id or address of a user: its active sessions"), ...paged }),
});
export const revokePlaneSession = aliasOf(revokeIdentitySession, {
  path: `${one}/sessions/:session/revoke`,
  scope: "admin",
  query: without,
});

export const listPlaneIdentityAudit = aliasOf(listIdentityAudit, {
  path: `${one}/audit`,
  scope: "admin",
  query: Type.Object(paged),
});

export const planeIdentityEndpoints: PlaneEndpoint[] = [
  listPlaneInstances,
  listPlaneSettings,
  getPlaneInstance,
  updatePlaneInstance,
  previewPlanePage,
  listPlaneProviders,
  listPlaneKeys,
  createPlaneKey,
  deletePlaneKey,
  listPlaneUsers,
  createPlaneUser,
  banPlaneUser,
  unbanPlaneUser,
  verifyPlaneUser,
  setPlanePassword,
  deletePlaneUser,
  endPlaneUserSessions,
  listPlaneSessions,
  revokePlaneSession,
  listPlaneIdentityAudit,
];
