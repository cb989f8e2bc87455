import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";

export const openapi = endpoint({
  method: "GET",
  path: "/openapi.json",
  summary: "This document: the plane described as OpenAPI 3.1",
  flat: true,
  data: Type.Record(Type.String(), Type.Unknown()),
});
