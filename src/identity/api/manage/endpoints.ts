import type { Endpoint } from "../../../base/wire/endpoint.ts";
import { createIdentityApp, deleteIdentityApp, listIdentityApps } from "./apps.ts";
import { listIdentityAudit } from "./audit.ts";
import {
  createIdentityWebhook,
  deleteIdentityWebhook,
  listIdentityDeliveries,
  listIdentityWebhooks,
  updateIdentityWebhook,
} from "./webhooks.ts";
import { exportIdentityUsers, importIdentityUsers } from "./import.ts";
import {
  createIdentityInstance,
  deleteIdentityInstance,
  getIdentityInstance,
  identityQuickstart,
  listIdentityInstances,
  updateIdentityInstance,
} from "./instances.ts";
import {
  createIdentityKey,
  deleteIdentityKey,
  listIdentityKeys,
  promoteIdentityKey,
  rotateIdentityKey,
} from "./keys.ts";
import { getIdentityMail, listIdentityMails } from "./mails.ts";
import { previewIdentityPage } from "./preview.ts";
import { deleteIdentityProvider, listIdentityProviders, putIdentityProvider } from "./providers.ts";
import { listIdentitySessions, revokeIdentitySession } from "./sessions.ts";
import {
  banIdentityUser,
  createIdentityUser,
  deleteIdentityUser,
  getIdentityUser,
  listIdentityPairs,
  listIdentityUsers,
  setIdentityPassword,
  unbanIdentityUser,
  verifyIdentityUser,
} from "./users.ts";

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
  previewIdentityPage,
  listIdentityKeys,
  createIdentityKey,
  rotateIdentityKey,
  promoteIdentityKey,
  deleteIdentityKey,
  listIdentityProviders,
  putIdentityProvider,
  deleteIdentityProvider,
  listIdentityUsers,
  listIdentityPairs,
  createIdentityUser,
  getIdentityUser,
  banIdentityUser,
  unbanIdentityUser,
  verifyIdentityUser,
  setIdentityPassword,
  deleteIdentityUser,
  listIdentitySessions,
  revokeIdentitySession,
  listIdentityMails,
  getIdentityMail,
  listIdentityWebhooks,
  createIdentityWebhook,
  deleteIdentityWebhook,
  updateIdentityWebhook,
  listIdentityDeliveries,
  listIdentityAudit,
  importIdentityUsers,
  exportIdentityUsers,
];
