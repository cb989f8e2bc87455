import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { Severity } from "./alerts.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

/** What may have begun a trouble, the likeliest first. */
export const Cause = Type.Object({
  kind: Type.String({ description: "deploy, config, change, death or unknown" }),
  text: Type.String(),
  at: Type.Optional(Type.String()),
  ref: Type.Optional(Type.String({ description: "id of the release" })),
});
export type Cause = Static<typeof Cause>;

export const Incident = Type.Object({
  id: Type.String(),
  scope: Type.Optional(Type.String({ description: "without it, it is about the server" })),
  name: Type.Optional(Type.String()),
  title: Type.String(),
  severity: Severity,
  state: Type.Union([Type.Literal("open"), Type.Literal("over")]),
  from: Type.String(),
  to: Type.Optional(Type.String()),
  seconds: Type.Integer({ description: "how long it lasted, until now while it is open" }),
  down_seconds: Type.Integer({ description: "time in which no replica was ready" }),
  failed_requests: Type.Integer({
    description: "requests that failed while no replica was ready, as the ingress counted",
  }),
  alerts: Type.Array(
    Type.Object({
      id: Type.String(),
      rule: Type.String(),
      severity: Severity,
      title: Type.String(),
      fired_at: Type.String(),
      resolved_at: Type.Optional(Type.String()),
    }),
  ),
  causes: Type.Array(Cause),
});
export type Incident = Static<typeof Incident>;

/** One thing that happened. */
export const TimelineEntry = Type.Object({
  at: Type.String(),
  type: Type.Union(
    [
      "alert",
      "resolved",
      "change",
      "deploy",
      "failed_deploy",
      "death",
      "run",
      "down",
      "up",
      "requests",
      "log",
      "metric",
    ].map((type) => Type.Literal(type)),
  ),
  text: Type.String(),
  ref: Type.Optional(Type.String({ description: "id of the release, alert or run" })),
  bad: Type.Optional(Type.Literal(true)),
});
export type TimelineEntry = Static<typeof TimelineEntry>;

export const Timeline = Type.Object({
  scope: Type.String(),
  name: Type.String(),
  from: Type.String(),
  to: Type.String(),
  entries: Type.Array(TimelineEntry, { description: "oldest first" }),
  causes: Type.Array(Cause),
  next: Type.Array(Type.String(), { description: "commands to type" }),
  missing: Type.Array(Type.String(), { description: "what could not be asked for, and why" }),
});
export type Timeline = Static<typeof Timeline>;

export const listIncidents = planeEndpoint({
  method: "GET",
  path: "/incidents",
  scope: "read",
  summary: "Incidents: the alerts and down times of one app that are close in time, newest first",
  query: Type.Object({
    scope: Text("exact scope"),
    name: Text("exact name"),
    since: Text("how far back, for example 7d (default 30d)"),
    limit: Text("at most this many (default 50, at most 500)"),
  }),
  data: Type.Object({ incidents: Type.Array(Incident) }),
});

export const getIncident = planeEndpoint({
  method: "GET",
  path: "/incidents/:id",
  scope: "read",
  summary: "One incident with its timeline",
  data: Type.Object({ incident: Incident, timeline: Type.Optional(Timeline) }),
});

export const appWhy = planeEndpoint({
  method: "GET",
  path: "/apps/:scope/:name/why",
  scope: "read",
  summary: "One timeline of an app: alerts, deploys, changes, deaths, requests and lines, up to its last trouble",
  query: Type.Object({
    kind: Text("kind, where several have the name"),
    at: Text("a moment to explain, RFC 3339 (default: the last trouble)"),
    minutes: Text("how far before it to begin (default 30, at most 1440)"),
  }),
  data: Timeline,
});

const Spend = Type.Object({
  from: Type.String(),
  to: Type.Optional(Type.String()),
  seconds: Type.Integer(),
  cause: Type.String({ description: "deploy, config, change, death or unknown" }),
  text: Type.String(),
  ref: Type.Optional(Type.String()),
  failed_requests: Type.Integer(),
});

/** How much an app may be down in a month, and what was spent of it. */
export const Budget = Type.Object({
  scope: Type.String(),
  name: Type.String(),
  month: Type.String({ description: "2026-01, UTC" }),
  target_percent: Type.Number(),
  target_is_default: Type.Boolean(),
  allowed_seconds: Type.Integer(),
  spent_seconds: Type.Integer(),
  left_seconds: Type.Integer({ description: "0 or less: the budget is spent" }),
  state: Type.Union([Type.Literal("ok"), Type.Literal("low"), Type.Literal("spent")], {
    description: "low: less than a quarter is left",
  }),
  available_percent: Type.Number({ description: "of the part of the month that is over" }),
  spends: Type.Array(Spend, { description: "the longest first" }),
});
export type Budget = Static<typeof Budget>;

const month = Text("2026-01, UTC (default: this month)");
const budgetsPath = "/budgets";

export const listBudgets = planeEndpoint({
  method: "GET",
  path: budgetsPath,
  scope: "read",
  summary: "Survival budget of each app in a month: how long it may be down, and what was spent",
  query: Type.Object({ month }),
  data: Type.Object({ budgets: Type.Array(Budget) }),
});

export const getBudget = planeEndpoint({
  method: "GET",
  path: `${budgetsPath}/:scope/:name`,
  scope: "read",
  summary: "Survival budget of one app in a month, with what it was spent on",
  query: Type.Object({ month }),
  data: Budget,
});

export const BudgetBody = Type.Object(
  {
    target_percent: Type.Union([Type.Number({ minimum: 0, maximum: 100 }), Type.Null()], {
      description: "how much of a month the app is meant to be up; null: the default",
    }),
  },
  { additionalProperties: false },
);

export const putBudget = planeEndpoint({
  method: "PUT",
  path: `${budgetsPath}/:scope/:name`,
  scope: "actions",
  summary: "Sets how available an app is meant to be",
  body: BudgetBody,
  data: Budget,
});

export const incidentEndpoints = [listIncidents, getIncident, appWhy, listBudgets, getBudget, putBudget];
