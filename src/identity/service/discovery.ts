import { instanceUrl } from "../core/urls.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";

/** What clients read about an instance before they talk to it. */
export interface Discovery {
  /** By its host name. */
  byHost(host: string): InstanceEntry | undefined;
  byId(id: string): InstanceEntry | undefined;
  /** False where no instance has a host name, so that there is nothing to look for. */
  hasHosts(): boolean;
  /** The answer of `/.well-known/openid-configuration`. */
  configuration(entry: InstanceEntry): Record<string, unknown>;
}

export function createDiscovery({ directory, baseUrl }: IdentityContext): Discovery {
  return {
    byHost: directory.byHost,
    byId: directory.byId,
    hasHosts: () => directory.overview().hasHosts,
    configuration({ instance, settings }) {
      const url = instanceUrl(baseUrl, instance);
      return {
        issuer: url,
        authorization_endpoint: `${url}/oauth/authorize`,
        token_endpoint: `${url}/api/v1/tokens/verify`,
        userinfo_endpoint: `${url}/api/v1/users`,
        jwks_uri: `${url}/.well-known/jwks.json`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: [settings.algorithm],
      };
    },
  };
}
