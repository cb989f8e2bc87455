import { Failure } from "../../base/wire/failure.ts";
import { instanceUrl } from "../core/urls.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import type { Resource } from "./resources.ts";

/** How a client that only knows its publishable key finds its instance. */
export interface Lookup {
  /**
   * `query` is `publishable_key:pk_…`. Fails `invalid` without one, `not_found` for the key of another instance than
   * the asking one.
   */
  byQuery(entry: InstanceEntry, query: string): Resource;
}

export function createLookup({ baseUrl }: IdentityContext): Lookup {
  return {
    byQuery({ instance }, query) {
      const tokens = query.split(" ");
      const asked = tokens.flatMap((token) => /^publishable_key:(.+)$/.exec(token)?.[1] ?? []);
      if (asked.length === 0) throw new Failure("invalid", "publishable_key is required in query");
      if (!asked.includes(instance.publishableKey)) throw new Failure("not_found", "Instance not found");
      const { id, publishableKey, host } = instance;
      const data = {
        publishable_key: publishableKey,
        url: instanceUrl(baseUrl, instance),
        subdomain: host?.split(".")[0] ?? null,
      };
      return { id, resource: "instance", data };
    },
  };
}
