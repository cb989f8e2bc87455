import { mount, type Plane } from "../../base/http/mount.ts";
import type { DataOf, QueryOf } from "../../base/wire/endpoint.ts";
import { Failure } from "../../base/wire/failure.ts";
import { operatorTwin } from "../api/operator-twin.ts";
import type { PlaneEndpoint } from "../api/plane-endpoint.ts";
import { mayReach, reachesAll } from "../../access/apps.ts";
import type { Grant } from "../core/tokens/grant.ts";
import { mountPlane } from "./mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

/** A request of an operator, or of a token that may make it. */
export interface RoomCall<E extends PlaneEndpoint> {
  actor: string;
  params: Record<string, string | null>;
  query: Partial<QueryOf<E>>;
  body: unknown;
  /** Whether the caller may see what labels are about: an app, or without one the whole server. */
  sees(labels: { scope?: string; name?: string }): boolean;
  /** Globs of the apps that the caller may see; empty: every app. */
  reach: readonly string[];
  /** Fails `forbidden` for a token that is limited to some apps. */
  requireAllApps(): void;
}

/** Mounts an endpoint of the plane on the plane, or its twin on the orchestration plane. */
export type MountRoom = <E extends PlaneEndpoint>(
  endpoint: E,
  answer: (call: RoomCall<E>) => DataOf<E> | Promise<DataOf<E>>,
) => void;

export function onPlane(plane: ObservabilityPlane): MountRoom {
  return (endpoint, answer) =>
    mountPlane(plane, endpoint, ({ actor, params, query, body, grant }) =>
      answer({ actor, params, query, body, ...limitsOf(grant) }),
    );
}

export function onOrchestration(plane: Plane): MountRoom {
  return (endpoint, answer) =>
    mount(plane, operatorTwin(endpoint), {
      answer: ({ actor, params = {}, query, body }) => answer({ actor, params, query, body, ...everything }),
    });
}

const everything = { reach: [], sees: () => true, requireAllApps: () => undefined };

function limitsOf(grant: Grant): Pick<RoomCall<PlaneEndpoint>, "sees" | "reach" | "requireAllApps"> {
  return {
    reach: grant.apps,
    sees: ({ scope = "", name }) => (name === undefined ? reachesAll(grant) : mayReach(grant, { scope, name })),
    requireAllApps() {
      if (reachesAll(grant)) return;
      throw new Failure("forbidden", "this token is limited to some apps, and this is about all of them");
    },
  };
}
