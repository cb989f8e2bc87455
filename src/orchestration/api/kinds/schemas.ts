import type { TObject } from "@sinclair/typebox";
import type { CoreKind } from "../manifest.ts";
import { AppSpec } from "./app.ts";
import { AssetSpec } from "./asset.ts";
import { CronjobSpec } from "./cronjob.ts";
import { DeploymentSpec } from "./deployment.ts";
import { IngressSpec } from "./ingress.ts";
import { JobSpec } from "./job.ts";
import { RegistrySpec } from "./registry.ts";
import { StatefulsetSpec } from "./statefulset.ts";

/** A kind that may be written in a manifest: the core kinds and `app`, which is expanded into them. */
export type WritableKind = CoreKind | "app";

/** Shape of `spec` per kind; descriptions and defaults are what `explain` shows. */
export const specSchemas: Record<WritableKind, TObject> = {
  deployment: DeploymentSpec,
  statefulset: StatefulsetSpec,
  ingress: IngressSpec,
  job: JobSpec,
  cronjob: CronjobSpec,
  asset: AssetSpec,
  registry: RegistrySpec,
  app: AppSpec,
};
