import { type Static, Type } from "@sinclair/typebox";
import { actionTypes } from "./action.ts";

/** Names and aliases of plugins: never a path, never a dot name. */
export const pluginNamePattern = "^[a-z0-9][a-z0-9_-]{0,62}$";

/** Version of the protocol between the controller and a plugin that this server speaks. */
export const protocolVersion = 1;

/** Who may call a command beside operators: with `server`, tokens that are limited to no apps; with `operator`, no token. */
export const commandAccess = ["operator", "server"] as const;

export const PluginCommand = Type.Object({
  name: Type.String({ description: "may hold colons and dashes: `backups:capture`" }),
  help: Type.Optional(Type.String()),
  usage: Type.Optional(
    Type.String({ description: "words and flags after the command, for the help: `SCOPE/NAME [--keep N]`" }),
  ),
  timeout: Type.Optional(Type.String({ description: "a duration such as 90s or 2h; the server's default without it" })),
  long: Type.Optional(Type.Boolean({ description: "goes on when the client that asked for it leaves" })),
  destructive: Type.Optional(Type.Boolean({ description: "clients ask the operator before they call it" })),
  exclusive: Type.Optional(
    Type.Boolean({ description: "never at the same time as another exclusive command about the same SCOPE/NAME" }),
  ),
  reads: Type.Optional(
    Type.Boolean({ description: "changes nothing; an answer with actions that change something is rejected" }),
  ),
  reveals: Type.Optional(
    Type.Boolean({
      description: "its answer can hold secrets; tokens need config:reveal, and no record keeps its words",
    }),
  ),
  access: Type.Optional(
    Type.Union(
      commandAccess.map((word) => Type.Literal(word)),
      { description: "operator: no token may call it; server: no token that is limited to some apps" },
    ),
  ),
});
export type PluginCommand = Static<typeof PluginCommand>;

/** What a plugin may do through actions and the environment; granted at install. Not a sandbox. */
export const PluginPermissions = Type.Object({
  actions: Type.Array(Type.Union(actionTypes.map((type) => Type.Literal(type)))),
  scopes: Type.Array(Type.String(), { description: "scopes that its actions and blocks may touch; * is all of them" }),
  docker: Type.Boolean({ description: "gets the address of the container engine" }),
  root: Type.Optional(
    Type.Boolean({ description: "runs as the server's user; false: as one of its own. Left out by grants of before" }),
  ),
  server_env: Type.Optional(
    Type.Array(Type.String(), { description: "variables of the server's own environment that it gets" }),
  ),
  backup: Type.Optional(
    Type.Boolean({
      description: "the server runs its backup commands in the pods of its blocks, and keeps what they print",
    }),
  ),
});
export type PluginPermissions = Static<typeof PluginPermissions>;

/** The command that the server itself runs for a block of the plugin: after a start, and while pods are not ready. */
const PluginAttend = Type.Object({
  command: Type.String({ description: "gets SCOPE/NAME as its argument; always exclusive" }),
  unready: Type.String({ description: "how long a pod of a block is not ready before the command runs; 5s" }),
});

/** Commands that the server runs in a pod of a block in place of copying its volumes. */
const PluginBackup = Type.Object({
  dump: Type.Array(Type.String(), { description: "prints all data of the block" }),
  check: Type.Optional(Type.Array(Type.String(), { description: "reads a dump, and fails where it is not good" })),
  restore: Type.Array(Type.String(), { description: "reads a dump, and puts it in the place of the data" }),
});
export type PluginBackup = Static<typeof PluginBackup>;

/** `plugin.yml`, read and completed: what a file leaves out has its default here. */
export const PluginYml = Type.Object({
  name: Type.String({ pattern: pluginNamePattern }),
  version: Type.String({ description: "raw text of the file: 0.10 stays 0.10; empty when it has none" }),
  description: Type.String(),
  homepage: Type.String(),
  aliases: Type.Array(Type.String()),
  /** Block kinds that `expand` serves; the name and the aliases when the file names none. */
  kinds: Type.Array(Type.String()),
  entrypoint: Type.Optional(Type.String({ description: "one program for all commands, relative to the folder" })),
  /** As declared, or else as found in `bin/` and `commands/`. */
  commands: Type.Array(PluginCommand),
  env: Type.Record(Type.String(), Type.String()),
  server_env: Type.Optional(
    Type.Array(Type.String(), { description: "variables of the server's own environment that it asks for" }),
  ),
  protocol: Type.Optional(Type.Integer()),
  requires: Type.Optional(
    Type.Object({
      version: Type.Optional(Type.String({ description: "of this server, such as >=0.2.0" })),
      programs: Type.Optional(Type.Array(Type.String(), { description: "must be on PATH" })),
    }),
  ),
  /** Left out: everything, as plugins had it before there were permissions. */
  permissions: Type.Optional(PluginPermissions),
  /** Block kind to the path, inside the folder, of the JSON Schema of its spec. */
  schema: Type.Optional(Type.Record(Type.String(), Type.String())),
  attend: Type.Optional(PluginAttend),
  backup: Type.Optional(PluginBackup),
  conf: Type.Optional(
    Type.Array(Type.String(), {
      description: "configuration files, or folders of them; those in conf/ where left out",
    }),
  ),
  routes: Type.Optional(
    Type.Object({
      prefix: Type.Optional(Type.String()),
      port: Type.Optional(Type.Integer()),
      port_env: Type.Optional(Type.String()),
    }),
  ),
});
export type PluginYml = Static<typeof PluginYml>;
