import { type Static, Type } from "@sinclair/typebox";
import { alertsPath, Severity } from "./alerts.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

/** What the server itself knows, without any metric. */
const conditions = [
  "down",
  "not_ready",
  "crash_loop",
  "out_of_memory",
  "deploy_failed",
  "run_failed",
  "run_missed",
  "certificate",
  "backup",
  "engine",
  "ingress",
  "disk_full",
  "drain",
] as const;
export type Condition = (typeof conditions)[number];

const aggregates = ["avg", "min", "max", "sum", "rate", "p50", "p95", "p99"] as const;
export type Aggregate = (typeof aggregates)[number];

const strict = { additionalProperties: false };
const duration = (description: string) => Type.String({ description, maxLength: 20 });

const PlatformWatch = Type.Object(
  {
    type: Type.Literal("platform"),
    condition: Type.Union(conditions.map((condition) => Type.Literal(condition))),
    limit: Type.Optional(
      Type.Number({
        description: "certificate and backup: days; disk_full: percent used; drain: minutes; others take none",
      }),
    ),
  },
  strict,
);

const RequestWatch = Type.Object(
  {
    type: Type.Literal("requests"),
    failed_percent: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 100,
        description:
          "share of failed requests above this: of the last minute, or of the last five where it had fewer than 20; " +
          "fewer than 5 failed ones are never told",
      }),
    ),
    failed_percent_of: Type.Optional(
      Type.Record(Type.String({ maxLength: 511 }), Type.Number({ minimum: 0, maximum: 100 }), {
        description: "by SCOPE/NAME: another share for these apps",
        maxProperties: 1_000,
      }),
    ),
    p99_ms: Type.Optional(Type.Number({ minimum: 0, description: "99th percentile of the response time above this" })),
    min_requests: Type.Optional(
      Type.Integer({
        minimum: 1,
        description:
          "requests in the last minute below which it says nothing (default 20 for p99_ms, none for failed_percent)",
      }),
    ),
  },
  strict,
);

const MetricWatch = Type.Object(
  {
    type: Type.Literal("metric"),
    metric: Type.String({ minLength: 1, maxLength: 200 }),
    agg: Type.Optional(
      Type.Union(
        aggregates.map((name) => Type.Literal(name)),
        { description: "default avg" },
      ),
    ),
    over: Type.Optional(duration("span that is aggregated (default 5m)")),
    group_by: Type.Optional(
      Type.Array(Type.String({ maxLength: 63 }), { maxItems: 5, description: "one alert for each" }),
    ),
    above: Type.Optional(Type.Number()),
    below: Type.Optional(Type.Number()),
  },
  strict,
);

const LogWatch = Type.Object(
  {
    type: Type.Literal("log"),
    pattern: Type.String({ minLength: 1, maxLength: 500, description: "text that lines contain" }),
    level: Type.Optional(Type.String({ maxLength: 20 })),
    more_than: Type.Optional(Type.Integer({ minimum: 0, description: "lines in the span (default 0)" })),
    within: Type.Optional(duration("the span (default 5m)")),
  },
  strict,
);

export const Watch = Type.Union([PlatformWatch, RequestWatch, MetricWatch, LogWatch]);
export type Watch = Static<typeof Watch>;

/** What a caller writes of a rule. */
export const RuleBody = Type.Object(
  {
    watch: Watch,
    severity: Type.Optional(Severity),
    for: Type.Optional(duration("how long the condition must hold before it fires (default 1m)")),
    keep: Type.Optional(duration("how long all must be well before it ends (default 2m)")),
    title: Type.Optional(
      Type.String({ maxLength: 200, description: "of its messages; {label}, {value} and {detail} are filled in" }),
    ),
    apps: Type.Optional(
      Type.Array(Type.String({ maxLength: 130 }), {
        maxItems: 100,
        description: "SCOPE/NAME with * for any part: only these apps",
      }),
    ),
    group_by: Type.Optional(
      Type.Array(Type.String({ maxLength: 63 }), {
        maxItems: 5,
        description: "labels: alerts that share them go out in one message (default: none, so all of the rule)",
      }),
    ),
    channels: Type.Optional(
      Type.Array(Type.String({ maxLength: 63 }), { maxItems: 20, description: "only to these (default: all)" }),
    ),
    enabled: Type.Optional(Type.Boolean({ description: "default true" })),
  },
  strict,
);
export type RuleBody = Static<typeof RuleBody>;

export const Rule = Type.Composite([
  Type.Object({
    name: Type.String(),
    origin: Type.Union([Type.Literal("default"), Type.Literal("changed"), Type.Literal("own")], {
      description: "changed: of the default pack, with changes of an operator",
    }),
    firing: Type.Integer({ description: "alerts of it that fire now" }),
    problem: Type.Optional(Type.String({ description: "why it cannot be evaluated right now" })),
  }),
  Type.Required(Type.Pick(RuleBody, ["watch", "severity", "for", "keep", "enabled"])),
  Type.Pick(RuleBody, ["title", "apps", "group_by", "channels"]),
]);
export type Rule = Static<typeof Rule>;

export const listRules = planeEndpoint({
  method: "GET",
  path: `${alertsPath}/rules`,
  scope: "read",
  summary: "Rules of the alerts: the default pack and your own",
  data: Type.Object({ rules: Type.Array(Rule) }),
});

export const getRule = planeEndpoint({
  method: "GET",
  path: `${alertsPath}/rules/:name`,
  scope: "read",
  summary: "One rule",
  data: Rule,
});

export const putRule = planeEndpoint({
  method: "PUT",
  path: `${alertsPath}/rules/:name`,
  scope: "actions",
  summary: "Makes a rule, or replaces it; the name of a default rule changes that one",
  body: RuleBody,
  data: Rule,
});

export const deleteRule = planeEndpoint({
  method: "DELETE",
  path: `${alertsPath}/rules/:name`,
  scope: "actions",
  summary: "Deletes a rule; a changed default rule becomes as it was",
  data: Type.Object({ name: Type.String(), restored: Type.Boolean({ description: "it is the default rule again" }) }),
});
