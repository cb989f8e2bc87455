import { type Static, Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { OneOf } from "../../base/wire/shape.ts";
import { Message, NoBackup } from "../../orchestration/api/releases.ts";
import { AppRef } from "./app-model.ts";
import { Kind } from "./apps.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

/** A change that was begun through this plane, and how far it is. */
export const Operation = Type.Object({
  id: Type.String(),
  type: Type.String({
    description:
      "restart, rollback, stop, start, scale, freeze, pause, resume, promote, abort, wake, apply, or PLUGIN:COMMAND",
  }),
  app: AppRef,
  state: OneOf(["running", "succeeded", "failed"], "running until all replicas are as asked for"),
  text: Type.String({ description: "how far it is, or how it ended, in a line" }),
  actor: Type.String(),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  release: Type.Optional(Type.String({ description: "the release that it made" })),
  run_id: Type.Optional(Type.String({ description: "of a plugin's command: its run among GET /plugins/runs" })),
  output: Type.Optional(Type.String({ description: "of a plugin's command: what it answered" })),
});
export type Operation = Static<typeof Operation>;

const Begun = Type.Object({ operation: Operation });

const begun = { 202: "Begun; follow the operation" };

/** An action on one app. */
const action = (name: string, summary: string) => ({
  method: "POST" as const,
  path: `/apps/:scope/:name/${name}`,
  scope: "actions" as const,
  summary,
  data: Begun,
  alsoAnswers: begun,
});

const replica = Text("only this replica (its id); all of them without it");

export const restartApp = planeEndpoint({
  ...action("restart", "Replace the replicas one after the other; those that were stopped come back"),
  query: Type.Object({
    kind: Kind,
    pull: Flag("ask the registry for the image first (default false)"),
    no_backup: NoBackup,
  }),
});

export const stopApp = planeEndpoint({
  ...action("stop", "Stop replicas; they stay stopped until a start"),
  query: Type.Object({ kind: Kind, replica, freeze: Flag("keep them stopped (default true)") }),
});

export const freezeApp = planeEndpoint({
  ...action("freeze", "Stop replicas and keep them stopped until a start"),
  query: Type.Object({ kind: Kind, replica }),
});

export const startApp = planeEndpoint({
  ...action("start", "Bring stopped replicas back; of an app that is asleep, wake it"),
  query: Type.Object({ kind: Kind, replica }),
});

export const scaleApp = planeEndpoint({
  ...action("scale", "Write the count of replicas; 409 where an autoscaler decides it"),
  query: Type.Object({ kind: Kind, replicas: Text("how many (required); 0 stops them all") }),
});

export const rollbackApp = planeEndpoint({
  ...action("rollback", "Put the spec of a past release back; without release_id the newest good one that differs"),
  query: Type.Object({ kind: Kind, release_id: Text("release to return to"), no_backup: NoBackup, message: Message }),
});

export const pauseApp = planeEndpoint({
  ...action("pause", "Let a canary stay at its step; 409 when no step is under way"),
  query: Type.Object({ kind: Kind }),
});

export const resumeApp = planeEndpoint({
  ...action("resume", "Go on with a canary that waits; 409 when it does not wait"),
  query: Type.Object({ kind: Kind }),
});

export const promoteApp = planeEndpoint({
  ...action("promote", "Skip the steps of a canary that are left; 409 when no step is under way"),
  query: Type.Object({ kind: Kind }),
});

export const abortApp = planeEndpoint({
  ...action("abort", "End the release under way and go back; 409 when there is none"),
  query: Type.Object({ kind: Kind }),
});

export const getAppOperation = planeEndpoint({
  method: "GET",
  path: "/operations/:id",
  scope: "read",
  summary: "How far a change is that was begun through this plane",
  data: Operation,
});

export const listOperations = planeEndpoint({
  method: "GET",
  path: "/operations",
  scope: "read",
  summary: "Changes that were begun through this plane since the server started, newest first; the last ones are kept",
  query: Type.Object({ app: Text("SCOPE or SCOPE/NAME") }),
  data: Type.Object({ operations: Type.Array(Operation) }),
});
