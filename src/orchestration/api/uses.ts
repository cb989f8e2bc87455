import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";

/** A resource whose host another one names. */
export const Use = Type.Object({
  /** `statefulset/data/main`. */
  what: Type.String(),
  /** The block that it came from. */
  block: Type.Optional(Type.String()),
  /** `deployment/shop/web`. */
  by: Type.String(),
  /** `DATABASE_URL in its config names main-0.data`. */
  where: Type.String(),
});
export type Use = Static<typeof Use>;

export const listUses = endpoint({
  method: "GET",
  path: "/uses",
  summary: "Who names the host of a resource in its config or manifest, and so stays without it when it is deleted",
  query: Type.Object({ scope: Text("only uses of this scope"), name: Text("only uses of this name") }),
  data: Type.Object({ uses: Type.Array(Use) }),
});
