import type { InstanceEntry } from "../service/directory.ts";
import type { IdentityPlane } from "./plane.ts";

/**
 * The instance that a browser talks to: the one that a path `/i/<instance id>/…` names, else that of the host. Mount
 * such a route on both `instancePaths`.
 */
export function instanceOf(
  { identity }: IdentityPlane,
  request: Request,
  // A path without parameters comes without this, whatever the types say.
  params: Record<string, string | null> | undefined,
): InstanceEntry | undefined {
  const id = params?.instance;
  if (id !== undefined) return id === null ? undefined : identity.discovery.byId(id);
  return identity.discovery.byHost(hostOf(request));
}

/** A path both ways: on the host of an instance, and without DNS below `/i/<instance id>`. */
export function instancePaths(path: string): string[] {
  return [path, `/i/:instance${path}`];
}

/** Nothing of one instance shows on the host of another: neither its pages, nor what its keys open. */
export function isAtAnother({ identity }: IdentityPlane, { instance }: InstanceEntry, request: Request): boolean {
  if (!identity.discovery.hasHosts()) return false;
  const owner = identity.discovery.byHost(hostOf(request));
  return owner !== undefined && owner.instance.seq !== instance.seq;
}

/** Lower case, without port. */
function hostOf(request: Request): string {
  return URL.canParse(request.url) ? new URL(request.url).hostname : "";
}
