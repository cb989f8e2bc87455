import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { Flag, Text } from "../../base/wire/query.ts";
import { buildSecretsMax } from "./kinds/build.ts";

/** Media type of the parts of a packed folder. */
const contextMediaType = "application/octet-stream";

const digest = "sha256 hex over the files of the folder";

export const BuildContext = Type.Object({
  digest: Type.String({
    description: `${digest}: of the JSON, without blanks, of the list of its files, links and folders sorted by path, each [path, "file", "link" or "folder", executable, sha256 hex of the content or of the target, mode]. The mode (permission bits, without that of a group to write where others may not) is left out of links, of files with 755 or 644 and of folders with 755; folders with 755 that hold something are left out`,
  }),
  complete: Type.Boolean({ description: "all of it is on the server" }),
  received: Type.Integer({ description: "bytes that are on the server; an upload goes on behind them" }),
});
export type BuildContext = Static<typeof BuildContext>;

export const getBuildContext = endpoint({
  method: "GET",
  path: "/builds/contexts/:digest",
  summary: "How much of a packed folder the server has",
  data: BuildContext,
});

export const putBuildContext = endpoint({
  method: "PUT",
  path: "/builds/contexts/:digest",
  summary: "Upload a part of a gzipped tar archive of a folder; the last one completes it",
  query: Type.Object({
    offset: Text("where the part begins: as many bytes as the server has (required)"),
    last: Flag("this is the last part: check the archive against its digest (default false)"),
  }),
  body: Type.String({ description: "the bytes of the part" }),
  bodyType: contextMediaType,
  data: BuildContext,
});

/** BuildKit takes no larger ones. */
const secretCharactersMax = 500_000;

const SecretId = Type.String({ pattern: "^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$" });

const BuildStatus = Type.Union([
  Type.Literal("queued"),
  Type.Literal("building"),
  Type.Literal("succeeded"),
  Type.Literal("failed"),
  Type.Literal("canceled"),
]);

/** A commit of a git repository that the server fetched. */
export const GitSource = Type.Object({
  url: Type.String({ maxLength: 2_000 }),
  ref: Type.Optional(Type.String({ maxLength: 250, description: "branch, tag or commit as it was asked for" })),
  commit: Type.String({ pattern: "^[0-9a-f]{40,64}$" }),
  subject: Type.String({ maxLength: 300, description: "first line of the commit message" }),
});
export type GitSource = Static<typeof GitSource>;

/** One image that was made from source, or the attempt at it. Times are ISO 8601. */
export const Build = Type.Object({
  id: Type.String({ description: "of what it is made from: the same input has the same id" }),
  scope: Type.String(),
  name: Type.String(),
  status: BuildStatus,
  context: Type.String({ description: digest }),
  dockerfile: Type.String(),
  target: Type.Optional(Type.String()),
  image: Type.String({ description: "the reference that the image has" }),
  image_id: Type.Optional(Type.String()),
  image_bytes: Type.Optional(Type.Integer({ description: "size of the image" })),
  git: Type.Optional(GitSource),
  actor: Type.String(),
  started_at: Type.String(),
  ended_at: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  releases: Type.Array(Type.String(), { description: "releases that run on this image, newest first" }),
  kept: Type.Boolean({ description: "an app runs on the image, or can be rolled back to it: it is not removed" }),
});
export type Build = Static<typeof Build>;

export const BuildRequest = Type.Object(
  {
    scope: Type.String(),
    name: Type.String(),
    context: Type.String({ description: digest }),
    dockerfile: Type.Optional(Type.String({ default: "Dockerfile", description: "path in the folder" })),
    target: Type.Optional(Type.String({ description: "stage of the Dockerfile; default: the last one" })),
    args: Type.Optional(Type.Record(Type.String(), Type.String(), { description: "build arguments" })),
    secrets: Type.Optional(
      Type.Record(SecretId, Type.String({ maxLength: secretCharactersMax }), {
        maxProperties: buildSecretsMax,
        additionalProperties: false,
        description: "values that steps mount with RUN --mount=type=secret,id=…; the server does not store them",
      }),
    ),
    config_secrets: Type.Optional(
      Type.Array(SecretId, {
        maxItems: buildSecretsMax,
        description: "keys of the app's config that steps mount the same way",
      }),
    ),
    buildkit: Type.Optional(
      Type.Boolean({ default: false, description: "build with BuildKit; builds with secrets always do" }),
    ),
    memory: Type.Optional(
      Type.String({ description: "most memory of a step, such as 512Mi; at most half of the machine, the default" }),
    ),
    cpu: Type.Optional(
      Type.String({ description: "most CPUs of a step, such as 1.5; default: no limit, a low weight" }),
    ),
    git: Type.Optional(GitSource),
    latest: Type.Optional(
      Type.Boolean({ default: false, description: "give the image the name <scope>-<name>:latest as well" }),
    ),
    again: Type.Optional(Type.Boolean({ default: false, description: "build also where the image is there already" })),
  },
  { additionalProperties: false },
);
export type BuildRequest = Static<typeof BuildRequest>;

export const buildImage = endpoint({
  method: "POST",
  path: "/builds",
  scope: "actions",
  summary: "Build an image from an uploaded folder; the output streams to who accepts application/x-ndjson",
  query: Type.Object({
    wait: Flag(
      "answer when the build has ended, and end it when the client leaves (default true); false: answer when it is queued",
    ),
  }),
  body: BuildRequest,
  data: Type.Object({ build: Build, reused: Type.Boolean({ description: "the image was there already" }) }),
  alsoAnswers: { 202: "Queued; follow its output" },
});

export const listBuilds = endpoint({
  method: "GET",
  path: "/builds",
  scope: "read",
  summary: "Builds, newest first",
  query: Type.Object({ scope: Text("only of this scope"), name: Text("only of this app") }),
  data: Type.Object({ builds: Type.Array(Build) }),
});

export const buildLog = endpoint({
  method: "GET",
  path: "/builds/:scope/:name/:id/log",
  scope: "read",
  summary: "What a build printed, its last part where it was long",
  data: Type.Object({ log: Type.String() }),
});

const ofBuild = "/builds/:scope/:name/:id";

export const followBuild = endpoint({
  method: "GET",
  path: `${ofBuild}/output`,
  scope: "read",
  summary: "What a build prints, from its first line to its end; of an ended one what is kept",
  stream: "text/plain; charset=utf-8",
  data: Type.String(),
});

export const cancelBuild = endpoint({
  method: "POST",
  path: `${ofBuild}/cancel`,
  scope: "actions",
  summary: "End a build that is queued or under way; 409 when it has ended",
  data: Type.Object({ build: Build }),
});

export const retryBuild = endpoint({
  method: "POST",
  path: `${ofBuild}/retry`,
  scope: "actions",
  summary: "Build the same source again; 409 when its folder is no longer on the server",
  data: Type.Object({ build: Build }),
  alsoAnswers: { 202: "Queued; follow its output" },
});
