import { type Static, Type } from "@sinclair/typebox";
import { Flag, Text } from "../../base/wire/query.ts";
import { endpoint } from "../../base/wire/endpoint.ts";
import { GitSource } from "./builds.ts";

/** One image that the source makes. */
export const SourceBuild = Type.Object({
  index: Type.Integer({ description: "of the manifest that it is for" }),
  id: Type.String({ description: "for spec.build.id of that manifest" }),
  files: Type.Integer(),
  bytes: Type.Integer(),
  request: Type.Object({
    context: Type.String(),
    dockerfile: Type.String(),
    target: Type.Optional(Type.String()),
    args: Type.Optional(Type.Record(Type.String(), Type.String())),
    config_secrets: Type.Optional(Type.Array(Type.String())),
    buildkit: Type.Optional(Type.Boolean()),
  }),
});
export type SourceBuild = Static<typeof SourceBuild>;

/** Source that is on the server: what POST /builds is asked with, and the manifests to apply after it. */
export const Source = Type.Object({
  found: Type.String({ description: "what the manifests come from: a file of the source, or what shows its language" }),
  text: Type.String({ description: "manifests in YAML, without the ids of their builds" }),
  builds: Type.Array(SourceBuild),
  left_out: Type.Array(Type.String(), { description: "files that look like secrets; they are not part of any image" }),
  git: Type.Optional(GitSource),
  warnings: Type.Array(Type.String()),
});
export type Source = Static<typeof Source>;

const named = {
  scope: Type.String({ maxLength: 63, description: "of an app whose source has no manifests" }),
  name: Type.String({ maxLength: 63 }),
  host: Type.Optional(Type.String({ maxLength: 253, description: "domain of an app whose source has no manifests" })),
};

export const GitAsk = Type.Object(
  {
    ...named,
    url: Type.String({ maxLength: 2_000, description: "https://…, without user and password" }),
    ref: Type.Optional(Type.String({ maxLength: 250, description: "branch, tag or commit; default: HEAD" })),
    folder: Type.Optional(
      Type.String({ maxLength: 1_000, description: "folder of the repository; default: all of it" }),
    ),
    token_key: Type.Optional(
      Type.String({ maxLength: 128, description: "key of the app's config with a token for a private repository" }),
    ),
  },
  { additionalProperties: false },
);
export type GitAsk = Static<typeof GitAsk>;

export const fetchSource = endpoint({
  method: "POST",
  path: "/builds/sources/git",
  scope: "actions",
  summary: "Fetch a commit of a git repository, to be built; progress streams to who accepts application/x-ndjson",
  body: GitAsk,
  data: Source,
});

/** For tokens and sessions: a client of operators packs the folder itself. */
export const uploadSource = endpoint({
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

/** An upload that is read. */
interface ArchiveAsk {
  scope: string;
  name: string;
  host?: string | undefined;
  /** A browser packed a folder: file modes are not known, and nothing is around the folder. */
  isFolder: boolean;
}

/** Reads source for others; see `GitAsk`. Each fails `invalid` for what the source is refused for, `too_large`, `timeout`. */
export interface SourceReader {
  /** Also `forbidden` for an address that is closed, `conflict`/`GitMissing`, `unavailable`. */
  git(body: unknown, options: { signal: AbortSignal; onLine?: ((line: string) => void) | undefined }): Promise<Source>;
  /** Size of one upload. */
  uploadBytesMax: number;
  archive(bytes: AsyncIterable<Uint8Array>, ask: ArchiveAsk, signal: AbortSignal): Promise<Source>;
}
