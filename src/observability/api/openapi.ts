import { Type } from "@sinclair/typebox";
import { planeEndpoint } from "./plane-endpoint.ts";

export const planeOpenapi = planeEndpoint({
  method: "GET",
  path: "/openapi.json",
  scope: "any",
  summary: "This description of the observability plane",
  flat: true,
  data: Type.Record(Type.String(), Type.Unknown()),
});
