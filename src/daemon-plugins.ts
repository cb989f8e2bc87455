import { limits, pluginDefaultRepo, pluginEnvironment, type ServeOptions } from "./config.ts";
import { noPlugins, type PluginRoom } from "./controller/plugin-room.ts";
import type { Naming } from "./core/naming.ts";
import type { Layout } from "./disk/layout.ts";
import type { Log } from "./lib/log.ts";
import { foldersOf } from "./plugin/folders.ts";
import { createHost } from "./plugin/host.ts";
import { createRegistry } from "./plugin/registry.ts";
import { readLock } from "./plugin/state.ts";

export interface PluginParts {
  layout: Layout;
  names: Naming;
  options: ServeOptions;
  log: Log;
  /** Undefined until the plane listens, or when it has no address. */
  controllerUrl: () => string | undefined;
}

/** Plugins of a root: the folder, the bundled ones, and the processes that they run as. */
export function createPluginRoom({ layout, names, options, log, controllerUrl }: PluginParts): PluginRoom {
  const folders = foldersOf(layout.plugins);
  const registry = createRegistry({
    folder: layout.plugins,
    bundled: [],
    readLock: (name) => readLock(folders, name),
    onChange: (plugins) => log.info("plugins changed", { plugins }),
  });
  return {
    registry,
    installer: noPlugins().installer,
    host: createHost({ limits, runVariable: `${names.envPrefix}_RUN_ID` }),
    environment: pluginEnvironment(),
    dockerHost: options.dockerHost,
    controllerUrl,
    defaultRepo: (kind) => pluginDefaultRepo(kind, names.envPrefix),
  };
}

/** The address of a plane as somebody on this machine reaches it. */
export function urlOf(addresses: readonly string[]): string | undefined {
  const address = addresses.find((text) => !text.startsWith("unix:"));
  if (address === undefined) return undefined;
  return `http://${address.replace(/^(?:0\.0\.0\.0|\[::\]):/, "127.0.0.1:")}`;
}
