import { Failure } from "../../base/wire/failure.ts";
import type { Limit } from "../../base/words/limit.ts";
import type { Disk } from "./activate.ts";
import type { Confinement } from "./confinement.ts";
import type { PluginPermissions } from "../api/plugins/plugin-yml.ts";
import { grantedVariables } from "../core/plugins/own-environment.ts";
import type { Maker } from "../core/plugins/maker.ts";
import type { Plugin, Registry } from "./plugin.ts";
import type { StageOptions } from "./stage.ts";
import type { TextLimits } from "./texts.ts";

export interface InstallerOptions extends StageOptions, Disk {
  registry: Registry;
  /** Version of this server, as plugins may require it: `0.2.0`. */
  serverVersion: string;
  /** `BERTH`. */
  envPrefix: string;
  /** Epoch milliseconds. */
  now: () => number;
  hookMs: number;
  limits: StageOptions["limits"] & { texts: TextLimits };
  changesShown: { filesMax: number; linesMax: number; charactersMax: number };
  installsAtOnceMax: number;
  confinement: Confinement;
  /** Environment that the operator set for a plugin. */
  configOf: (plugin: Maker) => Record<string, string>;
  /** Variables of the server's own environment, where they are set. */
  serverVariables: (names: readonly string[]) => Record<string, string>;
  /** Values of so many characters are replaced in what hooks say. */
  hiddenFrom: number;
  /** What this machine cannot hold of what plugins are held to, for people. */
  lacks: readonly string[];
  /** Where a program that plugins require would be; null where it is not. */
  which: (program: string) => string | null;
}

/** What every operation on packages works with. */
export interface Work extends InstallerOptions {
  /** Only one at a time changes what is active. */
  oneByOne: Limit;
}

/** What one plugin alone is given: the granted variables of the server, then what the operator set. */
export function ownEnvironment(
  { serverVariables, configOf, envPrefix }: Work,
  plugin: Maker,
  permissions: PluginPermissions,
): Record<string, string> {
  return { ...serverVariables(grantedVariables(permissions, envPrefix)), ...configOf(plugin) };
}

/** The plugin as it is now. Fails `invalid` with the reason that the registry has against it. */
export async function current({ registry }: Work, name: string): Promise<Plugin> {
  await registry.refresh();
  const plugin = registry.find(name);
  if (plugin?.yml.name === name) return plugin;
  const fault = registry.list().errors.find((text) => text.startsWith(`${name}: `));
  throw new Failure("invalid", fault ?? `no plugin "${name}"; see: berth plugins list`);
}

/** The plugin of a name or alias. Fails `not_found`. */
export async function known({ registry }: Work, name: string): Promise<Plugin> {
  await registry.refresh();
  const plugin = registry.find(name);
  if (plugin !== undefined) return plugin;
  throw new Failure("not_found", `no plugin "${name}"; see: berth plugins list`);
}
