import { mergedLines } from "../../../base/words/merged-lines.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { ObservabilityContext } from "../context.ts";
import type { LogReading } from "../platform.ts";
import type { PodFilter, Pods } from "../pods/create.ts";

/** Output of containers as their engine keeps it. */
export interface PodLogs {
  /** Output of one pod, as it was written. Fails `not_found` and `unavailable` before the first byte. */
  one(grant: Grant, name: string, reading: LogReading): Promise<AsyncIterable<Uint8Array>>;
  /** Output of many pods, each line as `[POD] LINE`; a pod that cannot be read says so in a line of its own. */
  many(grant: Grant, filter: PodFilter, reading: LogReading): Promise<{ names: string[]; bytes: ReadableStream }>;
}

export function createPodLogs({ platform, log }: ObservabilityContext, pods: Pick<Pods, "get" | "runs">): PodLogs {
  return {
    async one(grant, name, reading) {
      await pods.get(grant, name, { spec: false });
      return platform.podLogs(name, reading);
    },
    async many(grant, filter, reading) {
      const sources = await pods.runs(grant, filter);
      const bytes = mergedLines({
        ...{ sources, reading, log },
        open: platform.podLogs,
        later: {
          sources: () => pods.runs(grant, filter),
          subscribe: (listener) => platform.apps.subscribe(listener),
        },
      });
      return { names: sources.map(({ name }) => name), bytes };
    },
  };
}
