import { type Static, Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { Condition } from "../../orchestration/api/describe.ts";
import { Manifest } from "../../orchestration/api/manifest.ts";
import { Canary } from "../../orchestration/api/rollouts.ts";
import { App, AppProblem, AppRef, ReleaseLine, Replica } from "./app-model.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

export const AppDetail = Type.Object({
  ...App.properties,
  replicas: Type.Array(Replica),
  conditions: Type.Array(Condition),
  canary: Type.Optional(Canary),
  frozen_ids: Type.Array(Type.String(), { description: "replicas that a person stopped" }),
  volumes: Type.Array(Type.String()),
  warnings: Type.Array(Type.String()),
  next_retry_at: Type.Optional(Type.String()),
  rollback_to: Type.Optional(Type.String({ description: "the release that a rollback goes back to" })),
  manifest: Manifest,
});
export type AppDetail = Static<typeof AppDetail>;

/** Kind of an app in a query: only needed where a deployment and a statefulset share a name. */
export const Kind = Text("deployment or statefulset; found by itself where only one has the name");

export const listApps = planeEndpoint({
  method: "GET",
  path: "/apps",
  scope: "read",
  summary: "Deployments and statefulsets with their state, problems, hosts, traffic and usage, the worst first",
  query: Type.Object({
    scope: Text("only of this scope"),
    state: Text("only in these states, with commas between"),
    sparks: Flag("with the lines of the last minutes (default true)"),
  }),
  data: Type.Object({ apps: Type.Array(App) }),
});

export const getApp = planeEndpoint({
  method: "GET",
  path: "/apps/:scope/:name",
  scope: "read",
  summary: "One app with its replicas, why they are not ready, its volumes and its manifest",
  query: Type.Object({ kind: Kind }),
  data: AppDetail,
});

/** A release, and whose it is. */
export const Deploy = Type.Object({ ...ReleaseLine.properties, app: AppRef });
export type Deploy = Static<typeof Deploy>;

/** What the machine uses as a whole. */
export const HostStrip = Type.Object({
  hostname: Type.String(),
  cpu_percent: Type.Number({ description: "100 is all cores" }),
  cores: Type.Integer(),
  load_1: Type.Number(),
  memory_used_bytes: Type.Integer(),
  memory_total_bytes: Type.Integer(),
  disk_used_bytes: Type.Integer(),
  disk_total_bytes: Type.Integer(),
  uptime_seconds: Type.Integer(),
});
export type HostStrip = Static<typeof HostStrip>;

export const Overview = Type.Object({
  at: Type.String(),
  server: Type.Object({ version: Type.String(), started_at: Type.String(), installation: Type.String() }),
  engine: Type.Object({ up: Type.Boolean(), since: Type.String(), error: Type.Optional(Type.String()) }),
  ingress: Type.Optional(Type.Object({ state: Type.String(), problem: Type.Optional(Type.String()) })),
  problems: Type.Array(AppProblem, { description: "of all apps and of the server, the worst first" }),
  problems_left_out: Type.Integer({ description: "how many more there are than the list shows" }),
  counts: Type.Record(Type.String(), Type.Integer(), { description: "apps by state" }),
  apps: Type.Array(App, { description: "the worst first" }),
  host: Type.Optional(HostStrip),
  deploys: Type.Array(Deploy, { description: "the last releases, newest first" }),
});
export type Overview = Static<typeof Overview>;

export const getOverview = planeEndpoint({
  method: "GET",
  path: "/overview",
  scope: "read",
  summary: "What needs attention, how each app is, the machine, and the last deploys",
  data: Overview,
});
