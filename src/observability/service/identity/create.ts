import type { Client } from "../../../base/wire/client.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { listIdentityInstances } from "../../../identity/api/manage/instances.ts";
import { previewIdentityPage } from "../../../identity/api/manage/preview.ts";
import { listIdentitySessions, revokeIdentitySession } from "../../../identity/api/manage/sessions.ts";
import type { DataOf, QueryOf } from "../../../base/wire/endpoint.ts";
import type { listPlaneInstances } from "../../api/identity.ts";
import { reachesAll } from "../../../access/apps.ts";
import { actorOf, type Grant } from "../../core/tokens/grant.ts";
import type { ObservabilityContext } from "../context.ts";

/** Sessions of one user that are ended with one request. */
const sessionsMax = 1_000;

/** Instances of the identity service, as tokens may see and change them. */
export interface IdentityRoom {
  /** None for a token that is limited to apps. */
  list(grant: Grant): Promise<DataOf<typeof listPlaneInstances>>;
  /** A client for what only reads. Fails `not_found` for a token that is limited to apps. */
  reader(grant: Grant, instance: string): Client;
  /**
   * The same for what gives access or changes how people get in. Fails `forbidden` for the instance of the operators:
   * with a password or a key of it, a token that leaks could live on as a person.
   */
  giver(grant: Grant, instance: string): Client;
  endSessions(grant: Grant, at: { instance: string; user: string }): Promise<{ sessions_revoked: number }>;
  /** A hosted page with other branding; the answer as the identity service made it. */
  preview(grant: Grant, instance: string, query: QueryOf<typeof previewIdentityPage>): Promise<Response>;
}

export function createIdentityRoom({ platform, store }: ObservabilityContext): IdentityRoom {
  const reader = (grant: Grant, instance: string) => {
    if (!reachesAll(grant)) throw new Failure("not_found", `no instance ${JSON.stringify(instance.slice(0, 80))}`);
    return platform.as(actorOf(grant));
  };
  return {
    reader,
    async list(grant) {
      if (!reachesAll(grant)) return { instances: [] };
      const { instances } = await platform.as(actorOf(grant)).call(listIdentityInstances);
      const operators = store.people.instance();
      return { instances, ...(operators === undefined ? {} : { operators }) };
    },
    giver(grant, instance) {
      const client = reader(grant, instance);
      if (store.people.instance() !== instance) return client;
      throw new Failure(
        "forbidden",
        "operators of this server sign in through this instance: change it on the server, with berth identity",
      );
    },
    async endSessions(grant, { instance, user }) {
      const client = reader(grant, instance);
      const query = { instance, user, limit: String(sessionsMax) };
      const { sessions } = await client.call(listIdentitySessions, { query });
      for (const { session_id: session } of sessions) {
        await client.call(revokeIdentitySession, { params: { session }, query: { instance } });
      }
      return { sessions_revoked: sessions.length };
    },
    preview: (grant, instance, query) =>
      reader(grant, instance).raw(previewIdentityPage, { params: { instance }, query }),
  };
}
