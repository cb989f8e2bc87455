import { Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

const query = {
  command: Text('program and arguments as a JSON array (default ["sh"])'),
  tty: Flag("give it a terminal (default true)"),
  workdir: Text("working directory (default: the image's)"),
  user: Text("user, or user:group (default: the image's)"),
  cols: Text("columns of the terminal"),
  rows: Text("rows of the terminal"),
};

const noSocket = { 426: "The request does not ask for a WebSocket" };

/**
 * A WebSocket. Its binary messages carry frames as in the exec frames of the orchestration plane: one byte for the type,
 * four for the length, then the payload. The server's last frame is an exit or an error frame.
 */
export const openTerminal = planeEndpoint({
  method: "GET",
  path: "/exec/:pod",
  scope: "exec",
  summary: "A WebSocket to a command in a pod, a terminal where asked for; it ends when the token does",
  query: Type.Object(query),
  stream: "application/octet-stream",
  alsoAnswers: noSocket,
  audited: true,
});

/** The same WebSocket, to a container that is made for the command and removed after it. */
export const openAppRun = planeEndpoint({
  method: "GET",
  path: "/apps/:scope/:name/run",
  scope: "exec",
  summary: "A WebSocket to a command in a container of its own, made as those of the app and removed after the command",
  query: Type.Object({
    ...query,
    kind: Text("deployment, statefulset, job or cronjob (default: the one that has the name)"),
    ordinal: Text("of a statefulset: the pod whose volumes it gets (default: 0 where there is one replica)"),
  }),
  stream: "application/octet-stream",
  alsoAnswers: noSocket,
  audited: true,
});

/** The subprotocol that clients ask for. */
export const terminalProtocol = "berth.exec.v1";
