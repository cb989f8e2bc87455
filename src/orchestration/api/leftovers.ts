import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";

/** What a delete without prune left of one resource, or of a scope as a whole (`name` is empty then). */
export const Leftover = Type.Object({
  scope: Type.String(),
  name: Type.String(),
  /** Kinds of the resources that are gone, as far as that is known. */
  kinds: Type.Array(Type.String()),
  /** Names in the engine. */
  volumes: Type.Array(Type.String()),
  config_keys: Type.Integer(),
  folders: Type.Array(Type.String()),
  /** Volumes that no prune removes, each with the way to remove it. */
  kept: Type.Array(Type.String()),
});
export type Leftover = Static<typeof Leftover>;

export const listLeftovers = endpoint({
  method: "GET",
  path: "/leftovers",
  summary: "Volumes, config and folders of resources whose manifest is gone; DELETE with prune removes them",
  query: Type.Object({ scope: Text("only of this scope"), name: Text("only of this name") }),
  data: Type.Object({
    leftovers: Type.Array(Leftover),
    /** What could not be looked at. */
    errors: Type.Optional(Type.Array(Type.String())),
  }),
});
