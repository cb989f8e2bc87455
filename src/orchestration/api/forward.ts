import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";
import { Type } from "@sinclair/typebox";

/**
 * The answer is a session and no envelope, framed as in `api/exec-frames.ts`: stdin frames go to the port, stdout frames
 * come from it, and an empty one of either says that its side has finished. An exit frame ends a connection that both
 * sides have finished, an error frame one that broke off.
 */
export const forwardPort = endpoint({
  method: "POST",
  path: "/pods/:name/forward",
  summary: "Connect to a TCP port of a pod; after the head of a 200 the connection carries its bytes in frames",
  query: Type.Object({ port: Text("port inside of the pod, 1 to 65535 (required)") }),
  stream: "application/octet-stream",
});
