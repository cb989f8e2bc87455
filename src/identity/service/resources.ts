import { sessionResource, userResource } from "../core/resources.ts";
import type { Session, User } from "../store/records.ts";

/** What the API shows of a user, a session or a token (docs/contract/identity.md, 2). */
export interface Resource {
  id: string;
  resource: string;
  data: object;
}

/** `providers` are those of its identities. */
export function resourceOfUser(user: User, providers: readonly string[]): Resource {
  return userResource({ ...user, providers, hasPassword: user.passwordHash !== undefined });
}

/** `userId` is the UUID of its user. */
export function resourceOfSession(session: Session, userId: string): Resource {
  return sessionResource({ ...session, userId });
}
