import type { AppsRoom } from "../apps/create.ts";
import type { ObservabilityContext } from "../context.ts";
import { type Blocks, createBlocks } from "./blocks.ts";
import { createPluginRoutes, type PluginRoutes } from "./routes.ts";

/** Blocks of plugins, and routes to their containers. */
export interface PluginsRoom {
  blocks: Blocks;
  routes: PluginRoutes;
}

export function createPluginsRoom(
  { platform, limits }: Pick<ObservabilityContext, "platform" | "limits">,
  apps: Pick<AppsRoom, "model" | "operations">,
): PluginsRoom {
  return {
    blocks: createBlocks({ platform, apps, limits: limits.plugins }),
    routes: createPluginRoutes({ platform }),
  };
}
