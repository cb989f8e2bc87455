import { statSync } from "node:fs";
import { resolve } from "node:path";
import { listPluginRuns, type PluginRun } from "../../orchestration/api/dispatch.ts";
import {
  disablePlugin,
  enablePlugin,
  getPlugin,
  listPlugins,
  removePlugin,
  rollbackPlugin,
} from "../../orchestration/api/plugins.ts";
import { parseSource, sourceForm } from "../../orchestration/core/plugins/source.ts";
import type { Arguments } from "../basics/arguments.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { requireKnown } from "../shell/known.ts";
import { oneWord, verbOf } from "../shell/words.ts";
import { ageOf } from "../text/time-text.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { pluginConfigured } from "./plugins/config.ts";
import { acceptShown } from "./plugins/accept.ts";
import { installShown, tellStranded, toldPlugin, updateShown } from "./plugins/install.ts";
import { pluginTable, pluginText } from "../text/plugin-text.ts";
import { printable } from "../basics/style.ts";
import { tableText } from "../basics/table-text.ts";
import { tableSetup } from "./get.ts";
import { eitherOf, rowsOf, whenListing } from "../shell/listing.ts";

const actions = { list, info, install, update, accept, config, rollback, enable, disable, remove, runs };

export const pluginsCommand: CommandBody = {
  usage: [
    "plugins [list]",
    "plugins info NAME",
    "plugins install SOURCE [--version TAG] [--replace] [-y]",
    "plugins install DIR --link [-y]",
    "plugins update [NAME] [--version TAG] [-y]",
    "plugins accept NAME [-y]",
    "plugins config NAME [KEY=VALUE…] [--unset KEY]",
    "plugins rollback | enable | disable NAME",
    "plugins remove NAME [-y]",
    "plugins runs [NAME] [--limit N]",
  ],
  examples: [
    "plugins  installed and bundled plugins",
    "plugins install OWNER/REPO  show what a release would install, and ask",
    "plugins info postgres  commands and kinds of one plugin",
  ],
  detail: [
    "SOURCE is owner/repo for a release, the URL of a git repository, or a folder of the server.",
    "On a terminal install shows what would come in, before anything of it runs, and asks; update",
    "asks where a version wants more than was granted. With -y nothing is asked and that is granted.",
    "Without a terminal, install and remove need -y, and so does update for such a version.",
    "A plugin whose files were changed does not run: accept shows the changes, asks, and locks the files",
    "as they are. An update or a new installation brings the released files back.",
    "config shows or sets environment for the hooks and commands of a plugin; KEY=- reads from stdin.",
    "A command of a plugin is run with: berth PLUGIN:COMMAND [WORDS]; berth help PLUGIN lists them.",
    "To write one: berth plugins init NAME, then plugins lint and plugins test.",
  ],
  flags: [
    { name: "version", value: "TAG", summary: "this version and not the newest" },
    { name: "replace", summary: "take the place of a bundled plugin, or of a folder dropped in by hand" },
    { name: "link", summary: "use the folder where it is, as it is at each moment: for development" },
    { name: "unset", value: "KEY", repeat: true, summary: "config: no longer give the plugin this variable" },
    yesFlag,
    { name: "limit", short: "n", value: "N", summary: "at most this many runs (100)" },
  ],
  lists: whenListing("list runs", eitherOf(rowsOf("runs", "run_id"), rowsOf("plugins", "name")), { byDefault: true }),
  async run(context, args) {
    const { action, words } = verbOf(actions, "plugins", args);
    return action({ words, args, context });
  },
};

interface Call {
  words: string[];
  args: Arguments;
  context: Context;
}

function only(words: string[], what = "NAME; see: berth plugins list"): string {
  const word = oneWord({ words }, `which: one ${what}`);
  return word;
}

async function list({ words, context }: Call): Promise<number> {
  if (words.length > 0) throw usageFailure("plugins list takes no words");
  const data = await context.api.call(listPlugins);
  answer(context, data, () => {
    return data.plugins.length === 0 ? "no plugins" : pluginTable(data.plugins, tableSetup(context));
  });
  const { noteStyle } = context.terminal;
  if (!context.json) for (const text of data.errors) context.terminal.note(`${noteStyle.red("✗")} ${printable(text)}`);
  return exitCodes.done;
}

async function info({ words, context }: Call): Promise<number> {
  const plugin = await context.api.call(getPlugin, { params: { name: only(words) } });
  return answer(context, plugin, () => pluginText(plugin, context.terminal.style));
}

async function install({ words, args, context }: Call): Promise<number> {
  const source = sourceOf(only(words, "SOURCE"), context);
  const version = args.value("version");
  const body = {
    source,
    ...(version === undefined ? {} : { version }),
    ...(args.on("link") ? { link: true } : {}),
    ...(args.on("replace") ? { replace: true } : {}),
  };
  return installShown(context, body, { yes: args.on("yes") });
}

