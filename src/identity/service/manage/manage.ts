import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { ImportResult } from "../../api/manage/import.ts";
import type { listIdentityPairs } from "../../api/manage/users.ts";
import type { Quickstart } from "../../api/manage/instances.ts";
import { createInstances, type Instances } from "../instances.ts";
import type { Searches } from "../search.ts";
import type { SigningPairs } from "../signing-pairs.ts";
import { createManagedApps, type ManagedApps } from "./apps.ts";
import { createManagedAudit, type ManagedAudit } from "./audit.ts";
import type { By, ManageContext } from "./context.ts";
import { type ExportRequest, exportUsers } from "./export.ts";
import { createManagedWebhooks, type ManagedWebhooks } from "./webhooks.ts";
import { type ImportRequest, importUsers } from "./import.ts";
import { createManagedKeys, type ManagedKeys } from "./keys.ts";
import { createManagedMails, type ManagedMails } from "./mails.ts";
import type { ProviderButton } from "../code-exchange.ts";
import { createPreviews, type Previews } from "./preview.ts";
import { listPairs } from "./pairs.ts";
import { createManagedProviders, type ManagedProviders } from "./providers.ts";
import { createQuickstart } from "./quickstart.ts";
import { createManagedSessions, type ManagedSessions } from "./sessions.ts";
import { createManagedUsers, type ManagedUsers, type ManagedUsersParts } from "./users.ts";

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
