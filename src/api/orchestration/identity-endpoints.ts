import type { Endpoint } from "../endpoint.ts";
import { createIdentityApp, deleteIdentityApp, listIdentityApps } from "./identity-apps.ts";
import { listIdentityAudit } from "./identity-audit.ts";
import {
  createIdentityHook,
  deleteIdentityHook,
  listIdentityDeliveries,
  listIdentityHooks,
  updateIdentityHook,
} from "./identity-hooks.ts";
import { exportIdentityUsers, importIdentityUsers } from "./identity-import.ts";
import {
  createIdentityInstance,
  deleteIdentityInstance,
  getIdentityInstance,
  identityQuickstart,
  listIdentityInstances,
  updateIdentityInstance,
} from "./identity-instances.ts";
import {
  createIdentityKey,
  deleteIdentityKey,
  listIdentityKeys,
  promoteIdentityKey,
  rotateIdentityKey,
} from "./identity-keys.ts";
import { getIdentityMail, listIdentityMails } from "./identity-mails.ts";
import { deleteIdentityProvider, listIdentityProviders, putIdentityProvider } from "./identity-providers.ts";
import { listIdentitySessions, revokeIdentitySession } from "./identity-sessions.ts";
import {
  banIdentityUser,
  createIdentityUser,
  deleteIdentityUser,
  getIdentityUser,
  listIdentityUsers,
  setIdentityPassword,
  unbanIdentityUser,
} from "./identity-users.ts";

/** How the operator manages the identity service; its own API is another listener. */
export const identityEndpoints: Endpoint[] = [
  identityQuickstart,
  listIdentityApps,
  createIdentityApp,
  deleteIdentityApp,
  listIdentityInstances,
  createIdentityInstance,
  getIdentityInstance,
  updateIdentityInstance,
  deleteIdentityInstance,
  listIdentityKeys,
  createIdentityKey,
  rotateIdentityKey,
  promoteIdentityKey,
  deleteIdentityKey,
  listIdentityProviders,
  putIdentityProvider,
  deleteIdentityProvider,
  listIdentityUsers,
  createIdentityUser,
  getIdentityUser,
  banIdentityUser,
  unbanIdentityUser,
  setIdentityPassword,
  deleteIdentityUser,
  listIdentitySessions,
  revokeIdentitySession,
  listIdentityMails,
  getIdentityMail,
  listIdentityHooks,
  createIdentityHook,
  deleteIdentityHook,
  updateIdentityHook,
  listIdentityDeliveries,
  listIdentityAudit,
  importIdentityUsers,
  exportIdentityUsers,
];
