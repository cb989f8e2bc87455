import type { PluginInfo, PluginPreview } from "../../orchestration/api/plugins.ts";
import type { Style } from "../basics/style.ts";
import { printable } from "../basics/style.ts";
import { listText, tableText, termsText, usageText, wrapText } from "../basics/table-text.ts";

/** What help needs to know of a plugin. */
export type DeclaredPlugin = Pick<PluginInfo, "name" | "description" | "aliases" | "kinds" | "commands">;

/** `plugins list`. */
export function pluginTable(plugins: readonly PluginInfo[], look: { style: Style; width: number }): string {
  const rows = plugins.map((plugin) => [
    plugin.name,
    plugin.version || "-",
    plugin.aliases.join(", ") || "-",
    plugin.enabled ? plugin.origin : `${plugin.origin}, disabled`,
    printable(plugin.source ?? "-"),
    printable(plugin.description),
  ]);
  const head = ["NAME", "VERSION", "ALIASES", "ORIGIN", "SOURCE", "DESCRIPTION"];
  return tableText([head, ...rows], { width: look.width, head: look.style.dim });
}

/** `plugins info`. */
export function pluginText(plugin: PluginInfo, style: Style): string {
  const { name, version, description, homepage, aliases, kinds, enabled, origin } = plugin;
  const facts: [string, string | undefined][] = [
    ["version", version],
    ["homepage", homepage],
    ["aliases", aliases.join(", ")],
    ["block kinds", plugin.commands.some((command) => command.name === "expand") ? kinds.join(", ") : undefined],
    ["origin", `${origin}${enabled ? "" : ", disabled"}`],
    ["source", plugin.source],
    ["asked for", plugin.requested],
    ["commit", plugin.commit],
    ["installed", plugin.installed_at],
    ["changed", acceptedText(plugin)],
    ["rolls back to", plugin.previous],
    ["may", grantText(plugin)],
    ["runs as", userText(plugin.permissions)],
  ];
  const rows = facts.flatMap(([fact, text]) => (text === undefined || text === "" ? [] : [[fact, printable(text)]]));
  return [
    `${style.bold(name)}${description === "" ? "" : `  ${printable(description)}`}`,
    "",
    listText(rows, { indent: "  " }),
    "",
    style.bold("commands"),
    commandList(plugin, Number.POSITIVE_INFINITY),
  ].join("\n");
}

/** What would be installed, for the operator to say yes or no to. */
export function previewText(plugin: PluginPreview, style: Style): string {
  const { name, version, description, source, requested, commit, digest, grant, full_grant, more, replaces } = plugin;
  const facts: [string, string | undefined][] = [
    ["version", version],
    ["source", source],
    ["asked for", requested],
    ["commit", commit],
    ["sha256", digest],
    ["replaces", replaces === undefined ? undefined : `version ${replaces.version || "unknown"} (${replaces.origin})`],
    ["may", grantText({ permissions: grant, full_grant })],
    ["new", more?.join(", ")],
    ["runs as", userText(grant)],
    ["runs now", plugin.hooks.map((hook) => `its ${hook} hook`).join(", ") || "nothing"],
  ];
  const rows = facts.flatMap(([fact, text]) => (text === undefined || text === "" ? [] : [[fact, printable(text)]]));
  const about = description === "" ? "" : `  ${printable(description)}`;
  return [`${style.bold(printable(name))}${about}`, listText(rows, { indent: "  " })].join("\n");
}

function acceptedText({ accepted }: PluginInfo): string | undefined {
  if (accepted === undefined) return undefined;
  return `accepted at ${accepted.at}: ${accepted.files.join(", ") || "as it was released"}`;
}

/** Whether it can do whatever the server can, beyond what it was granted. Older servers do not say. */
function isRoot({ docker, root }: PluginInfo["permissions"]): boolean {
  return docker || root !== false;
}

/** As whom its commands run. */
export function userText(permissions: PluginInfo["permissions"]): string {
  if (!isRoot(permissions)) return "a user of its own, who can read nothing of the server's";
  return permissions.docker
    ? "the user of the server, root mostly: a plugin with access to the engine can do everything"
    : "the user of the server, root mostly";
}

/** What it was granted, in one line. */
export function grantText({ permissions, full_grant: full }: Pick<PluginInfo, "permissions" | "full_grant">): string {
  const { actions, scopes, docker, backup, server_env: names = [] } = permissions;
  const reads = names.length === 0 ? "" : `; reads ${names.join(", ")} of the server's environment`;
  if (full) return `do everything (its plugin.yml asks for no permissions)${reads}`;
  const where = scopes.includes("*") ? "in every scope" : `in ${scopes.join(", ") || "no scope"}`;
  const what = actions.length === 0 ? "carry out no action" : actions.join(", ");
  return `${what}; ${where}; ${docker ? "uses" : "does not use"} the container engine${backup === true ? "; backs up its blocks by commands in their pods" : ""}${reads}`;
}

function commandList(plugin: Pick<PluginInfo, "name" | "commands">, width: number): string {
  if (plugin.commands.length === 0) return "  none";
  const rows = plugin.commands.map((command): [string, string] => {
    const mark = command.destructive === true ? " (asks first)" : "";
    return [`${plugin.name}:${command.name}`, printable(`${command.help ?? ""}${mark}`.trim())];
  });
  return termsText(rows, width);
}

/** `berth pg -h`: made from what the plugin declares. */
export function pluginHelpText(
  plugin: DeclaredPlugin,
  typed: string,
  { style, helpWidth: width }: { style: Style; helpWidth: number },
): string {
  const { name, description, commands, kinds } = plugin;
  const expands = commands.some((command) => command.name === "expand");
  return [
    description === "" ? `commands of the plugin ${name}` : wrapText(printable(description), width),
    "",
    style.bold("usage"),
    `  berth ${typed}:COMMAND [WORDS]`,
    "",
    style.bold("commands"),
    commandList({ ...plugin, name: typed, commands: commands.filter((command) => command.name !== "expand") }, width),
    ...(expands
      ? [
          "",
          wrapText(
            `Blocks of kind ${kinds.join(", ")} are expanded by it; see: berth explain ${kinds[0] ?? name}`,
            width,
          ),
        ]
      : []),
  ].join("\n");
}

function moreText({ name, destructive }: PluginInfo["commands"][number], typed: string): string {
  const yes = destructive === true ? " --yes" : "";
  return `The words go to the plugin as they are; perhaps it says more: berth ${typed}:${name} -h${yes}`;
}

interface CommandHelp {
  command: PluginInfo["commands"][number];
  /** The plugin, as the operator wrote it. */
  typed: string;
  width: number;
}

/** `berth help pg:psql`. */
export function pluginCommandHelp(plugin: DeclaredPlugin, { command, typed, width }: CommandHelp): string {
  const notes = [
    command.timeout === undefined ? undefined : `Ends at the latest after ${command.timeout}.`,
    command.long === true ? "Goes on when the client leaves." : undefined,
    command.destructive === true ? "Asks before it is run; --yes answers with yes." : undefined,
  ].filter((note) => note !== undefined);
  return [
    wrapText(printable(command.help ?? `the command ${command.name} of the plugin ${plugin.name}`), width),
    "",
    "usage",
    usageText(`berth ${typed}:${command.name} ${printable(command.usage ?? "[WORDS]")}`, width),
    ...(notes.length > 0 ? ["", ...notes.map((note) => wrapText(note, width))] : []),
    ...(command.usage === undefined ? ["", wrapText(moreText(command, typed), width)] : []),
  ].join("\n");
}
