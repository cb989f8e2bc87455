import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { Activity } from "./activity.ts";
import { App, AppProblem, AppRef, AppTraffic, AppUsage } from "./app-model.ts";
import { HostStrip } from "./apps.ts";
import { Operation } from "./operations.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

/** What a client may listen to. Operations come with `state`; lines of logs have a stream of their own. */
export const topics = ["state", "metrics", "events", "alerts"] as const;
export type Topic = (typeof topics)[number];

/** Whether what follows goes on from where the client was, or begins again. */
const Hello = Type.Object({
  at: Type.String(),
  topics: Type.Array(Type.String()),
  resumed: Type.Boolean({ description: "everything since Last-Event-ID follows; false: a snapshot follows" }),
  version: Type.String({ description: "of the server" }),
});

/** What the client holds is not true any more; a snapshot follows at once. */
const Reset = Type.Object({
  reason: Type.String({
    description: "gap: too much happened while it was away; slow: it read too slowly; server: another server",
  }),
});

const Snapshot = Type.Object({
  at: Type.String(),
  engine_up: Type.Boolean(),
  apps: Type.Array(App),
  problems: Type.Array(AppProblem, { description: "of all apps and of the server, the worst first" }),
});

/** Figures of one moment; apps without any are left out. */
export const MetricsTick = Type.Object({
  at: Type.String(),
  host: Type.Optional(HostStrip),
  apps: Type.Array(
    Type.Object({ ...AppRef.properties, usage: Type.Optional(AppUsage), traffic: Type.Optional(AppTraffic) }),
  ),
});
export type MetricsTick = Static<typeof MetricsTick>;

/** The name of each server-sent event, and the shape of its data. `id` is what Last-Event-ID takes. */
const streamEvents = {
  hello: Hello,
  reset: Reset,
  snapshot: Snapshot,
  /** An app is another than before, or new. Its sparks are left out: `metrics` tells how they go on. */
  app: App,
  /** An app is gone. */
  gone: AppRef,
  /** All problems, whenever one comes or goes. */
  problems: Type.Object({ engine_up: Type.Boolean(), problems: Type.Array(AppProblem) }),
  operation: Operation,
  metrics: MetricsTick,
  event: Activity,
  alert: Type.Unknown(),
  /** Nothing changed for 5 s, and the server is there. */
  ping: Type.Object({}),
} as const;
export type StreamEvents = { [K in keyof typeof streamEvents]: Static<(typeof streamEvents)[K]> };

export const openStream = planeEndpoint({
  method: "GET",
  path: "/stream",
  scope: "read",
  summary:
    "Everything that changes, as server-sent events; after 5 s without any, the event ping tells that the server is there",
  query: Type.Object({
    topics: Text(`what to listen to, with commas between: ${topics.join(", ")} (default state)`),
    app: Text("only of SCOPE or SCOPE/NAME"),
    last_event_id: Text("for clients that cannot send the header Last-Event-ID"),
  }),
  stream: "text/event-stream",
});
