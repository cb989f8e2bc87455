import { Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

/**
 * A WebSocket. Each binary message is one frame as in the exec frames of the orchestration plane: one byte for the type,
 * four for the length, then the payload. The server's last message is an exit or an error frame.
 */
export const openTerminal = planeEndpoint({
  method: "GET",
  path: "/api/pat/v1/exec/:pod",
  scope: "exec",
  summary: "A WebSocket to a command in a pod, a terminal where asked for; it ends when the token does",
  query: Type.Object({
    command: Text('program and arguments as a JSON array (default ["sh"])'),
    tty: Flag("give it a terminal (default true)"),
    workdir: Text("working directory (default: the image's)"),
    user: Text("user, or user:group (default: the image's)"),
    cols: Text("columns of the terminal"),
    rows: Text("rows of the terminal"),
  }),
  stream: "application/octet-stream",
  alsoAnswers: { 426: "The request does not ask for a WebSocket" },
});

/** The subprotocol that clients ask for. */
export const terminalProtocol = "berth.exec.v1";
