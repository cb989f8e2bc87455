import { type Static, Type } from "@sinclair/typebox";
import { OneOf } from "../../base/wire/shape.ts";
import { DiskUse, planPrune, prune } from "../../orchestration/api/disk.ts";
import { SystemReport } from "../../orchestration/api/health.ts";
import { type PlaneEndpoint, planeEndpoint } from "./plane-endpoint.ts";

const MountForecast = Type.Object({
  mount: Type.String(),
  used_bytes: Type.Integer(),
  total_bytes: Type.Integer({ description: "that programs can use" }),
  forecast: OneOf(
    ["history", "steady", "filling"],
    "history: less than a day of figures; steady: it is not full within a year; filling: see full_at",
  ),
  full_at: Type.Optional(Type.String({ description: "if it goes on as in the last 7 days" })),
});
export type MountForecast = Static<typeof MountForecast>;

const HostDisk = Type.Composite([DiskUse, Type.Object({ mounts: Type.Array(MountForecast) })]);
export type HostDisk = Static<typeof HostDisk>;

export const hostDisk = planeEndpoint({
  method: "GET",
  path: "/disk",
  scope: "host:read",
  summary: "What fills the disk, each volume with its app, and when each file system is full",
  data: HostDisk,
});

const ProxyReport = Type.Object({
  state: Type.String(),
  version: Type.Optional(Type.String()),
  problem: Type.Optional(Type.String()),
  listen: Type.Array(Type.String()),
});

const Setting = Type.Object({
  flag: Type.String({ description: "of berth serve" }),
  variable: Type.String({ description: "of the environment" }),
  value: Type.String({ description: "without secrets" }),
});

export const ServerReport = Type.Composite([
  SystemReport,
  Type.Object({
    uptime_seconds: Type.Integer(),
    proxy: Type.Optional(ProxyReport),
    settings: Type.Array(Setting),
    streams: Type.Integer({ description: "open streams of the observability plane" }),
  }),
]);
export type ServerReport = Static<typeof ServerReport>;

export const hostServer = planeEndpoint({
  method: "GET",
  path: "/server",
  scope: "host:read",
  summary: "The server itself, its container engine and its proxy",
  data: ServerReport,
});

export const diskEndpoints: PlaneEndpoint[] = [hostDisk, planPrune, prune, hostServer];
