import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";
import { oneByName } from "./target.ts";

export const scale = endpoint({
  method: "POST",
  path: "/scale",
  once: true,
  summary: "Write the replica count of a manifest and nothing else of it; 409 where an autoscaler decides the count",
  query: Type.Object({
    kind: Text("deployment or statefulset; found by itself, 400 when both exist"),
    ...oneByName,
    replicas: Text("how many (required); 0 stops them all"),
  }),
  data: Type.Object({
    kind: Type.String(),
    scope: Type.String(),
    name: Type.String(),
    replicas: Type.Integer(),
    previous: Type.Integer({ description: "the count before" }),
    revision: Type.Integer({ description: "of the manifest as it is now" }),
  }),
});
