import type { Source, SourceBuild } from "../../orchestration/api/sources.ts";

interface Manifest {
  scope?: unknown;
  name?: unknown;
  spec?: unknown;
}

/** Where a manifest says what it is built from; undefined where it says nothing of that. */
function builtPart(manifest: unknown): { build: Record<string, unknown> } | undefined {
  const { spec } = (typeof manifest === "object" && manifest !== null ? manifest : {}) as Manifest;
  const { build, job } = (typeof spec === "object" && spec !== null ? spec : {}) as { build?: unknown; job?: unknown };
  if (typeof build === "object" && build !== null) return spec as { build: Record<string, unknown> };
  return job === undefined ? undefined : builtPart({ spec: job });
}

/** The builds of a source with the names that their manifests have now. */
export function namedBuilds(
  manifests: readonly unknown[],
  { builds, git }: Pick<Source, "builds" | "git">,
): (SourceBuild["request"] & { scope: string; name: string })[] {
  return builds.flatMap(({ index, request }) => {
    const { scope, name } = (manifests[index] ?? {}) as Manifest;
    if (typeof scope !== "string" || typeof name !== "string" || builtPart(manifests[index]) === undefined) return [];
    return [{ ...request, scope, name, ...(git === undefined ? {} : { git }) }];
  });
}

/** The manifests with the id of the build that each runs on. */
export function withBuildIds(manifests: readonly unknown[], { builds }: Pick<Source, "builds">): unknown[] {
  const made = structuredClone([...manifests]);
  for (const { index, id } of builds) {
    const part = builtPart(made[index]);
    if (part !== undefined) part.build = { ...part.build, id };
  }
  return made;
}

/** Why it is deployed, as far as the source says it. */
export function sourceMessage({ git }: Pick<Source, "git">): string {
  if (git === undefined) return "";
  return [git.ref, git.commit.slice(0, 12), git.subject].filter((part) => part !== undefined && part !== "").join(" ");
}
