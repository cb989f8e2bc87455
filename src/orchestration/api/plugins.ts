import { type Static, Type } from "@sinclair/typebox";
import { endpoint } from "../../base/wire/endpoint.ts";
import { PluginPermissions, PluginYml } from "./plugins/plugin-yml.ts";
import { Text } from "../../base/wire/query.ts";

/** SHA-256 in hex. */
export const digestPattern = "^[0-9a-f]{64}$";

const PluginOrigin = Type.Union(
  [Type.Literal("folder"), Type.Literal("installed"), Type.Literal("linked"), Type.Literal("bundled")],
  { description: "folder: dropped in by hand; linked: a folder elsewhere, not verified" },
);

/** One plugin: the fields of its `plugin.yml` and where it came from. */
export const PluginInfo = Type.Composite([
  Type.Omit(PluginYml, ["permissions"]),
  Type.Object({
    origin: PluginOrigin,
    enabled: Type.Boolean(),
    source: Type.Optional(Type.String({ description: "what it was installed from" })),
    requested: Type.Optional(Type.String({ description: "the version that was asked for" })),
    commit: Type.Optional(Type.String()),
    installed_at: Type.Optional(Type.String()),
    accepted: Type.Optional(
      Type.Object(
        { at: Type.String(), files: Type.Array(Type.String(), { description: "paths that differ from the release" }) },
        { description: "changes that were taken with accept after it was installed" },
      ),
    ),
    previous: Type.Optional(Type.String({ description: "the version that `rollback` returns to" })),
    stranded: Type.Optional(
      Type.Array(Type.String(), {
        description: "blocks that stand and have no plugin now, each with the reason and the way back",
      }),
    ),
    permissions: PluginPermissions,
    /** Has no `permissions` in its plugin.yml, so that everything was granted. */
    full_grant: Type.Boolean(),
  }),
]);
export type PluginInfo = Static<typeof PluginInfo>;

