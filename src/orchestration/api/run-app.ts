import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";

const RunAppBody = Type.Object({
  command: Type.Array(Type.String(), { minItems: 1, description: "program and arguments, as `command` of a manifest" }),
  env: Type.Optional(Type.Array(Type.String(), { description: "KEY=VALUE, beside those of the app" })),
  entrypoint: Type.Optional(
    Type.String({ description: "program in place of the image's entrypoint; empty for none (default: the app's)" }),
  ),
});

/** The answer is a session as that of exec: raw bytes both ways, or frames as in `api/exec-frames.ts`. */
export const runApp = endpoint({
  method: "POST",
  path: "/run",
  summary:
    "Run a command in a container of its own, made as those of an app; after the head of a 200 the connection carries its input and output, and with its end the container is removed",
  query: Type.Object({
    kind: Text("deployment, statefulset, job or cronjob (default: the one that has the name)"),
    scope: Text("scope of the app (default: the only one that has the name)"),
    name: Text("name of the app"),
    ordinal: Text("of a statefulset: the pod whose volumes it gets (default: 0 where there is one replica)"),
    tty: Flag("give it a terminal (default false)"),
    interactive: Flag("give it a stdin (default false)"),
    workdir: Text("working directory (default: the app's)"),
    user: Text("user, or user:group (default: the app's)"),
    cols: Text("columns of the terminal"),
    rows: Text("rows of the terminal"),
    framing: Flag("frames instead of raw bytes: separate stderr, resize, exit code (default false)"),
  }),
  body: RunAppBody,
  stream: "application/octet-stream",
});
