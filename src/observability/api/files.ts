import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

/** What is in a folder of a pod. */
export const FolderEntry = Type.Object({
  name: Type.String(),
  kind: Type.String({ description: "file, folder, link or other" }),
  size_bytes: Type.Integer(),
  mode: Type.String({ description: "octal, such as 644" }),
  modified_at: Type.Optional(Type.String()),
  link_target: Type.Optional(Type.String()),
});
export type FolderEntry = Static<typeof FolderEntry>;

const path = Text("absolute path in the container (required)");

export const listFolder = planeEndpoint({
  method: "GET",
  path: "/pods/:name/files",
  scope: "config:reveal",
  summary: "What is in a folder of a pod; files may hold secrets, so this needs config:reveal",
  query: Type.Object({ path }),
  data: Type.Object({
    path: Type.String(),
    entries: Type.Array(FolderEntry),
    left_out: Type.Integer({ description: "how many more there are than the answer shows" }),
  }),
  audited: true,
});

export const readPodFile = planeEndpoint({
  method: "GET",
  path: "/pods/:name/file",
  scope: "config:reveal",
  summary: "The bytes of a file of a pod, up to a size; 413 above it. Audited",
  query: Type.Object({ path, offset: Text("begin there (default 0)"), length: Text("at most this many bytes") }),
  stream: "application/octet-stream",
  audited: true,
});

export const writePodFile = planeEndpoint({
  method: "PUT",
  path: "/pods/:name/file",
  scope: "exec",
  summary: "Write a file of a pod; the body is its content and has a Content-Length. Audited",
  query: Type.Object({ path }),
  body: Type.String({ description: "the bytes of the file" }),
  bodyType: "application/octet-stream",
  data: Type.Object({ path: Type.String(), size_bytes: Type.Integer() }),
});

/** Everything about the inside of pods. */
export const fileEndpoints = [listFolder, readPodFile, writePodFile];
