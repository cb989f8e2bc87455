import { mergedLines } from "../../../base/words/merged-lines.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { getPod, listPods, type PodDetail } from "../../../orchestration/api/pods.ts";
import { restart } from "../../../orchestration/api/restart.ts";
import type { restartPlanePod } from "../../api/pods.ts";
import { actorOf, type Grant } from "../../core/tokens/grant.ts";
import type { ObservabilityContext } from "../context.ts";
import type { LogReading } from "../platform.ts";

/** The filter of a list: kind in any spelling, exact scope and name. */
interface PodFilter {
  kind?: string | undefined;
  scope?: string | undefined;
  name?: string | undefined;
}

/** Containers, as far as a token may see their apps. What it may not see does not exist. */
export interface Pods {
  /** Fails `not_found`. */
  get(grant: Grant, name: string): Promise<PodDetail>;
  /** Rolls the app of a pod and does not wait. Fails as `get`, and `invalid` for what no restart is for. */
  restart(grant: Grant, name: string): Promise<DataOf<typeof restartPlanePod>>;
  /** Output of one pod, as it was written. Fails `not_found` and `unavailable` before the first byte. */
  logs(grant: Grant, name: string, reading: LogReading): Promise<AsyncIterable<Uint8Array>>;
  /** Output of many pods, each line as `[POD] LINE`; a pod that cannot be read says so in a line of its own. */
  manyLogs(grant: Grant, filter: PodFilter, reading: LogReading): Promise<{ names: string[]; bytes: ReadableStream }>;
}

export function createPods({ platform, log }: Pick<ObservabilityContext, "platform" | "log">): Pods {
  const clientOf = (grant: Grant) => platform.as(actorOf(grant), grant);
  const get: Pods["get"] = async (grant, name) => (await clientOf(grant).call(getPod, { params: { name } })).pod;
  /** In the order of the list, and when they began to run, in epoch milliseconds. */
  const runs = async (grant: Grant, filter: PodFilter) => {
    const { pods } = await clientOf(grant).call(listPods, { query: { ...filter } });
    return pods.map(({ name, started_at: at }) => ({ name, startedAt: at === undefined ? at : Date.parse(at) }));
  };
  return {
    get,
    async restart(grant, podName) {
      const { kind, scope = "", resource_name: name } = await get(grant, podName);
      if (kind !== "deployment" && kind !== "statefulset") {
        throw new Failure(
          "invalid",
          `pod "${podName}" belongs to a ${kind}; only deployments and statefulsets restart`,
        );
      }
      const { unfroze, operation } = await clientOf(grant).call(restart, { query: { kind, scope, name, wait: false } });
      return { scope, name, kind, unfroze, operation };
    },
    async logs(grant, name, reading) {
      await get(grant, name);
      return platform.podLogs(name, reading);
    },
    async manyLogs(grant, filter, reading) {
      const sources = await runs(grant, filter);
      const bytes = mergedLines({
        ...{ sources, reading, log },
        open: platform.podLogs,
        later: {
          sources: () => runs(grant, filter),
          subscribe: (listener) => platform.apps.subscribe(listener),
        },
      });
      return { names: sources.map(({ name }) => name), bytes };
    },
  };
}
