import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { ImportResult } from "../../api/manage/import.ts";
import type { listIdentityPairs } from "../../api/manage/users.ts";
import { identityQuickstart, type Quickstart } from "../../api/manage/instances.ts";
import { addInstance, createInstances, type Instances, wireInstance } from "../instances.ts";
import type { Searches } from "../search.ts";
import type { SigningPairs } from "../signing-pairs.ts";
import { addApp, createManagedApps, type ManagedApps } from "./apps.ts";
import { createManagedAudit, type ManagedAudit } from "./audit.ts";
import { type By, type ManageContext, requireInstance } from "./context.ts";
import { type ExportRequest, exportUsers } from "./export.ts";
import { createManagedWebhooks, type ManagedWebhooks } from "./webhooks.ts";
import { type ImportRequest, importUsers } from "./import.ts";
import { createManagedKeys, type ManagedKeys } from "./keys.ts";
import { createManagedMails, type ManagedMails } from "./mails.ts";
import type { ProviderButton } from "../code-exchange.ts";
import { createPreviews, type Previews } from "./preview.ts";
import { createManagedProviders, type ManagedProviders } from "./providers.ts";
import { createManagedSessions, type ManagedSessions } from "./sessions.ts";
import { createManagedUsers, type ManagedUsers, type ManagedUsersParts, wireUser } from "./users.ts";
import type { User } from "../../store/records.ts";
import { addressPairs } from "../address-pairs.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { bodyReader } from "../../../base/wire/read-body.ts";
import { isLoopbackHost } from "../../core/urls.ts";

const readBody = bodyReader(identityQuickstart);

/** App, instance and keys in one transaction. Fails `conflict` while nothing answers at the addresses that its texts name. */
function createQuickstart(context: ManageContext): (body: unknown, by: By) => Promise<Quickstart> {
  return async (body, { actor }) => {
    const { redirect_uris: redirectUris, app: name, title, environment, host } = readBody(body);
    if (!context.isServed) {
      const hint = "start the server with --identity-addr 127.0.0.1:8688 (BERTH_IDENTITY_ADDR)";
      throw new Failure("conflict", `the identity service is turned off: ${hint}`);
    }
    return context.store.write((nouns) => {
      const app = addApp(context, nouns, { name, actor });
      const { instance, secretKey } = addInstance(context, nouns, {
        app,
        name: undefined,
        environment: environment ?? (redirectUris.every(isLocal) ? "development" : "production"),
        host,
        change: { redirect_uris: redirectUris, ...(title === undefined ? {} : { title }) },
        actor,
      });
      const { sign_in_url } = wireInstance(context, nouns, instance);
      return {
        app_id: app.id,
        instance_id: instance.id,
        secret_key: secretKey,
        publishable_key: instance.publishableKey,
        sign_in_url: `${sign_in_url}?redirect_uri=${encodeURIComponent(redirectUris[0] ?? "")}`,
        verify_url: `${context.baseUrl}/api/v1/tokens/verify`,
      };
    });
  };
}

function isLocal(uri: string): boolean {
  return URL.canParse(uri) && isLoopbackHost(new URL(uri).hostname);
}

/**
 * Everything that the operator does with the identity service, one member per noun; the HTTP floor only translates.
 * Expected errors are `Failure`s. Whatever changes something is in the audit trail of the same transaction.
 */
export interface Management {
  apps: ManagedApps;
  instances: Instances;
  keys: ManagedKeys;
  providers: ManagedProviders;
  previews: Previews;
  users: ManagedUsers;
  /** Users whose mailbox another user has; of all instances where none is given. Fails `not_found`. */
  pairs(instance: string | undefined): DataOf<typeof listIdentityPairs>;
  sessions: ManagedSessions;
  mails: ManagedMails;
  webhooks: ManagedWebhooks;
  audit: ManagedAudit;
  transfer: {
    import(instance: string | undefined, request: ImportRequest): Promise<ImportResult>;
    /** Lines in pieces; ends with the end mark, or early when `signal` aborts. */
    export(instance: string | undefined, request: ExportRequest): Promise<AsyncGenerator<string>>;
  };
  quickstart(body: unknown, by: By): Promise<Quickstart>;
}

/** What other rooms of the service lend. */
interface ManagementParts {
  hashPassword: ManagedUsersParts["hashPassword"];
  signingPairs: Pick<SigningPairs, "ensure" | "stage" | "promote">;
  search: Searches;
  /** Buttons of the sign-in page, by `seq` of the instance. */
  buttons: (instance: number) => ProviderButton[];
}

export function createManagement(context: ManageContext, parts: ManagementParts): Management {
  const { hashPassword, signingPairs, search, buttons } = parts;
  return {
    apps: createManagedApps(context),
    instances: createInstances(context, signingPairs),
    keys: createManagedKeys(context, signingPairs),
    providers: createManagedProviders(context),
    previews: createPreviews(context, buttons),
    users: createManagedUsers(context, { hashPassword, search }),
    pairs: (instance) => listPairs(context, instance),
    sessions: createManagedSessions(context, search),
    mails: createManagedMails(context),
    webhooks: createManagedWebhooks(context),
    audit: createManagedAudit(context, search),
    transfer: {
      import: (instance, request) => importUsers(context, instance, request),
      export: (instance, request) => exportUsers(context, instance, request),
    },
    quickstart: createQuickstart(context),
  };
}

/** Users whose mailbox another user has; of all instances where none is given. Fails `not_found`. */
function listPairs(context: ManageContext, id: string | undefined): DataOf<typeof listIdentityPairs> {
  const { store, limits } = context;
  const instance = id === undefined ? undefined : requireInstance(context, id).seq;
  const most = limits.addressPairsShown;
  const found = addressPairs(store, { most: most + 1, instance });
  const shown = (user: User | undefined) => {
    const at = user === undefined ? undefined : store.instances.bySeq(user.instance);
    return user === undefined || at === undefined ? [] : [wireUser(store, user, at)];
  };
  const pairs = found.slice(0, most).flatMap(({ email, holder, other }) => {
    const [known] = shown(holder);
    return shown(other).map((user) => ({ email, holder: known, other: user }));
  });
  return { pairs, more: found.length > most };
}
