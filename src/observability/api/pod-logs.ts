import { Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { listFilter } from "../../orchestration/api/target.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

const reading = {
  follow: Flag("go on with what is written from now on (default false)"),
  tail: Text("only the last lines of each pod, 0 for none (default all)"),
  since: Text("only from then on: RFC 3339, unix seconds, or a duration back such as 10m; before `tail`"),
  timestamps: Flag("put the time in front of each line (default false)"),
};

const stream = "text/plain; charset=utf-8";

export const planePodLogs = planeEndpoint({
  method: "GET",
  path: "/pods/:name/logs",
  scope: "read",
  summary: "Output of a pod, stdout and stderr merged; while following, an empty line keeps the stream open",
  query: Type.Object(reading),
  stream,
});

export const planeLogs = planeEndpoint({
  method: "GET",
  path: "/logs",
  scope: "read",
  summary: "Output of many pods, each line as `[POD] LINE`; while following, pods that come later join in",
  query: Type.Object({
    ...listFilter,
    ...reading,
  }),
  stream,
});
