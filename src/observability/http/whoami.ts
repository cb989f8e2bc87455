import { whoami } from "../api/whoami.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountWhoami(plane: ObservabilityPlane): void {
  mount(plane, whoami, ({ grant: { id, name, scopes, apps, person, expiresAt } }) => ({
    id,
    ...(name === undefined ? {} : { name }),
    scopes: [...scopes],
    apps: [...apps],
    ...(person === undefined ? {} : { person }),
    ...(expiresAt === undefined ? {} : { expires_at: new Date(expiresAt).toISOString() }),
  }));
}
