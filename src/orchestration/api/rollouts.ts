import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";
import { oneByName } from "./target.ts";

const Figures = Type.Object({
  requests: Type.Integer(),
  failed: Type.Integer({ description: "status 500 and above, and answers that broke off" }),
  p99_ms: Type.Optional(Type.Integer()),
});

/** How far a canary release is; `status.canary` of `describe` as well. Times are ISO 8601, shares from 0 to 1. */
export const Canary = Type.Object({
  release: Type.String(),
  state: Type.Union(
    [
      Type.Literal("starting"),
      Type.Literal("waiting"),
      Type.Literal("paused"),
      Type.Literal("replacing"),
      Type.Literal("kept"),
    ],
    {
      description:
        "starting: new replicas of the step come up; waiting: the time of the step passes; paused: until somebody " +
        "resumes; replacing: all steps have passed; kept: the old replicas stay without requests",
    },
  ),
  text: Type.String({ description: "the same for people, without what changes by time alone" }),
  step: Type.Integer({ description: "from 1; one above steps when all have passed" }),
  steps: Type.Array(
    Type.Object({
      share: Type.Number(),
      pause_seconds: Type.Optional(Type.Number({ description: "left out: until somebody resumes" })),
    }),
  ),
  share: Type.Number({ description: "of the requests that the new replicas get now" }),
  promoted: Type.Optional(Type.Boolean()),
  left_seconds: Type.Optional(Type.Number({ description: "of the step" })),
  kept_until: Type.Optional(Type.String()),
  replicas: Type.Object({ new: Type.Integer(), old: Type.Integer() }, { description: "that run" }),
  traffic: Type.Optional(
    Type.Object(
      { seconds: Type.Integer(), new: Figures, old: Figures },
      { description: "requests to the replicas that run, over the time of the guard; left out without an ingress" },
    ),
  ),
});
export type Canary = Static<typeof Canary>;

const Rollout = Type.Object({
  kind: Type.String(),
  scope: Type.String(),
  name: Type.String(),
  release: Type.Optional(Type.String({ description: "the newest one" })),
  status: Type.Optional(Type.String({ description: "of the release: pending, running, succeeded or failed" })),
  error: Type.Optional(Type.String({ description: "why the release failed" })),
  message: Type.Optional(Type.String({ description: "what the resource waits for" })),
  canary: Type.Optional(Canary),
});
export type Rollout = Static<typeof Rollout>;

const Query = Type.Object({
  kind: Text("deployment or statefulset; found by itself, 400 when both exist"),
  ...oneByName,
});

export const getRollout = endpoint({
  method: "GET",
  path: "/rollouts",
  summary: "How far the newest release of a resource is, with the steps of a canary",
  query: Query,
  data: Rollout,
});

export const pauseRollout = endpoint({
  method: "POST",
  path: "/rollouts/pause",
  once: true,
  summary: "Let a canary stay at its step until somebody resumes; 409 when no step is under way",
  query: Query,
  data: Rollout,
});

export const resumeRollout = endpoint({
  method: "POST",
  path: "/rollouts/resume",
  once: true,
  summary: "Go on with a paused canary, or past a step that waits for a person; 409 when it does not wait",
  query: Query,
  data: Rollout,
});

export const promoteRollout = endpoint({
  method: "POST",
  path: "/rollouts/promote",
  once: true,
  summary: "Skip the steps of a canary that are left; 409 when no step is under way",
  query: Query,
  data: Rollout,
});

export const abortRollout = endpoint({
  method: "POST",
  path: "/rollouts/abort",
  once: true,
  summary: "End the release under way, or one whose old replicas are kept, and go back; 409 when there is none",
  query: Query,
  data: Rollout,
});
