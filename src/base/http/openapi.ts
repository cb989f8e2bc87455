import { idempotencyHeader } from "../wire/client.ts";
import type { TSchema } from "@sinclair/typebox";
import type { Endpoint } from "../wire/endpoint.ts";

export interface ApiInfo {
  title: string;
  version: string;
}

/** What one plane has of its own. */
interface Dialect {
  /** JSON schema of every answer that is not a success. */
  error: Json;
  /** Statuses an endpoint may answer with beside its own. */
  errorStatuses(endpoint: Endpoint): readonly number[];
  /** By name: the ways to say who asks. */
  securitySchemes?: Json;
  /** Names of those that open an endpoint. */
  security?(endpoint: Endpoint): readonly string[];
}

export type Json = Record<string, unknown>;

/** OpenAPI 3.1, derived from the endpoint values alone: TypeBox schemas are JSON Schema already. */
export function openapiDocument(info: ApiInfo, endpoints: readonly Endpoint[], dialect: Dialect): Json {
  const paths: Record<string, Json> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/:([^/]+)/g, "{$1}");
    paths[path] = { ...paths[path], [endpoint.method.toLowerCase()]: operation(endpoint, dialect) };
  }
  return {
    openapi: "3.1.0",
    info,
    servers: [{ url: "/", description: "The server that this document comes from" }],
    paths,
    components: {
      schemas: { Error: dialect.error },
      responses: { Error: errorAnswer },
      ...(dialect.securitySchemes === undefined ? {} : { securitySchemes: dialect.securitySchemes }),
    },
    // Who may ask is the listener's affair where no request says it.
    ...(dialect.security === undefined ? { security: [] } : {}),
  };
}

const errorAnswer = {
  description: "What went wrong and the way out",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

function operation(endpoint: Endpoint, dialect: Dialect): Json {
  const security = dialect.security?.(endpoint);
  const parameters = [
    ...pathParameters(endpoint.path),
    ...queryParameters(endpoint.query),
    ...(endpoint.once === true ? [keyParameter] : []),
  ];
  return {
    operationId: operationId(endpoint),
    summary: endpoint.summary,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(endpoint.body === undefined
      ? {}
      : {
          requestBody: {
            required: true,
            content: { [endpoint.bodyType ?? "application/json"]: { schema: endpoint.body } },
          },
        }),
    ...(security === undefined ? {} : { security: security.map((name) => ({ [name]: [] })) }),
    responses: responses(endpoint, dialect),
  };
}

/** `GET /pods/:name/ready` is `getPodsByNameReady`. */
function operationId({ method, path }: Endpoint): string {
  const words = path.replaceAll(/:/g, "by-").split(/[^a-zA-Z0-9]+/);
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function pathParameters(path: string): Json[] {
  return [...path.matchAll(/:([^/]+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

const keyParameter: Json = {
  name: idempotencyHeader,
  in: "header",
  required: false,
  description: "a UUID of your own: a request that comes again with it gets the answer of the first, for 24 hours",
  schema: { type: "string", maxLength: 128 },
};

/**
 * Most that are required are optional to the schema, because a missing one is answered with our own text; then the
 * description tells.
 */
function queryParameters(schema: TSchema | undefined): Json[] {
  return Object.entries<TSchema>(schema?.properties ?? {}).map(([name, { description, ...rest }]) => ({
    name,
    in: "query",
    required: schema?.required?.includes(name) === true || description?.includes("(required)") === true,
    description,
    schema: rest,
  }));
}

function responses(endpoint: Endpoint, { errorStatuses }: Dialect): Json {
  const content = { "application/json": { schema: answerSchema(endpoint) } };
  const stream = endpoint.stream === undefined ? content : { [endpoint.stream]: { schema: { type: "string" } } };
  const answers: Json = { 200: { description: "Done", content: stream } };
  for (const status of errorStatuses(endpoint)) answers[status] = { $ref: "#/components/responses/Error" };
  for (const [status, description] of Object.entries(endpoint.alsoAnswers ?? {})) {
    answers[status] = { description, content };
  }
  return { ...answers, default: { $ref: "#/components/responses/Error" } };
}

function answerSchema({ data, flat }: Endpoint): unknown {
  if (flat === true) return data;
  return {
    type: "object",
    required: data === undefined ? ["status"] : ["status", "data"],
    properties: { status: { const: "ok" }, ...(data === undefined ? {} : { data }) },
  };
}
