import { chmodSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { limits } from "../../src/config/config.ts";
import { type CallbackDoor, noPlugins, type PluginRoom } from "../../src/orchestration/controller/state/plugin-room.ts";
import type { Layout } from "../../src/base/disk/layout.ts";
import { createBlockSchemas } from "../../src/orchestration/plugins/block-schemas.ts";
import { type Confinement, unconfined } from "../../src/orchestration/plugins/confinement.ts";
import { createHost, type HostLimits } from "../../src/orchestration/plugins/host.ts";
import { createOffers } from "../../src/orchestration/plugins/offers.ts";
import type { Installer } from "../../src/orchestration/plugins/plugin.ts";
import { createRegistry } from "../../src/orchestration/plugins/registry.ts";

export interface TestPluginsOptions {
  limits?: Partial<HostLimits>;
  installer?: Partial<Installer>;
  /** Told apart from runs of other tests on the machine. */
  runVariable?: string;
  owner?: string;
  controllerUrl?: (token: string) => string | undefined;
  callbacks?: CallbackDoor;
  confinement?: Confinement;
  environment?: Record<string, string>;
  serverVariables?: PluginRoom["serverVariables"];
  defaultRepo?: (kind: string) => string | undefined;
}

/** Plugins that are folders of scripts under the root of a test. */
export function testPlugins(layout: Layout, options: TestPluginsOptions = {}): PluginRoom {
  return {
    registry: createRegistry({ folder: layout.plugins, bundled: [], readLock: async () => undefined }),
    installer: { ...noPlugins().installer, verify: async () => undefined, ...options.installer },
    host: createHost({
      limits: { ...limits, ...options.limits },
      runVariable: options.runVariable ?? `BERTH_${process.pid}_RUN_ID`,
      owner: options.owner ?? crypto.randomUUID(),
    }),
    schemas: createBlockSchemas(),
    offers: createOffers(2),
    confinement: options.confinement ?? unconfined,
    environment: options.environment ?? { PATH: "/usr/local/bin:/usr/bin:/bin" },
    serverVariables: options.serverVariables ?? (() => ({})),
    dockerHost: "unix:///engine.sock",
    controllerUrl: options.controllerUrl ?? (() => "http://127.0.0.1:1"),
    lastRecord: Promise.resolve(),
    passes: new Map(),
    underWay: new Set(),
    holds: new Set(),
    pendingInstalls: new Map(),
    callbacks: options.callbacks ?? noPlugins().callbacks,
    defaultRepo: options.defaultRepo ?? (() => undefined),
  };
}

/** Writes a plugin: its commands are shell scripts; `yml` is text, or left out. */
export function writePlugin(
  layout: Layout,
  name: string,
  { yml, commands }: { yml?: string; commands: Record<string, string> },
): string {
  const folder = join(layout.plugins, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, "bin"), { recursive: true });
  if (yml !== undefined) writeFileSync(join(folder, "plugin.yml"), yml);
  for (const [command, script] of Object.entries(commands)) {
    const path = join(folder, "bin", command);
    writeFileSync(path, script.startsWith("#!") ? script : `#!/bin/sh\n${script}\n`);
    chmodSync(path, 0o755);
  }
  return folder;
}

/** A script that prints a value as JSON. */
export function printing(value: unknown): string {
  return `cat >/dev/null\ncat <<'BERTH_END'\n${JSON.stringify(value)}\nBERTH_END`;
}

/** A script that answers with actions. */
export function acting(actions: unknown, message = "done"): string {
  return printing({ status: "ok", data: { message, actions } });
}
