import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Text } from "../../base/wire/query.ts";

const FileInfo = Type.Object({
  path: Type.String(),
  kind: Type.Union([Type.Literal("file"), Type.Literal("folder"), Type.Literal("link"), Type.Literal("other")]),
  /** Size of a file. */
  size_bytes: Type.Integer(),
  /** Octal, such as `644`. */
  mode: Type.String(),
  /** Where a link leads in the end. */
  link_target: Type.Optional(Type.String()),
});
export type FileInfo = Static<typeof FileInfo>;

const path = Text("absolute path in the container (required)");

export const statFile = endpoint({
  method: "GET",
  path: "/pods/:name/files/stat",
  summary: "What is at a path in a pod; 404 where there is nothing",
  query: Type.Object({ path }),
  data: FileInfo,
});

export const readFiles = endpoint({
  method: "GET",
  path: "/pods/:name/files",
  summary: "A file or folder of a pod as a tar archive, under its last name; links are not followed",
  query: Type.Object({ path }),
  stream: "application/octet-stream",
});

/**
 * A session framed as in `api/exec-frames.ts`: stdin frames carry a tar archive, an empty one ends it; the exit frame
 * says that all of it is there.
 */
export const writeFiles = endpoint({
  method: "POST",
  path: "/pods/:name/files",
  summary: "Unpack a tar archive in a folder of a pod; after the head of a 200 the connection carries it in frames",
  query: Type.Object({ path: Text("absolute path of a folder in the container (required)") }),
  stream: "application/octet-stream",
});
