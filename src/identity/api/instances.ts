import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";
import { InstanceResource } from "./resources.ts";

export const searchInstances = endpoint({
  method: "GET",
  path: "/api/v1/instances/search",
  summary: "The instance of a publishable key: where browsers reach it; with either key of that instance",
  query: Type.Object({ query: Text("publishable_key:pk_… (required)") }),
  data: InstanceResource,
  flat: true,
});
