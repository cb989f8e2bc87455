import { type Static, Type } from "@sinclair/typebox";
import { planeEndpoint } from "./plane-endpoint.ts";

const Version = Type.Object({ version: Type.String() });

/** The machine and the server (the shape is the one that known web UIs of this interface read). */
export const SystemFacts = Type.Object({
  host: Type.Object({
    hostname: Type.String(),
    kernel: Type.String(),
    uptime_seconds: Type.Integer(),
    boot_time: Type.String(),
  }),
  cpu: Type.Object({
    percent: Type.Number({ description: "100 is all cores, over the last seconds" }),
    cores: Type.Integer(),
    load_1: Type.Number(),
    load_5: Type.Number(),
    load_15: Type.Number(),
  }),
  mem: Type.Object({ used_bytes: Type.Integer(), total_bytes: Type.Integer(), available_bytes: Type.Integer() }),
  disk: Type.Array(Type.Object({ mount: Type.String(), used_bytes: Type.Integer(), total_bytes: Type.Integer() }), {
    description: "the root first",
  }),
  berth: Version,
  voodu: Type.Object(Version.properties, { description: "the same, under the name that known web UIs read" }),
  plugins: Type.Array(
    Type.Object({
      name: Type.String(),
      version: Type.Optional(Type.String()),
      aliases: Type.Optional(Type.Array(Type.String())),
    }),
  ),
});
export type SystemFacts = Static<typeof SystemFacts>;

export const planeSystem = planeEndpoint({
  method: "GET",
  path: "/system",
  scope: "read",
  summary: "The machine: uptime, CPU, memory, disks; the version of the server and its plugins",
  data: SystemFacts,
});
