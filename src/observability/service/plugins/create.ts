import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { listPluginRuns, type PluginRun } from "../../../orchestration/api/dispatch.ts";
import {
  type AcceptBody,
  acceptPlugin,
  disablePlugin,
  enablePlugin,
  type InstallBody,
  type InstallOutcome,
  installPlugin,
  listPlugins,
  type PluginChanges,
  pluginChanges,
  type PluginInfo,
  removePlugin,
  rollbackPlugin,
  type UpdateBody,
  updatePlugin,
} from "../../../orchestration/api/plugins.ts";
import {
  getPluginConfig,
  type PluginConfig,
  type PluginConfigBody,
  type PluginConfigChange,
  setPluginConfig,
} from "../../../orchestration/api/plugin-config.ts";
import { seesRun } from "../../core/plugins/command.ts";
import { reachesAll } from "../../../access/apps.ts";
import type { Grant } from "../../core/tokens/grant.ts";
import type { AppsRoom } from "../apps/create.ts";
import type { ObservabilityContext } from "../context.ts";
import { createPluginRoutes, type PluginRoutes } from "./routes.ts";
import { type Blocks, type By, createBlocks } from "./blocks.ts";

/** Plugins of the server, and their blocks. What concerns all blocks fails `forbidden` for a token that is limited to some apps. */
export interface PluginsRoom {
  list(grant: Grant): Promise<{ plugins: PluginInfo[]; errors: string[] }>;
  /** Newest first; of a limited token those that name an app that it reaches. */
  runs(grant: Grant, filter: { plugin: string | undefined; limit: number }): Promise<PluginRun[]>;
  install(by: By, body: Omit<InstallBody, "link">): Promise<InstallOutcome>;
  update(by: By, target: { name: string; version: string | undefined }, body: UpdateBody): Promise<InstallOutcome>;
  changes(by: By, name: string): Promise<PluginChanges>;
  accept(by: By, name: string, body: AcceptBody): Promise<PluginInfo>;
  /** Keys with masked values. */
  config(by: By, name: string): Promise<PluginConfig>;
  setConfig(by: By, name: string, body: PluginConfigBody): Promise<PluginConfigChange>;
  rollback(by: By, name: string): Promise<PluginInfo>;
  setEnabled(by: By, name: string, enabled: boolean): Promise<PluginInfo>;
  remove(by: By, name: string): Promise<DataOf<typeof removePlugin>>;
  blocks: Blocks;
  routes: PluginRoutes;
}

export function createPluginsRoom(
  { platform, limits }: Pick<ObservabilityContext, "platform" | "limits">,
  apps: Pick<AppsRoom, "model" | "operations">,
): PluginsRoom {
  const client = platform.as("observability");
  const as = ({ grant, actor }: By) => {
    requireAll(grant);
    return platform.as(actor, grant);
  };
  return {
    async list(grant) {
      const { plugins, errors } = await client.call(listPlugins);
      // Variables of a plugin and where it came from are for those who see the whole server.
      return reachesAll(grant) ? { plugins, errors } : { plugins: plugins.map(outline), errors: [] };
    },
    async runs(grant, { plugin, limit }) {
      const { runs } = await client.call(listPluginRuns, { query: { plugin, limit } });
      return runs.filter(({ args }) => seesRun(grant, args));
    },
    async install(by, body) {
      if (/^(?:[./~]|file:)/i.test(body.source)) {
        const text = `source: "${body.source}" is a folder of the server; install it there with berth plugins install`;
        throw new Failure("invalid", text);
      }
      requireSeen(body);
      return as(by).call(installPlugin, { body });
    },
    async update(by, { name, version }, body) {
      requireSeen(body);
      return as(by).call(updatePlugin, { params: { name }, query: { version }, body });
    },
    changes: async (by, name) => as(by).call(pluginChanges, { params: { name } }),
    accept: async (by, name, body) => as(by).call(acceptPlugin, { params: { name }, body }),
    config: async (by, name) => as(by).call(getPluginConfig, { params: { name } }),
    setConfig: async (by, name, body) => as(by).call(setPluginConfig, { params: { name }, body }),
    rollback: async (by, name) => as(by).call(rollbackPlugin, { params: { name } }),
    setEnabled: async (by, name, enabled) => as(by).call(enabled ? enablePlugin : disablePlugin, { params: { name } }),
    remove: async (by, name) => as(by).call(removePlugin, { params: { name } }),
    blocks: createBlocks({ platform, apps, limits: limits.plugins }),
    routes: createPluginRoutes({ platform }),
  };
}

function outline({ source: _, commit: __, requested: ___, ...plugin }: PluginInfo): PluginInfo {
  return { ...plugin, env: {} };
}

/** Nothing is installed from here that was not looked at. */
function requireSeen({ preview, expect }: Pick<InstallBody, "preview" | "expect">): void {
  if (preview === true || expect !== undefined) return;
  const text = "expect: ask with preview first, look at the grant, and send the digest of the preview as expect";
  throw new Failure("invalid", text);
}

function requireAll(grant: Grant): void {
  if (reachesAll(grant)) return;
  throw new Failure("forbidden", "this token is limited to some apps, and plugins serve the blocks of all");
}
