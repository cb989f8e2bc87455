import { Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { GitAsk, Source } from "../../orchestration/api/sources.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

export const fetchAppSource = planeEndpoint({
  method: "POST",
  path: "/sources/git",
  scope: "actions",
  summary: "Fetch a commit of a git repository, to be built; answers with what to build and to apply",
  body: GitAsk,
  data: Source,
});

export const uploadAppSource = planeEndpoint({
  method: "POST",
  path: "/sources/upload",
  scope: "actions",
  summary: "Upload the source of an app: tar, gzipped or not, or zip, at most 512 MiB; answers as for git",
  query: Type.Object({
    scope: Text("of an app whose source has no manifests (required)"),
    name: Text("its name (required)"),
    host: Text("its domain"),
    folder: Flag("a browser packed a folder: files have no modes, and no folder is around them (default false)"),
  }),
  body: Type.String({ description: "the bytes of the archive" }),
  bodyType: "application/octet-stream",
  data: Source,
});
