import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";

/** The headers of a request; names in lower case. */
interface HeaderReader {
  get(name: string): string | null;
}

/** Whose key a request carries: only what is of this instance is there for it. */
export interface Caller {
  entry: InstanceEntry;
  /** As the audit trail names it: `api:<key id>`, or `client` for a key that is not secret. */
  actor: string;
}

/** Finds the instance whose key a request carries (docs/contract/identity.md, 4). */
export interface Access {
  /** From `X-Service-Secret-Key`, `Authorization: Bearer`, or a header that the instance itself has named. */
  bySecretKey(headers: HeaderReader): Caller | undefined;
  /** From `X-Service-Publishable-Key`, or a header that the instance itself has named. */
  byPublishableKey(headers: HeaderReader): Caller | undefined;
}

export const secretKeyHeader = "x-service-secret-key";
export const publishableKeyHeader = "x-service-publishable-key";

const keyLengthMax = 256;

export function createAccess({ directory }: IdentityContext): Access {
  const bySecret = (value: string | null | undefined): Caller | undefined => {
    const holder = isKey(value) ? directory.bySecretKey(value) : undefined;
    return holder && { entry: holder.entry, actor: `api:${holder.keyId}` };
  };
  const byPublishable = (value: string | null | undefined): Caller | undefined => {
    const entry = isKey(value) ? directory.byPublishableKey(value) : undefined;
    return entry && { entry, actor: "client" };
  };
  return {
    bySecretKey: (headers) =>
      bySecret(headers.get(secretKeyHeader)) ??
      bySecret(bearer(headers)) ??
      byAlias(headers, {
        names: directory.overview().secretKeyHeaders,
        lookUp: bySecret,
        ofInstance: ({ settings }) => settings.secret_key_headers,
      }),
    byPublishableKey: (headers) =>
      byPublishable(headers.get(publishableKeyHeader)) ??
      byAlias(headers, {
        names: directory.overview().publishableKeyHeaders,
        lookUp: byPublishable,
        ofInstance: ({ settings }) => settings.publishable_key_headers,
      }),
  };
}

function isKey(value: string | null | undefined): value is string {
  return typeof value === "string" && value !== "" && value.length <= keyLengthMax;
}

function bearer(headers: HeaderReader): string | undefined {
  const [scheme, value] = (headers.get("authorization") ?? "").split(" ");
  return scheme?.toLowerCase() === "bearer" ? value : undefined;
}

interface Aliased {
  names: readonly string[];
  lookUp: (value: string | null) => Caller | undefined;
  ofInstance: (entry: InstanceEntry) => readonly string[];
}

/** The name of the header says nothing yet about the instance: only the one that its key leads to must know it. */
function byAlias(headers: HeaderReader, { names, lookUp, ofInstance }: Aliased): Caller | undefined {
  for (const name of names) {
    const caller = lookUp(headers.get(name));
    if (caller !== undefined && ofInstance(caller.entry).some((alias) => alias.toLowerCase() === name)) return caller;
  }
  return undefined;
}
