import type { Problem } from "../../../base/wire/failure.ts";
import { isFields } from "../../../base/pure/fields.ts";
import type { Spec } from "../../api/manifest.ts";
import { containerOf } from "../../core/spec/decode.ts";
import { specHash } from "../../core/spec-hash.ts";
import { imageIdOf } from "../desired/images.ts";
import type { Context } from "../state/context.ts";
import type { Incoming } from "../write/apply-change.ts";
import { newestBuild } from "../desired/newest-build.ts";

interface Asked {
  dryRun: boolean;
  /** Take builds without an id: each gets that of the newest image of its app, and waits where there is none. */
  unbuilt?: boolean | undefined;
  /** No build is going to be made for it, so a dry run also needs the images. */
  restoring?: unknown;
}

/**
 * The manifests that are built from source and whose image is not there, with the path of each. A dry run may name a build
 * that is still to be made.
 */
export function settleBuilds(context: Context, incoming: readonly Incoming[], asked: Asked): Problem[] {
  if (asked.unbuilt === true) for (const item of incoming) item.spec = withNewestBuild(context, item);
  return incoming.flatMap((item) => problemsOf(context, item, asked));
}

function problemsOf(
  { store }: Context,
  { key, spec, place }: Incoming,
  { dryRun, unbuilt, restoring }: Asked,
): Problem[] {
  const found = containerOf(key.kind, spec);
  if (found === undefined || !found.container.isBuilt) return [];
  const { container, path } = found;
  const problem = (message: string): Problem[] => [
    { path: `${path}.build.id`, message, reason: "BuildMissing", ...(place === undefined ? {} : { place }) },
  ];
  const id = container.buildId;
  const stored = store.manifests.get(key);
  const was = stored && containerOf(key.kind, stored.spec)?.container;
  if (id === undefined) {
    if (unbuilt === true || (was?.isBuilt === true && was.buildId === undefined)) return [];
    return problem("is missing: berth apply builds the image and writes it; see POST /builds");
  }
  if ((dryRun && restoring === undefined) || store.builds.get(key.scope, key.name, id)?.status === "succeeded")
    return [];
  // What is stored may be applied again, however old its build is.
  if (was?.buildId === id) return [];
  return problem(`there is no build "${id}" of ${key.scope}/${key.name}: build it with berth apply or POST /builds`);
}

function withNewestBuild({ store }: Context, { key, spec }: Incoming): Spec {
  const found = containerOf(key.kind, spec);
  if (found === undefined || !found.container.isBuilt || found.container.buildId !== undefined) return spec;
  const stored = store.manifests.get(key);
  const was = stored && containerOf(key.kind, stored.spec)?.container;
  const newest = newestBuild(store, key);
  if (newest === undefined) return was?.buildId === undefined ? spec : withBuild(spec, key.kind, was.buildId);
  // It waited, and has this image already: with another spec it would be rolled for nothing.
  const isTaken =
    stored !== undefined &&
    was?.isBuilt === true &&
    was.buildId === undefined &&
    imageIdOf(store, key, specHash(key.kind, stored.spec)) === newest.imageId;
  return isTaken ? spec : withBuild(spec, key.kind, newest.id);
}

function withBuild(spec: Spec, kind: string, id: string): Spec {
  const { job, build } = spec;
  if (kind === "cronjob") return isFields(job) ? { ...spec, job: withBuild(job, "job", id) } : spec;
  return isFields(build) ? { ...spec, build: { ...build, id } } : spec;
}
