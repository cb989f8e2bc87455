import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";

const ExecBody = Type.Object({
  command: Type.Array(Type.String(), { minItems: 1, description: "program and arguments" }),
  env: Type.Optional(Type.Array(Type.String(), { description: "KEY=VALUE, beside those of the container" })),
});

/** The answer is a session and no envelope: raw bytes both ways, or frames as in `api/exec-frames.ts`. */
export const execPod = endpoint({
  method: "POST",
  path: "/pods/:name/exec",
  summary: "Run a command in a pod; after the head of a 200 the connection carries its input and output",
  query: Type.Object({
    tty: Flag("give it a terminal (default false)"),
    interactive: Flag("give it a stdin (default false)"),
    workdir: Text("working directory (default: the image's)"),
    user: Text("user, or user:group (default: the image's)"),
    cols: Text("columns of the terminal"),
    rows: Text("rows of the terminal"),
    framing: Flag("frames instead of raw bytes: separate stderr, resize, exit code (default false)"),
  }),
  body: ExecBody,
  stream: "application/octet-stream",
});

/** Response header with the id for `GET /pods/{name}/exec/{id}`. */
export const execIdHeader = "X-Exec-Id";
/** Response header, `1` when the session is framed as asked. */
export const execFramingHeader = "X-Exec-Framing";

export const ExecResult = Type.Object({
  id: Type.String(),
  name: Type.String(),
  running: Type.Boolean(),
  started_at: Type.String(),
  /** Once it has ended. */
  ended_at: Type.Optional(Type.String()),
  /** Absent while it runs, and when the engine could not tell. */
  exit_code: Type.Optional(Type.Integer()),
});
export type ExecResult = Static<typeof ExecResult>;

export const getExec = endpoint({
  method: "GET",
  path: "/pods/:name/exec/:id",
  summary: "How a command in a pod ended; remembered for the last sessions since the server started",
  data: ExecResult,
});
