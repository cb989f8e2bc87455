import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../endpoint.ts";
import { PluginPermissions, PluginYml } from "../plugins/plugin-yml.ts";
import { Text } from "../query.ts";

/** One plugin: the fields of its `plugin.yml` and where it came from. */
export const PluginInfo = Type.Composite([
  Type.Omit(PluginYml, ["permissions"]),
  Type.Object({
    origin: Type.Union(
      [Type.Literal("folder"), Type.Literal("installed"), Type.Literal("linked"), Type.Literal("bundled")],
      { description: "folder: dropped in by hand; linked: a folder elsewhere, not verified" },
    ),
    enabled: Type.Boolean(),
    source: Type.Optional(Type.String({ description: "what it was installed from" })),
    requested: Type.Optional(Type.String({ description: "the version that was asked for" })),
    commit: Type.Optional(Type.String()),
    installed_at: Type.Optional(Type.String()),
    previous: Type.Optional(Type.String({ description: "the version that `rollback` returns to" })),
    permissions: PluginPermissions,
    /** Has no `permissions` in its plugin.yml, so that everything was granted. */
    full_grant: Type.Boolean(),
  }),
]);
export type PluginInfo = Static<typeof PluginInfo>;

export const listPlugins = endpoint({
  method: "GET",
  path: "/plugins",
  summary: "Plugins with their plugin.yml; what cannot be used is told in errors",
  data: Type.Object({ plugins: Type.Array(PluginInfo), errors: Type.Array(Type.String()) }),
});

export const getPlugin = endpoint({
  method: "GET",
  path: "/plugins/:name",
  summary: "One plugin, by name or alias",
  data: PluginInfo,
});

export const getPluginSchema = endpoint({
  method: "GET",
  path: "/plugins/:name/schema",
  summary: "The JSON Schema that a plugin publishes for the spec of its blocks; 404 when it has none",
  query: Type.Object({ kind: Text("of the block; the plugin's own name without it") }),
  data: Type.Object({ plugin: Type.String(), kind: Type.String(), schema: Type.Unknown() }),
});

export const InstallBody = Type.Object({
  source: Type.String({ description: "owner/repo, the URL of a git repository, or a local path" }),
  version: Type.Optional(Type.String()),
  link: Type.Optional(Type.Boolean({ description: "uses the local folder where it is, unverified: for development" })),
  replace: Type.Optional(Type.Boolean({ description: "may take the place of a bundled plugin of the same name" })),
});
export type InstallBody = Static<typeof InstallBody>;

export const installPlugin = endpoint({
  method: "POST",
  path: "/plugins/install",
  summary: "Installs a plugin from a release of a hosted repository, a git URL or a local path",
  body: InstallBody,
  data: PluginInfo,
});

export const removePlugin = endpoint({
  method: "DELETE",
  path: "/plugins/:name",
  summary: "Removes a plugin; one that is not there is fine",
  data: Type.Object({ name: Type.String(), removed: Type.Boolean() }),
});

export const updatePlugin = endpoint({
  method: "POST",
  path: "/plugins/:name/update",
  summary: "Installs a plugin anew from where it came from",
  query: Type.Object({ version: Text("instead of the newest") }),
  data: PluginInfo,
});

export const rollbackPlugin = endpoint({
  method: "POST",
  path: "/plugins/:name/rollback",
  summary: "Returns to the version before the last install or update",
  data: PluginInfo,
});

export const enablePlugin = endpoint({
  method: "POST",
  path: "/plugins/:name/enable",
  summary: "Lets a disabled plugin run again",
  data: PluginInfo,
});

export const disablePlugin = endpoint({
  method: "POST",
  path: "/plugins/:name/disable",
  summary: "Keeps a plugin but refuses to run it",
  data: PluginInfo,
});
