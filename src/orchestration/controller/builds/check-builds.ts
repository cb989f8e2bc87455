import type { Problem } from "../../../base/wire/failure.ts";
import { problemsFailure } from "../../../base/wire/failure.ts";
import { containerOf } from "../../core/spec/decode.ts";
import type { Context } from "../state/context.ts";
import type { Incoming } from "../write/apply-change.ts";

/**
 * Refuses manifests that are built from source and whose image is not there. Fails `invalid`/`BuildMissing` with the path
 * of each. A dry run may name a build that is still to be made.
 */
export function refuseUnbuilt(context: Context, incoming: readonly Incoming[], { dryRun }: { dryRun: boolean }): void {
  const problems = incoming.flatMap((item) => problemsOf(context, item, dryRun));
  if (problems.length > 0) throw problemsFailure(problems);
}

function problemsOf({ store }: Context, { key, spec, place }: Incoming, dryRun: boolean): Problem[] {
  const found = containerOf(key.kind, spec);
  if (found === undefined || !found.container.isBuilt) return [];
  const { container, path } = found;
  const problem = (message: string): Problem[] => [
    { path: `${path}.build.id`, message, reason: "BuildMissing", ...(place === undefined ? {} : { place }) },
  ];
  const id = container.buildId;
  if (id === undefined) return problem("is missing: berth apply builds the image and writes it; see POST /builds");
  if (dryRun || store.builds.get(key.scope, key.name, id)?.status === "succeeded") return [];
  const was = store.manifests.get(key)?.spec;
  // What is stored may be applied again, however old its build is.
  if (was !== undefined && containerOf(key.kind, was)?.container.buildId === id) return [];
  return problem(`there is no build "${id}" of ${key.scope}/${key.name}: build it with berth apply or POST /builds`);
}
