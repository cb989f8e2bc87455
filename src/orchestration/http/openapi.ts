import type { Endpoint } from "../../base/wire/endpoint.ts";
import { failureStatus } from "../../base/wire/failure.ts";
import { orchestrationEndpoints } from "../api/endpoints.ts";
import { openapi } from "../api/openapi.ts";
import { type ApiInfo, type Json, openapiDocument } from "../../base/http/openapi.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountOpenapi(plane: Plane, info: ApiInfo): void {
  const document = orchestrationDocument(info);
  mount(plane, openapi, { answer: () => document });
}

export function orchestrationDocument(info: ApiInfo): Json {
  return openapiDocument(info, orchestrationEndpoints, { error, errorStatuses });
}

const error = {
  type: "object",
  required: ["status", "error"],
  properties: { status: { const: "error" }, error: { type: "string" } },
};

function errorStatuses({ method, body, flat }: Endpoint): number[] {
  const { invalid, forbidden, not_found, conflict, too_large, internal, unavailable, storage_full } = failureStatus;
  if (flat === true) return [forbidden];
  const always = [invalid, forbidden, not_found, internal, unavailable];
  const writing = method === "GET" ? [] : [conflict, storage_full];
  return [...always, ...writing, ...(body === undefined ? [] : [too_large])];
}
