import type { TSchema } from "@sinclair/typebox";
import type { Endpoint } from "../../base/wire/endpoint.ts";

/** In the order in which lists show them. Flat: none of them implies another. */
export const scopes = ["read", "actions", "host:read", "config:reveal", "exec", "admin"] as const;
export type Scope = (typeof scopes)[number];

/** Every path of the plane begins with it. */
export const planePrefix = "/api/pat/v1";

/** An endpoint of the observability plane: it says which scope a token needs. */
export interface PlaneEndpoint<
  Q extends TSchema = TSchema,
  B extends TSchema = TSchema,
  D extends TSchema = TSchema,
  P extends string = string,
> extends Endpoint<Q, B, D, P> {
  /** `any`: every token that is valid. */
  scope: Scope | "any";
  /** On record in the audit trail, as every request is that is not a GET. */
  audited?: boolean;
}

export function planeEndpoint<Q extends TSchema, B extends TSchema, D extends TSchema, const P extends string>(
  value: PlaneEndpoint<Q, B, D, P>,
): PlaneEndpoint<Q, B, D, P> {
  return value;
}