export const listPlugins = endpoint({
  method: "GET",
  path: "/plugins",
  scope: "read",
  summary: "Plugins with their plugin.yml; plugins that cannot be used are listed in errors",
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

const preview = Type.Optional(
  Type.Boolean({ description: "fetches and checks, answers with what would be installed, and changes nothing" }),
);
const expect = Type.Optional(
  Type.String({
    pattern: digestPattern,
    description: "digest of a preview: a package that is not the one that was shown is a 409",
  }),
);

export const InstallBody = Type.Object({
  source: Type.String({ description: "owner/repo, the URL of a git repository, or a local path" }),
  version: Type.Optional(Type.String()),
  link: Type.Optional(Type.Boolean({ description: "uses the local folder where it is, unverified: for development" })),
  replace: Type.Optional(Type.Boolean({ description: "may take the place of a bundled plugin of the same name" })),
  preview,
  expect,
});
export type InstallBody = Static<typeof InstallBody>;

export const UpdateBody = Type.Object(
  {
    preview,
    expect,
    grant: Type.Optional({
      ...PluginPermissions,
      description: "what the new version may be granted beside what was granted before; without it more is a 403",
    }),
  },
  { description: "may be left out" },
);
export type UpdateBody = Static<typeof UpdateBody>;

/** A plugin that has just come in. */
const InstalledInfo = Type.Composite([
  PluginInfo,
  Type.Object({ warnings: Type.Array(Type.String(), { description: "what could not be made sure of" }) }),
]);

/** What would be installed; nothing of it has been run, and nothing was changed. */
export const PluginPreview = Type.Composite([
  Type.Omit(PluginYml, ["permissions"]),
  Type.Object({
    preview: Type.Literal(true),
    source: Type.String(),
    requested: Type.Optional(Type.String({ description: "the version that was asked for" })),
    commit: Type.Optional(Type.String()),
    digest: Type.String({ description: "of the whole package, for expect: SHA-256 in hex" }),
    grant: PluginPermissions,
    /** Has no `permissions` in its plugin.yml, so that everything would be granted. */
    full_grant: Type.Boolean(),
    more: Type.Optional(
      Type.Array(Type.String(), { description: "what it asks for beyond what is granted now; left out for a new one" }),
    ),
    hooks: Type.Array(Type.String(), { description: "what the install would run" }),
    warnings: Type.Array(Type.String()),
    replaces: Type.Optional(
      Type.Object({ version: Type.String(), origin: PluginOrigin }, { description: "what is there of that name" }),
    ),
  }),
]);
export type PluginPreview = Static<typeof PluginPreview>;

export const InstallOutcome = Type.Union([InstalledInfo, PluginPreview]);
export type InstallOutcome = Static<typeof InstallOutcome>;

export const installPlugin = endpoint({
  method: "POST",
  path: "/plugins/install",
  scope: "admin",
  summary:
    "Installs a plugin from a release of a hosted repository, a git URL or a local path. " +
    "Accept: application/x-ndjson streams progress",
  body: InstallBody,
  data: InstallOutcome,
});

const FileChange = Type.Object({
  path: Type.String(),
  change: Type.Union([Type.Literal("added"), Type.Literal("changed"), Type.Literal("removed")]),
  size: Type.Optional(Type.Integer({ description: "bytes; left out for a file that was removed" })),
  sha256: Type.Optional(Type.String({ description: "left out for a file that was removed" })),
  diff: Type.Optional(
    Type.Array(Type.String(), {
      description: "lines that begin with @@, a space, - or +; left out where berth has no short text to compare",
    }),
  ),
  left: Type.Optional(Type.Integer({ description: "lines of the difference that are left out" })),
});

/** What differs in an installed plugin from its lock. */
export const PluginChanges = Type.Object({
  name: Type.String(),
  version: Type.String(),
  digest: Type.String({ description: "of all files as they are now, for expect: SHA-256 in hex" }),
  files: Type.Array(FileChange),
  left: Type.Integer({ description: "changed files beyond those that are listed" }),
  grant: Type.Optional({ ...PluginPermissions, description: "what a changed plugin.yml asks for" }),
  full_grant: Type.Optional(
    Type.Boolean({ description: "the changed plugin.yml has no permissions, so that everything would be granted" }),
  ),
  more: Type.Optional(Type.Array(Type.String(), { description: "what it asks for beyond what is granted now" })),
});
export type PluginChanges = Static<typeof PluginChanges>;

export const pluginChanges = endpoint({
  method: "GET",
  path: "/plugins/:name/changes",
  scope: "admin",
  summary: "What was changed in an installed plugin since it was locked",
  data: PluginChanges,
});

export const AcceptBody = Type.Object({
  expect: Type.String({
    pattern: digestPattern,
    description: "digest of the changes that were looked at: a plugin that was changed since is a 409",
  }),
});
export type AcceptBody = Static<typeof AcceptBody>;

export const acceptPlugin = endpoint({
  method: "POST",
  path: "/plugins/:name/accept",
  scope: "admin",
  summary: "Takes what was changed in an installed plugin, with the permissions that its plugin.yml asks for",
  body: AcceptBody,
  data: PluginInfo,
});

export const removePlugin = endpoint({
  method: "DELETE",
  path: "/plugins/:name",
  scope: "admin",
  summary: "Removes a plugin; one that is not there is fine",
  data: Type.Object({
    name: Type.String(),
    removed: Type.Boolean(),
    stranded: Type.Optional(
      Type.Array(Type.String(), {
        description: "blocks that stand and have no plugin now, each with the reason and the way back",
      }),
    ),
  }),
});

export const updatePlugin = endpoint({
  method: "POST",
  path: "/plugins/:name/update",
  scope: "admin",
  summary: "Installs a plugin again from its source. Accept: application/x-ndjson streams progress",
  query: Type.Object({ version: Text("instead of the newest") }),
  body: UpdateBody,
  data: InstallOutcome,
});

export const rollbackPlugin = endpoint({
  method: "POST",
  path: "/plugins/:name/rollback",
  scope: "admin",
  summary: "Returns to the version before the last install or update",
  data: PluginInfo,
});

export const enablePlugin = endpoint({
  method: "POST",
  path: "/plugins/:name/enable",
  scope: "admin",
  summary: "Lets a disabled plugin run again",
  data: PluginInfo,
});

export const disablePlugin = endpoint({
  method: "POST",
  path: "/plugins/:name/disable",
  scope: "admin",
  summary: "Keeps a plugin but refuses to run it",
  data: PluginInfo,
});
