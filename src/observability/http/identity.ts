import { sightOf } from "../../access/apps.ts";
import { mount, type Plane } from "../../base/http/mount.ts";
import { readParam } from "../../base/http/request.ts";
import type { Endpoint } from "../../base/wire/endpoint.ts";
import { revokeIdentitySession } from "../../identity/api/manage/sessions.ts";
import { banIdentityUser, deleteIdentityUser } from "../../identity/api/manage/users.ts";
import { endPlaneUserSessions, listPlaneInstances, listPlaneSettings } from "../api/identity.ts";
import type { IdentityRoom } from "../service/identity/create.ts";
import { settingForms } from "../service/identity/setting-forms.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** What owners of apps have of the identity service beside its own endpoints. */
export function mountIdentityRoom(plane: ObservabilityPlane): void {
  const { identity } = plane.observability;
  mount(plane, listPlaneInstances, ({ grant }) => identity.list(grant));
  mount(plane, listPlaneSettings, () => ({ settings: settingForms }));
  mount(plane, endPlaneUserSessions, ({ grant, params }) =>
    identity.endSessions(grant, { instance: readParam(params, "instance"), user: readParam(params, "user") }),
  );
}

/** What only takes access away works for the instance of the operators too. */
const takingAway: readonly Endpoint[] = [banIdentityUser, deleteIdentityUser, revokeIdentitySession];

/** The plane of tokens as the identity service mounts its endpoints on it: each asks first whether the instance is theirs. */
export function planeOfInstances<More>(plane: Plane<More>, room: IdentityRoom): Plane<More> {
  return {
    ...plane,
    serve: (endpoint, how) =>
      plane.serve(endpoint, {
        ...how,
        respond(call) {
          const named: { instance?: string | null } = { ...call.query, ...call.params };
          const instance = named.instance ?? "";
          room.requireSeen(sightOf(call.by), instance);
          if (endpoint.method !== "GET" && !takingAway.includes(endpoint)) room.requireGiven(instance);
          return how.respond(call);
        },
      }),
  };
}
