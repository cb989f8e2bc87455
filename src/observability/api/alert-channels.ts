import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { alertsPath, Severity } from "./alerts.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

const strict = { additionalProperties: false };
const urlBytesMax = 2_000;
const url = (description: string) => Type.String({ minLength: 1, maxLength: urlBytesMax, description });
const secretText = (description: string) => Type.String({ minLength: 1, maxLength: 500, description });

/** Where messages go, by `type`. */
export const ChannelTarget = Type.Union([
  Type.Object(
    {
      type: Type.Literal("webhook"),
      url: url("gets a POST with JSON"),
      secret: Type.Optional(secretText("signs the calls, instead of the secret of the server")),
    },
    strict,
  ),
  Type.Object(
    {
      type: Type.Literal("mail"),
      to: Type.Array(Type.String({ minLength: 3, maxLength: 320 }), { minItems: 1, maxItems: 20 }),
    },
    strict,
  ),
  Type.Object({ type: Type.Literal("slack"), url: url("address of the incoming webhook") }, strict),
  Type.Object({ type: Type.Literal("discord"), url: url("address of the webhook") }, strict),
  Type.Object(
    {
      type: Type.Literal("telegram"),
      token: secretText("of the bot"),
      chat: Type.String({ minLength: 1, maxLength: 100, description: "id of the chat, or @channel" }),
      url: Type.Optional(url("of the Bot API (default https://api.telegram.org)")),
    },
    strict,
  ),
  Type.Object(
    {
      type: Type.Literal("ntfy"),
      url: url("server and topic: https://ntfy.sh/TOPIC"),
      token: Type.Optional(secretText("access token")),
    },
    strict,
  ),
  Type.Object(
    {
      type: Type.Literal("pagerduty"),
      key: secretText("routing key of the integration"),
      url: Type.Optional(url("of the events API (default https://events.pagerduty.com/v2/enqueue)")),
    },
    strict,
  ),
]);
export type ChannelTarget = Static<typeof ChannelTarget>;

export const channelTypes = ["webhook", "mail", "slack", "discord", "telegram", "ntfy", "pagerduty"] as const;

export const ChannelBody = Type.Object(
  {
    target: ChannelTarget,
    min_severity: Type.Optional(Severity),
    apps: Type.Optional(
      Type.Array(Type.String({ maxLength: 130 }), { maxItems: 100, description: "SCOPE/NAME with *: only these apps" }),
    ),
    lines: Type.Optional(
      Type.Boolean({ description: "messages carry the last lines of output of the app (default true)" }),
    ),
  },
  strict,
);
export type ChannelBody = Static<typeof ChannelBody>;

export const Channel = Type.Object({
  name: Type.String(),
  type: Type.String(),
  target: Type.String({ description: "where it leads to, without its secrets" }),
  min_severity: Severity,
  apps: Type.Array(Type.String()),
  lines: Type.Boolean(),
  created_at: Type.String(),
  last: Type.Optional(Type.Object({ at: Type.String(), status: Type.String(), result: Type.Optional(Type.String()) })),
});
export type Channel = Static<typeof Channel>;

export const AlertDelivery = Type.Object({
  id: Type.String({ description: "the same for every attempt" }),
  channel: Type.String(),
  title: Type.String(),
  alerts: Type.Array(Type.String(), { description: "ids of the alerts that it reports" }),
  status: Type.Union([Type.Literal("waiting"), Type.Literal("delivered"), Type.Literal("dropped")]),
  attempts: Type.Integer(),
  created_at: Type.String(),
  next_at: Type.Optional(Type.String({ description: "while it waits" })),
  result: Type.Optional(Type.String({ description: "of the last attempt" })),
});
export type AlertDelivery = Static<typeof AlertDelivery>;

const channelsPath = `${alertsPath}/channels`;

export const listChannels = planeEndpoint({
  method: "GET",
  path: channelsPath,
  scope: "read",
  summary: "Where alerts are sent to, without secrets",
  data: Type.Object({ channels: Type.Array(Channel) }),
});

export const putChannel = planeEndpoint({
  method: "PUT",
  path: `${channelsPath}/:name`,
  scope: "admin",
  summary: "Makes a channel, or replaces it",
  body: ChannelBody,
  data: Channel,
});

export const deleteChannel = planeEndpoint({
  method: "DELETE",
  path: `${channelsPath}/:name`,
  scope: "admin",
  summary: "Deletes a channel with what still waits for it",
  data: Channel,
});

export const testChannel = planeEndpoint({
  method: "POST",
  path: `${channelsPath}/:name/test`,
  scope: "actions",
  summary: "Sends a test message now and answers with what came of it",
  data: AlertDelivery,
});

export const listAlertDeliveries = planeEndpoint({
  method: "GET",
  path: `${alertsPath}/deliveries`,
  scope: "read",
  summary: "Messages of the alerts and what became of them, newest first",
  query: Type.Object({
    channel: Text("exact channel"),
    limit: Text("at most this many (default 50, at most 500)"),
  }),
  data: Type.Object({ deliveries: Type.Array(AlertDelivery) }),
});