/** Folders are named as the server sees them: it has another current folder. */
function sourceOf(text: string, { cwd }: Context): string {
  const isFolder = (path: string) => statSync(resolve(cwd, path), { throwIfNoEntry: false })?.isDirectory() === true;
  const source = parseSource(text, isFolder);
  if (source === undefined) throw usageFailure(`not a source of a plugin: "${text}"; ${sourceForm}`);
  return source.type === "local" ? resolve(cwd, source.path) : text;
}

async function update({ words, args, context }: Call): Promise<number> {
  const { plugins } = await context.api.call(listPlugins);
  const yes = args.on("yes");
  if (words.length > 0) {
    const name = only(words);
    const before = plugins.find((plugin) => plugin.name === name || plugin.aliases.includes(name));
    return updateShown(context, { name, before, version: args.value("version"), yes });
  }
  if (args.value("version") !== undefined) throw usageFailure("say which plugin has that version");
  const ours = plugins.filter(({ origin }) => origin === "installed");
  if (ours.length === 0) context.terminal.note("nothing to update: no plugin is installed");
  let worst: number = exitCodes.done;
  for (const before of ours) {
    try {
      await updateShown(context, { name: before.name, before, version: undefined, yes });
    } catch (error) {
      // One that cannot be updated does not keep the others from it.
      if (!(error instanceof Error) || context.signal.aborted) throw error;
      context.terminal.note(`${context.terminal.noteStyle.red("✗")} ${before.name}: ${error.message}`);
      worst = exitCodes.failed;
    }
  }
  return worst;
}

async function accept({ words, args, context }: Call): Promise<number> {
  return acceptShown(context, only(words), { yes: args.on("yes") });
}

async function config({ words, args, context }: Call): Promise<number> {
  const [name, ...pairs] = words;
  return pluginConfigured(context, {
    name: only(name === undefined ? [] : [name]),
    pairs,
    unset: args.values("unset"),
  });
}

async function rollback({ words, context }: Call): Promise<number> {
  const plugin = await context.api.call(rollbackPlugin, { params: { name: only(words) } });
  return toldPlugin(context, plugin, "rolled back to");
}

async function enable({ words, context }: Call): Promise<number> {
  return toldPlugin(context, await context.api.call(enablePlugin, { params: { name: only(words) } }), "enabled");
}

async function disable({ words, context }: Call): Promise<number> {
  return toldPlugin(context, await context.api.call(disablePlugin, { params: { name: only(words) } }), "disabled");
}

async function remove({ words, args, context }: Call): Promise<number> {
  const name = only(words);
  await requireRemovable(name, context);
  await assent(`Remove the plugin "${name}"? What it made stays.`, args, context);
  const data = await context.api.call(removePlugin, { params: { name } });
  if (!data.removed) throw new CommandFailure(`no plugin "${name}" is installed; see: berth plugins`);
  tellStranded(context, data);
  return answer(context, data, () => `removed ${name}`);
}

/** One whose plugin.yml cannot be read is in no list, and can be removed all the same. */
async function requireRemovable(name: string, { api }: Context): Promise<void> {
  const { plugins, errors } = await api.call(listPlugins);
  const found = plugins.find((plugin) => plugin.name === name || plugin.aliases.includes(name));
  if (found?.origin === "bundled") {
    const way = `berth plugins disable ${name} turns it off`;
    throw new CommandFailure(`the plugin "${name}" is part of the server and cannot be removed: ${way}`);
  }
  if (found !== undefined || errors.some((text) => text.includes(name))) return;
  const names = plugins.filter(({ origin }) => origin !== "bundled").flatMap((one) => [one.name, ...one.aliases]);
  requireKnown(name, { what: "plugin", names, see: "berth plugins" });
}

async function runs({ words, args, context }: Call): Promise<number> {
  const plugin = words.length === 0 ? undefined : only(words);
  const data = await context.api.call(listPluginRuns, { query: { plugin, limit: args.value("limit") } });
  if (data.runs.length === 0 && plugin !== undefined) {
    // An unknown plugin that never ran is an error; one that was removed has runs.
    await context.api.call(getPlugin, { params: { name: plugin } });
  }
  return answer(context, data, () => (data.runs.length === 0 ? "no runs yet" : runTable(data.runs, context)));
}

function runTable(list: readonly PluginRun[], context: Context): string {
  const { style, width, now } = tableSetup(context);
  const rows = list.map((run) => {
    const color = run.status === "succeeded" ? style.green : run.status === "running" ? style.cyan : style.red;
    const said = run.error ?? run.tail.at(-1) ?? "";
    const words = [run.command, ...run.args].map(printable).join(" ");
    return [
      run.run_id,
      run.plugin,
      words,
      color(run.status),
      ageOf(run.started_at, now),
      printable(run.actor),
      printable(said),
    ];
  });
  const head = ["RUN", "PLUGIN", "COMMAND", "RESULT", "AGE", "BY", "SAID"];
  return tableText([head, ...rows], { width, head: style.dim });
}
