import { type Static, Type } from "@sinclair/typebox";
import { Text } from "../../base/wire/query.ts";
import { Build, BuildRequest } from "../../orchestration/api/builds.ts";
import { planeEndpoint } from "./plane-endpoint.ts";

/** A build with the name of the token that asked for it. */
export const ShownBuild = Type.Composite([
  Build,
  Type.Object({ actor_name: Type.Optional(Type.String({ description: "name of the token that is the actor" })) }),
]);
export type ShownBuild = Static<typeof ShownBuild>;

const one = Type.Object({ build: ShownBuild });

const ofBuild = "/builds/:scope/:name/:id";

export const listAppBuilds = planeEndpoint({
  method: "GET",
  path: "/builds",
  scope: "read",
  summary: "Images that were built from source, newest first",
  query: Type.Object({ scope: Text("only of this scope"), name: Text("only of this app") }),
  data: Type.Object({ builds: Type.Array(ShownBuild) }),
});

export const getBuildLog = planeEndpoint({
  method: "GET",
  path: `${ofBuild}/log`,
  scope: "read",
  summary: "What a build printed, its last part where it was long",
  data: Type.Object({ log: Type.String() }),
});

export const followAppBuild = planeEndpoint({
  method: "GET",
  path: `${ofBuild}/output`,
  scope: "read",
  summary: "What a build prints, from its first line to its end; of an ended one what is kept",
  stream: "text/plain; charset=utf-8",
  data: Type.String(),
});

export const startBuild = planeEndpoint({
  method: "POST",
  path: "/builds",
  scope: "actions",
  summary: "Queue a build of source that is on the server; it goes on after the answer",
  body: BuildRequest,
  data: Type.Object({ build: ShownBuild, reused: Type.Boolean({ description: "the image was there already" }) }),
  alsoAnswers: { 202: "Queued; follow its output" },
});

export const cancelAppBuild = planeEndpoint({
  method: "POST",
  path: `${ofBuild}/cancel`,
  scope: "actions",
  summary: "End a build that is queued or under way; 409 when it has ended",
  data: one,
});

export const retryAppBuild = planeEndpoint({
  method: "POST",
  path: `${ofBuild}/retry`,
  scope: "actions",
  summary: "Build the same source again; 409 when its folder is no longer on the server",
  data: one,
  alsoAnswers: { 202: "Queued; follow its output" },
});
