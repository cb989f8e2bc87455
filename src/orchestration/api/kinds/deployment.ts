import { type Static, Type } from "@sinclair/typebox";
import { sleepDefaults } from "./defaults.ts";
import { Autoscale } from "./autoscale.ts";
import { DeployWebhooks } from "./webhooks.ts";
import { podFields } from "./pod.ts";
import { Release } from "./release.ts";
import { Count, Duration, Shape, Words } from "../../../base/wire/shape.ts";

export const deploymentFields = {
  ...podFields,
  autoscale: Type.Optional(Autoscale),
  wake: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        "sleep while it is not in use: no replica runs, and the first request to its ingress starts it again",
    }),
  ),
  idle_after: Type.Optional(
    Duration("with wake: asleep after this long without requests; 0: only by berth scale", sleepDefaults.idleAfter),
  ),
  release: Type.Optional(Release),
  on_deploy: Type.Optional(DeployWebhooks),
  post_deploy: Type.Optional(Words("shell lines run on the host after a source build")),
  keep_releases: Type.Optional(Count("source releases kept on disk", { minimum: 1, maximum: 1_000, default: 5 })),
};

export const DeploymentSpec = Shape(deploymentFields, "replicas that are all alike");
export type DeploymentSpec = Static<typeof DeploymentSpec>;
