import type { Static, TSchema } from "@sinclair/typebox";

/** What a token can be good for, in the order in which lists show it. Flat: none of them implies another. */
export const scopes = ["read", "actions", "host:read", "config:reveal", "exec", "admin"] as const;
export type Scope = (typeof scopes)[number];

export type Method = "GET" | "POST" | "DELETE" | "PUT" | "PATCH";

/**
 * An endpoint as a value: the server mounts it, the OpenAPI document and the client are derived from it.
 * `query` properties are strings on the wire; `queryFlag` and friends in `api/query.ts` say how they are read.
 */
export interface Endpoint<
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  D extends TSchema = TSchema,
  P extends string = string,
> {
  method: Method;
  /** Parameters in Elysia's form: `/pods/:name/ready`. */
  path: P;
  summary: string;
  query?: Q;
  body?: B;
  /** Media type of a body that is text and no JSON. */
  bodyType?: string;
  /** Shape of `data` in the envelope. */
  data?: D;
  /** Set where nothing may be added to a body, such as that of `/health` (docs/contract/orchestration.md, 1.2). */
  flat?: boolean;
  /** Media type of a 200 that is a stream and no envelope; errors before it are in the envelope. */
  stream?: string;
  /** Takes an `Idempotency-Key`: the request is carried out once, however often it comes. */
  once?: boolean;
  /** Statuses beside 200 that answer with the same body, and when. */
  alsoAnswers?: Record<number, string>;
  /** What a token or a session needs for it, where it is behind their door; `any`: every token that is valid. */
  scope?: Scope | "any";
  /** Says what another one would do, and changes nothing, although it is not a GET. */
  plans?: boolean;
  /** On record in the audit trail of tokens, as every request is that is not a GET. */
  audited?: boolean;
}

/** One with a scope is known to have it. */
export function endpoint<Q extends TSchema, B extends TSchema, D extends TSchema, const P extends string>(
  value: Endpoint<Q, B, D, P> & { scope: Scope | "any" },
): Endpoint<Q, B, D, P> & { scope: Scope | "any" };
export function endpoint<Q extends TSchema, B extends TSchema, D extends TSchema, const P extends string>(
  value: Endpoint<Q, B, D, P>,
): Endpoint<Q, B, D, P>;
export function endpoint<Q extends TSchema, B extends TSchema, D extends TSchema, const P extends string>(
  value: Endpoint<Q, B, D, P>,
): Endpoint<Q, B, D, P> {
  return value;
}

export type QueryOf<E> = E extends Endpoint<infer Q, TSchema, TSchema> ? Static<Q> : never;
export type DataOf<E> = E extends Endpoint<TSchema, TSchema, infer D> ? Static<D> : never;

/** Names of the parameters of a path: `"scope" | "name"` of `/apps/:scope/:name`. */
type ParamNames<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | ParamNames<`/${Rest}`>
  : P extends `${string}:${infer Name}`
    ? Name
    : never;

/** What stands for the parameters of an endpoint's path; of a path that is only known when it runs, any names. */
export type ParamsOf<E extends Endpoint, Value = string> = string extends E["path"]
  ? Record<string, Value>
  : Record<ParamNames<E["path"]>, Value>;

/** What the schema describes; text or bytes where that is text. */
export type BodyOf<E> =
  E extends Endpoint<TSchema, infer B, TSchema>
    ? TSchema extends B
      ? undefined
      : Static<B> extends string
        ? string | Uint8Array
        : Given<Static<B>>
    : never;

/** Lists may be ones that the caller cannot change. */
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { [K in keyof T]: Given<T[K]> }
    : T;
