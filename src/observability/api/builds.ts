import { type Static, Type } from "@sinclair/typebox";
import {
  Build,
  buildImage,
  buildLog,
  cancelBuild,
  followBuild,
  listBuilds,
  retryBuild,
} from "../../orchestration/api/builds.ts";
import { aliasOf, type PlaneEndpoint } from "./plane-endpoint.ts";

/** A build with the name of the token that asked for it. */
export const ShownBuild = Type.Composite([
  Build,
  Type.Object({ actor_name: Type.Optional(Type.String({ description: "name of the token that is the actor" })) }),
]);
export type ShownBuild = Static<typeof ShownBuild>;

const one = Type.Object({ build: ShownBuild });

export const listShownBuilds = aliasOf(listBuilds, { data: Type.Object({ builds: Type.Array(ShownBuild) }) });

export const startBuild = aliasOf(buildImage, {
  summary: "Queue a build of source that is on the server; it goes on after the answer",
  query: undefined,
  fixed: { wait: "false" },
  data: Type.Object({ build: ShownBuild, reused: Type.Boolean({ description: "the image was there already" }) }),
});

/** Builds as tokens see them. */
export const buildEndpoints: PlaneEndpoint[] = [
  listShownBuilds,
  buildLog,
  followBuild,
  startBuild,
  aliasOf(cancelBuild, { data: one }),
  aliasOf(retryBuild, { data: one }),
];
