import { Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";
import { listFilter } from "./target.ts";

const reading = {
  tail: Text("only the last lines, 0 for none (default all)"),
  since: Text("only from then on: RFC 3339, unix seconds, or a duration back such as 10m"),
  timestamps: Flag("put the time in front of each line (default false)"),
};

const stream = "text/plain; charset=utf-8";

export const podLogs = endpoint({
  method: "GET",
  path: "/pods/:name/logs",
  summary: "Output of a pod, stdout and stderr merged in order of arrival, unframed",
  query: Type.Object({
    follow: Flag("go on until the container stops (default false)"),
    ...reading,
  }),
  stream,
});

export const scopeLogs = endpoint({
  method: "GET",
  path: "/logs",
  summary:
    "Output of all containers of a scope or an app, runs of jobs too, each line as `[CONTAINER] LINE`; without follow in " +
    "the order of their times",
  query: Type.Object({
    ...listFilter,
    scope: Text("exact scope (required)"),
    follow: Flag("go on with what is written later, also by containers that come later (default false)"),
    ...reading,
    tail: Text("only the last lines of each container, 0 for none (default all)"),
  }),
  stream,
});
