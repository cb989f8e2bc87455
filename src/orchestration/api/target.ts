import { Text } from "../../base/wire/query.ts";

/** Fields of a query that name one resource. */
export const oneByName = {
  scope: Text("scope; found by itself where only one matches"),
  name: Text("name (required)"),
};

/** Fields of a query that narrow a list. */
export const listFilter = {
  kind: Text("kind, any spelling"),
  scope: Text("exact scope"),
  name: Text("exact resource name"),
};
