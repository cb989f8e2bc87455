import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";
import { NoBackup } from "./releases.ts";
import { oneByName } from "./target.ts";

/** One image that a registry was asked for again. */
export const ImagePull = Type.Object({
  image: Type.String(),
  /** The reference means another image than before. */
  updated: Type.Boolean(),
  /** Why it could not be pulled; the copy on the machine is used. */
  warning: Type.Optional(Type.String()),
});
export type ImagePull = Static<typeof ImagePull>;

export const restart = endpoint({
  method: "POST",
  path: "/restart",
  once: true,
  summary: "Rolling restart; frozen replicas are cleared first. 202 with `operation` when `wait=false`",
  query: Type.Object({
    kind: Text("deployment or statefulset; found by itself, 400 when both exist"),
    ...oneByName,
    wait: Flag("answer when the last replica is replaced (default true)"),
    pull: Flag("ask the registry for its images first; where a tag moved this is a release (default false)"),
    no_backup: NoBackup,
  }),
  data: Type.Object({
    kind: Type.String(),
    scope: Type.String(),
    name: Type.String(),
    unfroze: Type.Array(Type.String()),
    operation: Type.Optional(Type.String()),
    image_pulls: Type.Optional(Type.Array(ImagePull)),
    /** Where the image moved. */
    release: Type.Optional(Type.String()),
  }),
  alsoAnswers: { 202: "Begun and not waited for; `operation` names it" },
});

export const getOperation = endpoint({
  method: "GET",
  path: "/operations/:id",
  summary: "State of a change that was not waited for: running, succeeded or failed",
  data: Type.Object({
    id: Type.String(),
    type: Type.String(),
    kind: Type.String(),
    scope: Type.String(),
    name: Type.String(),
    state: Type.Union([Type.Literal("running"), Type.Literal("succeeded"), Type.Literal("failed")]),
    started_at: Type.String(),
    error: Type.Optional(Type.String()),
  }),
});
