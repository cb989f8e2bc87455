import type { Management } from "../../identity/manage/manage.ts";
import { mountIdentityApps } from "./identity-apps.ts";
import { mountIdentityAudit } from "./identity-audit.ts";
import { mountIdentityHooks } from "./identity-hooks.ts";
import { mountIdentityImport } from "./identity-import.ts";
import { mountIdentityInstances } from "./identity-instances.ts";
import { mountIdentityKeys } from "./identity-keys.ts";
import { mountIdentityMails } from "./identity-mails.ts";
import { mountIdentityProviders } from "./identity-providers.ts";
import { mountIdentitySessions } from "./identity-sessions.ts";
import { mountIdentityUsers } from "./identity-users.ts";
import type { Plane } from "./mount.ts";

/** How the operator manages the identity service. */
export function mountIdentity(plane: Plane, manage: Management, options: { pageMax: number }): void {
  mountIdentityApps(plane, manage);
  mountIdentityInstances(plane, manage);
  mountIdentityKeys(plane, manage);
  mountIdentityProviders(plane, manage);
  mountIdentityUsers(plane, manage, options);
  mountIdentitySessions(plane, manage, options);
  mountIdentityMails(plane, manage, options);
  mountIdentityHooks(plane, manage, options);
  mountIdentityAudit(plane, manage, options);
  mountIdentityImport(plane, manage);
}
