import type { Maker } from "../core/plugins/maker.ts";

/** Environment that the operator gives a plugin; values are sealed at rest. */
export interface PluginConfigReads {
  /** By key, in order. */
  of(plugin: Maker): Record<string, string>;
}

export interface PluginConfigWrites {
  set(plugin: Maker, key: string, value: string, now: number): void;
  unset(plugin: Maker, key: string): void;
  /** Forgets what was set for every plugin of this name that is not part of the server. */
  forget(name: string): void;
}
