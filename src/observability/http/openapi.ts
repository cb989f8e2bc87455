import { once } from "../../base/pure/once.ts";
import { type ApiInfo, type Json, openapiDocument } from "../../base/http/openapi.ts";
import type { Endpoint } from "../../base/wire/endpoint.ts";
import { failureStatus } from "../../base/wire/failure.ts";
import { planeEndpoints } from "../api/endpoints.ts";
import { planeOpenapi } from "../api/openapi.ts";
import { type PlaneEndpoint, planePath } from "../api/plane-endpoint.ts";
import { mount } from "../../base/http/mount.ts";
import type { ObservabilityPlane } from "./plane.ts";

export function mountOpenapi(plane: ObservabilityPlane, info: ApiInfo): void {
  mount(
    plane,
    planeOpenapi,
    once(() => planeDocument(info)),
  );
}

/** OpenAPI 3.1, derived from the endpoint values; each summary ends with the scope that opens the route. */
export function planeDocument(info: ApiInfo): Json {
  return openapiDocument(info, planeEndpoints.map(shown), {
    error,
    errorStatuses,
    securitySchemes: { token: { type: "http", scheme: "bearer", description: "a personal access token" } },
    security: () => ["token"],
  });
}

function shown(endpoint: PlaneEndpoint): Endpoint {
  const scope = endpoint.scope === "any" ? "every token" : `scope ${endpoint.scope}`;
  return { ...endpoint, path: planePath(endpoint), summary: `${endpoint.summary} (${scope})` };
}

const error = {
  type: "object",
  required: ["status", "error"],
  properties: {
    status: { const: "error" },
    error: { type: "string", description: "for people; the text may change" },
    code: { enum: Object.keys(failureStatus), description: "a word for the status" },
  },
};

function errorStatuses({ path, query, body }: Endpoint): number[] {
  const { invalid, unauthorized, forbidden, not_found, too_large, unsupported_media_type, too_many, unavailable } =
    failureStatus;
  const always = [invalid, unauthorized, forbidden, too_many, unavailable];
  // Path, query and body can each name something that does not exist.
  const names = path.includes(":") || query !== undefined || body !== undefined;
  return [...always, ...(names ? [not_found] : []), ...(body === undefined ? [] : [too_large, unsupported_media_type])];
}
