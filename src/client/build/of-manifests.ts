import { coreKinds } from "../../orchestration/api/manifest.ts";
import { resolveWithin } from "../manifests/files.ts";
import type { ManifestSet } from "../manifests/read.ts";
import { isFields } from "../../base/pure/fields.ts";
import { normalKind } from "../basics/kinds.ts";
import type { FolderLimits } from "./folder.ts";
import { CommandFailure } from "../basics/failures.ts";
import { type PlannedBuild, planBuild } from "./plan.ts";

/**
 * Reads the folders of all manifests that have a `build`, and writes the id of each build into its manifest: what the
 * same source is called on every machine. Nothing is sent.
 */
export async function planBuilds(set: ManifestSet, limits: FolderLimits): Promise<PlannedBuild[]> {
  const planned: PlannedBuild[] = [];
  const failures: CommandFailure[] = [];
  for (const [index, manifest] of set.manifests.entries()) {
    const holder = holderOf(manifest);
    const build = holder?.build;
    const { scope, name } = manifest;
    if (holder === undefined || !isFields(build) || typeof scope !== "string" || typeof name !== "string") continue;
    // Given by hand: somebody built it before.
    if (build.id !== undefined) continue;
    const directory = set.directories[index] ?? ".";
    try {
      requireWithin(build, directory, set.within);
      const one = await planBuild({ scope, name, build, directory, hasCommand: hasCommand(holder) }, limits);
      holder.build = { ...build, id: one.id };
      planned.push(one);
    } catch (error) {
      if (!(error instanceof CommandFailure)) throw error;
      failures.push(error);
    }
  }
  const [first] = failures;
  if (first === undefined) return planned;
  throw failures.length === 1 ? first : new CommandFailure(failures.map(({ message }) => message).join("\n"));
}

function hasCommand({ command, entrypoint }: Record<string, unknown>): boolean {
  return command !== undefined || entrypoint !== undefined;
}

/** The folder that is packed, and what of it is read here. */
function requireWithin(build: Record<string, unknown>, directory: string, within: string | undefined): void {
  const text = (value: unknown) => (typeof value === "string" ? value : ".");
  const context = resolveWithin(directory, text(build.context), within);
  for (const path of [build.dockerfile, build.path]) resolveWithin(context, text(path), within);
}

/** The part of a manifest that describes a container; the blocks of plugins have none that we know. */
export function holderOf({ kind, spec }: Record<string, unknown>): Record<string, unknown> | undefined {
  if (typeof kind !== "string" || !isFields(spec)) return undefined;
  const known = normalKind(kind);
  if (known === "cronjob") return isFields(spec.job) ? spec.job : undefined;
  return known.toLowerCase() === "app" || coreKinds.some((core) => core === known) ? spec : undefined;
}
