import type { Management } from "../../service/manage/manage.ts";
import { mountIdentityApps } from "./apps.ts";
import { mountIdentityAudit } from "./audit.ts";
import { mountIdentityWebhooks } from "./webhooks.ts";
import { mountIdentityImport } from "./import.ts";
import { mountIdentityInstances } from "./instances.ts";
import { mountIdentityKeys } from "./keys.ts";
import { mountIdentityMails } from "./mails.ts";
import { mountIdentityPreview } from "./preview.ts";
import { mountIdentityProviders } from "./providers.ts";
import { mountIdentitySessions } from "./sessions.ts";
import { mountIdentityUsers } from "./users.ts";
import type { Plane } from "../../../base/http/mount.ts";

/** How the operator manages the identity service. */
export function mountIdentity(plane: Plane, manage: Management, options: { pageMax: number }): void {
  mountIdentityApps(plane, manage);
  mountIdentityInstances(plane, manage);
  mountIdentityPreview(plane, manage);
  mountIdentityKeys(plane, manage);
  mountIdentityProviders(plane, manage);
  mountIdentityUsers(plane, manage, options);
  mountIdentitySessions(plane, manage, options);
  mountIdentityMails(plane, manage, options);
  mountIdentityWebhooks(plane, manage, options);
  mountIdentityAudit(plane, manage, options);
  mountIdentityImport(plane, manage);
}
