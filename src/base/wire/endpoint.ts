import type { Static, TSchema } from "@sinclair/typebox";

export type Method = "GET" | "POST" | "DELETE" | "PUT" | "PATCH";

/**
 * An endpoint as a value: the server mounts it, the OpenAPI document and the client are derived from it.
 * `query` properties are strings on the wire; `queryFlag` and friends in `api/query.ts` say how they are read.
 */
export interface Endpoint<Q extends TSchema = TSchema, B extends TSchema = TSchema, D extends TSchema = TSchema> {
  method: Method;
  /** Parameters in Elysia's form: `/pods/:name/ready`. */
  path: string;
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
}

export function endpoint<Q extends TSchema, B extends TSchema, D extends TSchema>(
  value: Endpoint<Q, B, D>,
): Endpoint<Q, B, D> {
  return value;
}

export type QueryOf<E> = E extends Endpoint<infer Q, TSchema, TSchema> ? Static<Q> : never;
export type DataOf<E> = E extends Endpoint<TSchema, TSchema, infer D> ? Static<D> : never;
