import { listShownBuilds, type ShownBuild, startBuild } from "../../../observability/api/builds.ts";
import type { Source } from "../../../orchestration/api/sources.ts";
import { api } from "../../data/api.ts";
import { isUnderWay } from "../../text/builds.ts";
import { namedBuilds } from "../../text/source-builds.ts";

const lookMs = 1_500;

/**
 * Builds all images of a source, one after the other; `onBuild` gets each. Fails with a text for people when one of
 * them fails. The server goes on with a build also when this page is closed.
 */
export async function buildFirst(
  manifests: readonly unknown[],
  source: Source,
  onBuild: (build: ShownBuild) => void,
): Promise<void> {
  for (const request of namedBuilds(manifests, source)) {
    const { build, reused } = await api.call(startBuild, { body: request });
    onBuild(build);
    const ended = reused ? build : await endOf(build);
    if (ended.status === "succeeded") continue;
    throw new Error(`The build of ${ended.scope}/${ended.name} ${ended.status}: ${ended.error ?? "see its output"}`);
  }
}

async function endOf({ scope, name, id }: ShownBuild): Promise<ShownBuild> {
  for (;;) {
    await new Promise((done) => setTimeout(done, lookMs));
    const answer = await api.call(listShownBuilds, { query: { scope, name } }).catch(() => undefined);
    const found = answer?.builds.find((one) => one.id === id);
    if (found !== undefined && !isUnderWay(found)) return found;
  }
}
