import { type Static, Type } from "@sinclair/typebox";
import { type PlaneEndpoint, planeEndpoint } from "./plane-endpoint.ts";

const strict = { additionalProperties: false };
const short = (description: string) => Type.String({ minLength: 1, maxLength: 500, description });
const optional = (description: string) => Type.Optional(Type.String({ maxLength: 500, description }));

/** Where lines go, by `type`. */
export const DrainTarget = Type.Union([
  Type.Object(
    {
      type: Type.Literal("http"),
      url: Type.String({
        minLength: 1,
        maxLength: 2_000,
        description: "gets a POST with JSON lines; any 2xx is an acknowledgement",
      }),
      headers: Type.Optional(
        Type.Record(Type.String({ pattern: "^[A-Za-z0-9-]{1,100}$" }), short("value"), {
          description: "sent with each request; kept secret",
        }),
      ),
    },
    strict,
  ),
  Type.Object(
    {
      type: Type.Literal("syslog"),
      host: short("name or address"),
      port: Type.Integer({ minimum: 1, maximum: 65_535 }),
      ca: Type.Optional(
        Type.String({
          maxLength: 20_000,
          description: "PEM of the authority of its certificate (default: those of this machine)",
        }),
      ),
      tls: Type.Optional(
        Type.Boolean({ description: "TLS with a certificate that this machine trusts (default true)" }),
      ),
    },
    strict,
  ),
  Type.Object(
    {
      type: Type.Literal("s3"),
      bucket: short("name of the bucket"),
      endpoint: optional("https://HOST of storage that is compatible with S3 (default: AWS)"),
      region: optional("region (default us-east-1)"),
      prefix: optional("what the names of the objects begin with"),
      access_key_id: short("id of the access key"),
      secret_access_key: short("the access key"),
    },
    strict,
  ),
]);
export type DrainTarget = Static<typeof DrainTarget>;

export const DrainBody = Type.Object(
  {
    target: DrainTarget,
    apps: Type.Optional(
      Type.Array(Type.String({ maxLength: 200 }), {
        maxItems: 50,
        description: "SCOPE or SCOPE/NAME with *: only these apps",
      }),
    ),
    level: Type.Optional(Type.String({ description: "only this level and above" })),
  },
  strict,
);
export type DrainBody = Static<typeof DrainBody>;

export const Drain = Type.Object({
  name: Type.String(),
  type: Type.String(),
  target: Type.String({ description: "where it leads to, without its secrets" }),
  apps: Type.Array(Type.String()),
  level: Type.Optional(Type.String()),
  created_at: Type.String(),
  delivered_lines: Type.Integer(),
  delivered_until: Type.String({ description: "every line before this time has been delivered" }),
  state: Type.String({ description: "waiting for lines, behind, or failing" }),
  failures: Type.Integer({ description: "attempts in a row that failed" }),
  refused_lines: Type.Integer({ description: "lines that the other side did not take, and that were left out" }),
  last_refused: Type.Optional(
    Type.Object({
      at: Type.String(),
      app: Type.String({ description: "SCOPE/NAME" }),
      result: Type.String({ description: "what the other side answered" }),
    }),
  ),
  oldest_waiting_at: Type.Optional(Type.String({ description: "time of the oldest line that waits" })),
  last_error: Type.Optional(Type.String()),
  next_at: Type.Optional(Type.String({ description: "of the next attempt, after a failure" })),
});
export type Drain = Static<typeof Drain>;

const drainsPath = "/logs/drains";

export const listDrains = planeEndpoint({
  method: "GET",
  path: drainsPath,
  scope: "admin",
  summary: "Where lines are sent to, how far, and what went wrong",
  data: Type.Object({ drains: Type.Array(Drain) }),
});

export const putDrain = planeEndpoint({
  method: "PUT",
  path: `${drainsPath}/:name`,
  scope: "admin",
  summary: "Makes a drain, which begins with the lines from now on, or replaces it, which goes on where it was",
  body: DrainBody,
  data: Drain,
});

export const deleteDrain = planeEndpoint({
  method: "DELETE",
  path: `${drainsPath}/:name`,
  scope: "admin",
  summary: "Deletes a drain",
  data: Drain,
});

export const testDrain = planeEndpoint({
  method: "POST",
  path: `${drainsPath}/:name/test`,
  scope: "admin",
  summary: "Sends one test line now and answers with what came of it",
  data: Type.Object({ delivered: Type.Boolean(), result: Type.String() }),
});

export const drainEndpoints: PlaneEndpoint[] = [listDrains, putDrain, deleteDrain, testDrain];
