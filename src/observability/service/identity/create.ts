import { reachesAll } from "../../../access/apps.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { listIdentityInstances } from "../../../identity/api/manage/instances.ts";
import { listIdentitySessions, revokeIdentitySession } from "../../../identity/api/manage/sessions.ts";
import type { listPlaneInstances } from "../../api/identity.ts";
import { actorOf, type Grant } from "../../core/tokens/grant.ts";
import type { ObservabilityContext } from "../context.ts";

/** Sessions of one user that are ended with one request. */
const sessionsMax = 1_000;

/** Instances of the identity service, as tokens may see and change them. */
export interface IdentityRoom {
  /** None for a token that is limited to apps. */
  list(grant: Grant): Promise<DataOf<typeof listPlaneInstances>>;
  endSessions(grant: Grant, at: { instance: string; user: string }): Promise<{ sessions_revoked: number }>;
  /** Fails `not_found` for a token that is limited to apps. */
  requireSeen(apps: Pick<Grant, "apps">, instance: string): void;
  /**
   * For what gives access or changes how people get in. Fails `forbidden` for the instance of the operators: with a
   * password or a key of it, a token that leaks could live on as a person.
   */
  requireGiven(instance: string): void;
}

export function createIdentityRoom({ platform, store }: ObservabilityContext): IdentityRoom {
  const requireSeen: IdentityRoom["requireSeen"] = (apps, instance) => {
    if (!reachesAll(apps)) throw new Failure("not_found", `no instance ${JSON.stringify(instance.slice(0, 80))}`);
  };
  return {
    requireSeen,
    requireGiven(instance) {
      if (store.people.instance() !== instance) return;
      throw new Failure(
        "forbidden",
        "operators of this server sign in through this instance: change it on the server, with berth identity",
      );
    },
    async list(grant) {
      if (!reachesAll(grant)) return { instances: [] };
      const { instances } = await platform.as(actorOf(grant)).call(listIdentityInstances);
      const operators = store.people.instance();
      return { instances, ...(operators === undefined ? {} : { operators }) };
    },
    async endSessions(grant, { instance, user }) {
      requireSeen(grant, instance);
      const client = platform.as(actorOf(grant));
      const query = { instance, user, limit: String(sessionsMax) };
      const { sessions } = await client.call(listIdentitySessions, { query });
      for (const { session_id: session } of sessions) {
        await client.call(revokeIdentitySession, { params: { session }, query: { instance } });
      }
      return { sessions_revoked: sessions.length };
    },
  };
}
