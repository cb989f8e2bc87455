import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";

/** The headers of a request; names in lower case. */
export interface HeaderReader {
  get(name: string): string | null;
}

/** Who asks: the instance whose key a request carries (identity API, section 5). */
export interface Access {
  /** From `X-Service-Secret-Key`, `Authorization: Bearer`, or a header that the instance itself has named. */
  bySecretKey(headers: HeaderReader): InstanceEntry | undefined;
  /** From `X-Service-Publishable-Key`, or a header that the instance itself has named. */
  byPublishableKey(headers: HeaderReader): InstanceEntry | undefined;
}

export const secretKeyHeader = "x-service-secret-key";
export const publishableKeyHeader = "x-service-publishable-key";

const keyLengthMax = 256;

export function createAccess({ directory }: IdentityContext): Access {
  const find = (value: string | null, lookUp: (value: string) => InstanceEntry | undefined) =>
    value === null || value.length === 0 || value.length > keyLengthMax ? undefined : lookUp(value);
  return {
    bySecretKey(headers) {
      const found = find(headers.get(secretKeyHeader), directory.bySecretKey);
      if (found !== undefined) return found;
      const [scheme, bearer] = (headers.get("authorization") ?? "").split(" ");
      if (scheme?.toLowerCase() === "bearer") {
        const entry = find(bearer ?? null, directory.bySecretKey);
        if (entry !== undefined) return entry;
      }
      return byAlias(headers, {
        names: directory.overview().secretKeyHeaders,
        lookUp: directory.bySecretKey,
        ofInstance: ({ settings }) => settings.secret_key_headers,
      });
    },
    byPublishableKey(headers) {
      const found = find(headers.get(publishableKeyHeader), directory.byPublishableKey);
      if (found !== undefined) return found;
      return byAlias(headers, {
        names: directory.overview().publishableKeyHeaders,
        lookUp: directory.byPublishableKey,
        ofInstance: ({ settings }) => settings.publishable_key_headers,
      });
    },
  };

  interface Aliased {
    names: readonly string[];
    lookUp: (value: string) => InstanceEntry | undefined;
    ofInstance: (entry: InstanceEntry) => readonly string[];
  }

  /** The name of the header says nothing yet about the instance: only the one that its key leads to must know it. */
  function byAlias(headers: HeaderReader, { names, lookUp, ofInstance }: Aliased): InstanceEntry | undefined {
    for (const name of names) {
      const entry = find(headers.get(name), lookUp);
      if (entry !== undefined && ofInstance(entry).some((alias) => alias.toLowerCase() === name)) return entry;
    }
    return undefined;
  }
}
