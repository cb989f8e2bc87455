import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";

/** Environment that the operator gives a plugin, as it may be shown. */
export const PluginConfig = Type.Object({
  plugin: Type.String(),
  vars: Type.Record(Type.String(), Type.String(), { description: "keys with masked values" }),
});
export type PluginConfig = Static<typeof PluginConfig>;

export const getPluginConfig = endpoint({
  method: "GET",
  path: "/plugins/:name/config",
  scope: "admin",
  summary: "The keys of the environment that was set for a plugin; values are masked",
  data: PluginConfig,
});

export const PluginConfigBody = Type.Object({
  vars: Type.Record(Type.String(), Type.String(), {
    description: "environment of the hooks and commands; an empty value unsets",
  }),
});
export type PluginConfigBody = Static<typeof PluginConfigBody>;

export const PluginConfigChange = Type.Object({
  plugin: Type.String(),
  changed: Type.Array(Type.String(), { description: "keys" }),
});
export type PluginConfigChange = Static<typeof PluginConfigChange>;

export const setPluginConfig = endpoint({
  method: "POST",
  path: "/plugins/:name/config",
  scope: "admin",
  summary: "Sets environment for the hooks and commands of a plugin",
  body: PluginConfigBody,
  data: PluginConfigChange,
});
