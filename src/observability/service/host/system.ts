import type { SystemFacts } from "../../api/system.ts";
import { listPlugins } from "../../../orchestration/api/plugins.ts";
import type { ObservabilityContext } from "../context.ts";
import type { HostRoom } from "./create.ts";

export interface System {
  /** `version`: of the server, as `/health` tells it. */
  facts(version: string): Promise<SystemFacts>;
}

export function createSystem({ platform }: Pick<ObservabilityContext, "platform">, host: HostRoom): System {
  const client = platform.as("observability");
  return {
    async facts(version) {
      const [machine, { plugins }] = await Promise.all([host.facts(), client.call(listPlugins)]);
      return {
        ...machine,
        berth: { version },
        voodu: { version },
        plugins: plugins.map(({ name, version: own, aliases }) => ({
          name,
          ...(own === undefined ? {} : { version: own }),
          ...(aliases === undefined ? {} : { aliases }),
        })),
      };
    },
  };
}
