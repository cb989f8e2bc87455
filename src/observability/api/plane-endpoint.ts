import type { TSchema } from "@sinclair/typebox";
import type { DataOf, Endpoint, Scope } from "../../base/wire/endpoint.ts";

/** The observability plane has every endpoint below it. */
export const planePrefix = "/api/pat/v1";

/** An endpoint that tokens and sessions open. */
export interface PlaneEndpoint<
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  D extends TSchema = TSchema,
  P extends string = string,
> extends Endpoint<Q, B, D, P> {
  scope: Scope | "any";
  /** The endpoint that it is another form of: see `aliasOf`. */
  of?: Endpoint;
  /** Values of the query of that endpoint which tokens cannot choose. */
  fixed?: Readonly<Record<string, string>>;
  /** The body in the form of that endpoint, from the one that tokens send. */
  given?(body: never): unknown;
  /** What of the body is kept in the audit trail: names, and never values that may be secrets. */
  onRecord?(body: never): Record<string, string>;
  /** The data in the form that tokens get, from that of the endpoint. */
  shown?(data: never): unknown;
}

export function planeEndpoint<Q extends TSchema, B extends TSchema, D extends TSchema, const P extends string>(
  value: PlaneEndpoint<Q, B, D, P>,
): PlaneEndpoint<Q, B, D, P> {
  return value;
}

type Alias<E extends Endpoint> = Partial<Omit<PlaneEndpoint, "of" | "shown">> & {
  shown?: (data: DataOf<E>) => unknown;
};

/**
 * An endpoint of operators in the form that it has for tokens, where method, path, query, body or data differ. What its own path
 * does not name, but that of the alias, is a value of its query.
 */
export function aliasOf<E extends Endpoint, const M extends Alias<E>>(
  of: E,
  more: M,
): Omit<E, keyof M | "scope"> & M & { of: E; scope: Scope | "any" } {
  return { scope: of.scope ?? "admin", ...of, ...more, of } as never;
}

/** Path of an endpoint on the observability plane. */
export function planePath<P extends string>({ path }: { path: P }): `${typeof planePrefix}${P}` {
  return `${planePrefix}${path}`;
}
