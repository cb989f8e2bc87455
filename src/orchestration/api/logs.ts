import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";

export const podLogs = endpoint({
  method: "GET",
  path: "/pods/:name/logs",
  summary: "Output of a pod, stdout and stderr merged in order of arrival, unframed",
  query: Type.Object({
    follow: Flag("go on until the container stops (default false)"),
    tail: Text("only the last lines, 0 for none (default all)"),
    since: Text("only from then on: RFC 3339, unix seconds, or a duration back such as 10m"),
    timestamps: Flag("put the time in front of each line (default false)"),
  }),
  stream: "text/plain; charset=utf-8",
});
