import { once } from "../../base/pure/once.ts";
import type { Endpoint } from "../../base/wire/endpoint.ts";
import { failureReasons, failureStatus } from "../../base/wire/failure.ts";
import { orchestrationEndpoints } from "../api/endpoints.ts";
import { openapi } from "../api/openapi.ts";
import { type ApiInfo, type Json, openapiDocument } from "../../base/http/openapi.ts";
import { mount, type Plane } from "../../base/http/mount.ts";

export function mountOpenapi(plane: Plane, info: ApiInfo): void {
  mount(
    plane,
    openapi,
    once(() => orchestrationDocument(info)),
  );
}

export function orchestrationDocument(info: ApiInfo): Json {
  return openapiDocument(info, orchestrationEndpoints, { error, errorStatuses });
}

const error = {
  type: "object",
  required: ["status", "error"],
  properties: {
    status: { const: "error" },
    error: { type: "string", description: "for people; the text may change" },
    code: { enum: Object.keys(failureStatus), description: "a word for the status" },
    reason: { enum: failureReasons, description: "why, as a stable word" },
    fields: {
      type: "object",
      additionalProperties: { type: ["string", "number", "boolean"] },
      description: "the values that the text tells, by name",
    },
    problems: {
      type: "array",
      description: "the faults that the text lists",
      items: {
        type: "object",
        required: ["path", "message"],
        properties: {
          manifest: { type: "integer", description: "position of the manifest in the body, counted from 1" },
          within: {
            type: "array",
            items: { type: "string" },
            description: "the block and the manifest that it was expanded into, outermost first",
          },
          path: { type: "string", description: "from the manifest or the body: spec.ports[0]; empty for the whole" },
          message: { type: "string" },
          reason: { enum: failureReasons },
        },
      },
    },
  },
};

function errorStatuses({ method, body, flat }: Endpoint): number[] {
  const { invalid, forbidden, not_found, conflict, too_large, unsupported_media_type, internal } = failureStatus;
  const { unavailable, storage_full } = failureStatus;
  if (flat === true) return [forbidden];
  const always = [invalid, forbidden, not_found, internal, unavailable];
  const writing = method === "GET" ? [] : [conflict, storage_full];
  return [...always, ...writing, ...(body === undefined ? [] : [too_large, unsupported_media_type])];
}
