import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";

export const wake = endpoint({
  method: "POST",
  path: "/wake",
  summary: "Start a deployment that is asleep, as a request would; nothing happens to one that is awake",
  query: Type.Object({
    scope: Text("scope; found by itself where only one matches"),
    name: Text("name of the deployment (required)"),
  }),
  data: Type.Object({
    kind: Type.String(),
    scope: Type.String(),
    name: Type.String(),
    woken: Type.Boolean({ description: "false: it was awake already" }),
    revision: Type.Integer(),
  }),
});
