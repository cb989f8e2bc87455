import { isFromAfar, sees, unseen } from "../../access/apps.ts";
import type { Plane } from "../../base/http/mount.ts";
import type { Principal } from "../../access/principal.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { Controller } from "../controller/controller.ts";
import type { Target } from "../controller/requests.ts";

/**
 * The resource that a call is about. A token names it by scope and name, and by kind only where several of `kinds` have
 * the name. Every other caller names it as the controller reads it.
 */
export function seenTarget<Kind extends string>(
  controller: Pick<Controller, "listManifests">,
  { query, by }: { query: Target; by: Principal },
  { kinds, what }: { kinds: readonly Kind[]; what: (kind?: string) => string },
): Target {
  if (!isFromAfar(by)) return query;
  const { kind, scope, name = "" } = query;
  const wanted = kinds.filter((one) => kind === undefined || one === kind);
  const stored = (one: Kind) => controller.listManifests({ kind: one, scope, name });
  const [found, other] = sees(by, { scope, name }) ? wanted.flatMap(stored) : [];
  if (found === undefined) throw unseen(`${what(kind)} ${scope}/${name}`);
  if (other === undefined) return { kind: found.kind, scope, name };
  const both = `a ${what(found.kind)} and a ${what(other.kind)}`;
  throw new Failure("invalid", `${scope}/${name} is ${both}: add kind=${found.kind} or kind=${other.kind}`);
}

/** With the name of the token that asked for it, where the plane shows names. */
export function withName<T extends { actor?: string }>({ nameOf }: Plane, it: T): T {
  const name = it.actor === undefined ? undefined : nameOf?.(it.actor);
  return name === undefined ? it : { ...it, ...{ actor_name: name } };
}
