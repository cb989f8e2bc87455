import { once } from "../../base/pure/once.ts";
import type { Endpoint } from "../../base/wire/endpoint.ts";
import { failureStatus } from "../../base/wire/failure.ts";
import { identityEndpoints } from "../api/endpoints.ts";
import { publishableKeyHeader, secretKeyHeader } from "../service/auth.ts";
import { openapiDocument } from "../../base/http/openapi.ts";
import { jsonAnswer } from "./answers.ts";
import type { ApiKey, IdentityPlane } from "./plane.ts";

/** `GET /openapi.json` of the identity API. Mount it last: it tells which key opens what was mounted. */
export function mountOpenapi(plane: IdentityPlane): void {
  const document = once(() =>
    openapiDocument(info, identityEndpoints, {
      error,
      errorStatuses,
      securitySchemes,
      security: (endpoint) => schemesOf[plane.keys.get(endpoint) ?? "secret"],
    }),
  );
  plane.app.get("/openapi.json", () => jsonAnswer(200, document()));
}

/** The version is the API's: that of the program is nothing for strangers. */
const info = { title: "identity API", version: "1" };

const error = { type: "object", required: ["error"], properties: { error: { type: "string" } } };

const securitySchemes = {
  secret: { type: "apiKey", in: "header", name: secretKeyHeader },
  bearer: { type: "http", scheme: "bearer", description: "the secret key" },
  publishable: { type: "apiKey", in: "header", name: publishableKeyHeader },
};

const schemesOf = {
  secret: ["secret", "bearer"],
  publishable: ["publishable"],
  either: ["secret", "bearer", "publishable"],
} satisfies Record<ApiKey, (keyof typeof securitySchemes)[]>;

function errorStatuses({ path, query, body }: Endpoint): number[] {
  const { invalid, unauthorized, not_found, too_large, unsupported_media_type, too_many, unavailable } = failureStatus;
  const always = [invalid, unauthorized, too_many, unavailable];
  // Path, query and body can each name something that does not exist.
  const names = path.includes(":") || query !== undefined || body !== undefined;
  return [...always, ...(names ? [not_found] : []), ...(body === undefined ? [] : [too_large, unsupported_media_type])];
}
