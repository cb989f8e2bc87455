import { type Static, Type } from "@sinclair/typebox";
import { Autoscale } from "./autoscale.ts";
import { DeployHooks } from "./hooks.ts";
import { podFields } from "./pod.ts";
import { Release } from "./release.ts";
import { Shape, Words } from "../../../base/wire/shape.ts";

export const deploymentFields = {
  ...podFields,
  autoscale: Type.Optional(Autoscale),
  release: Type.Optional(Release),
  on_deploy: Type.Optional(DeployHooks),
  post_deploy: Type.Optional(Words("shell lines run on the host after a source build")),
  keep_releases: Type.Optional(Type.Integer({ minimum: 1, default: 5, description: "source releases kept on disk" })),
};

export const DeploymentSpec = Shape(deploymentFields, "replicas that are all alike");
export type DeploymentSpec = Static<typeof DeploymentSpec>;
