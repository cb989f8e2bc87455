import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

const severities = ["critical", "warning", "info"] as const;
export const Severity = Type.Union(severities.map((severity) => Type.Literal(severity)));
export type Severity = Static<typeof Severity>;

/** What happened around an alert, so that a person on a phone need not look it up. */
export const AlertWhy = Type.Object({
  changes: Type.Array(Type.String(), { description: "deploys and config changes of the hour before, newest first" }),
  lines: Type.Array(Type.String(), { description: "the last lines of output of the app" }),
  next: Type.Array(Type.String(), { description: "commands to type" }),
  began: Type.Optional(
    Type.String({ description: "the deploy or change of config before it that is the likeliest cause" }),
  ),
});
export type AlertWhy = Static<typeof AlertWhy>;

export const Alert = Type.Object({
  id: Type.String(),
  rule: Type.String(),
  severity: Severity,
  state: Type.Union([Type.Literal("pending"), Type.Literal("firing"), Type.Literal("resolved")], {
    description: "pending: the condition holds, but not yet as long as the rule's `for`",
  }),
  title: Type.String({ description: "at most 80 characters" }),
  detail: Type.String(),
  labels: Type.Record(Type.String(), Type.String(), {
    description: "what it is about: scope, name, kind, host, mount",
  }),
  value: Type.Optional(Type.Number()),
  since: Type.String({ description: "when the condition began" }),
  fired_at: Type.Optional(Type.String()),
  resolved_at: Type.Optional(Type.String()),
  acknowledged: Type.Optional(
    Type.Object({ by: Type.String(), at: Type.String(), note: Type.Optional(Type.String()) }),
  ),
  silenced_by: Type.Optional(Type.String({ description: "id of the silence that holds its messages back" })),
  flapping: Type.Optional(Type.Literal(true, { description: "it fired several times within an hour" })),
  sent_at: Type.Optional(Type.String({ description: "when its first message went to the channels" })),
  why: Type.Optional(AlertWhy),
});
export type Alert = Static<typeof Alert>;

export const alertsPath = "/alerts";

export const listAlerts = planeEndpoint({
  method: "GET",
  path: alertsPath,
  scope: "read",
  summary: "Alerts that fire or are pending, the most severe first",
  query: Type.Object({ scope: Text("exact scope"), name: Text("exact name") }),
  data: Type.Object({
    alerts: Type.Array(Alert),
    blind: Type.Array(Type.Object({ rule: Type.String(), problem: Type.String() }), {
      description: "rules that cannot be evaluated right now, and why; their alerts keep their state",
    }),
    evaluated_at: Type.Optional(Type.String()),
  }),
});

export const listAlertHistory = planeEndpoint({
  method: "GET",
  path: `${alertsPath}/history`,
  scope: "read",
  summary: "Alerts that fired, newest first",
  query: Type.Object({
    scope: Text("exact scope"),
    name: Text("exact name"),
    rule: Text("exact rule"),
    before: Text("id of the last one that was seen: older ones"),
    limit: Text("at most this many (default 50, at most 500)"),
  }),
  data: Type.Object({ alerts: Type.Array(Alert) }),
});

export const getAlert = planeEndpoint({
  method: "GET",
  path: `${alertsPath}/:id`,
  scope: "read",
  summary: "One alert with its why: what changed before, the last lines, what to type",
  data: Alert,
});

const noteMax = 500;

export const Acknowledgement = Type.Object(
  { note: Type.Optional(Type.String({ maxLength: noteMax, description: "why, in a line" })) },
  { additionalProperties: false },
);

export const acknowledgeAlert = planeEndpoint({
  method: "POST",
  path: `${alertsPath}/:id/acknowledge`,
  scope: "actions",
  summary: "Says that somebody works on it: no more reminders, the end is still reported",
  body: Acknowledgement,
  data: Alert,
});
