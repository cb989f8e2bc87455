import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { OneOf, Shape } from "../../base/wire/shape.ts";

const drillResults = ["proved", "started", "failed", "not_drilled"] as const;
export type DrillResult = (typeof drillResults)[number];

/** How the newest copies of an app did when they were tried. Times are ISO 8601. */
export const Drill = Type.Object({
  app: Type.String({ description: "scope/name" }),
  kind: Type.String(),
  running_since: Type.Optional(Type.String({ description: "a drill of it is under way, or waits for its turn" })),
  result: Type.Optional(
    OneOf(
      drillResults,
      "of the last drill that ended: proved by a check of the app's own, started where it has none; not_drilled: `why` it cannot be tried",
    ),
  ),
  why: Type.Optional(Type.String({ description: "of failed and not_drilled" })),
  started_at: Type.Optional(Type.String()),
  ended_at: Type.Optional(Type.String()),
  target: Type.Optional(Type.String({ description: "where the copy came from" })),
  copy_at: Type.Optional(Type.String({ description: "when the oldest copy that was restored was made" })),
  bytes: Type.Optional(Type.Integer({ description: "size of what was restored" })),
  recovery_point_seconds: Type.Optional(
    Type.Integer({ description: "age of that copy when the drill began: what a disaster would have cost" }),
  ),
  recovery_seconds: Type.Optional(
    Type.Number({ description: "from the start of the restore until the app was ready, or ran where it has no check" }),
  ),
  last_success_at: Type.Optional(Type.String({ description: "end of the last drill that proved or started the app" })),
  next_at: Type.Optional(Type.String({ description: "when the next drill is due" })),
});
export type Drill = Static<typeof Drill>;

/** The same, of an app that is known. */
export const AppDrill = Type.Omit(Drill, ["app", "kind"]);
export type AppDrill = Static<typeof AppDrill>;

export const DrillBody = Shape({
  scope: Type.Optional(Type.String({ maxLength: 100, description: "only apps of this scope" })),
  name: Type.Optional(Type.String({ maxLength: 100, description: "only this app, without the others of its scope" })),
});
export type DrillBody = Static<typeof DrillBody>;

const drillsPath = "/backups/drills";

export const beginDrill = endpoint({
  method: "POST",
  path: drillsPath,
  scope: "admin",
  summary:
    "Begin to restore the newest copies of protected apps into a place without a way out, and to start them there; each has a result that began at `since` or later when it has ended",
  body: DrillBody,
  data: Type.Object({ since: Type.String(), apps: Type.Array(Type.String()) }),
});

export const listDrills = endpoint({
  method: "GET",
  path: drillsPath,
  scope: "host:read",
  summary:
    "The last drill of each protected app, newest first, with the recovery point and the recovery time that it measured",
  data: Type.Object({ drills: Type.Array(Drill) }),
});

export const drillEndpoints = [beginDrill, listDrills];
