import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArguments } from "../../src/client/basics/arguments.ts";
import type { Command } from "../../src/client/shell/command.ts";
import { globalFlags } from "../../src/client/shell/help.ts";
import { narrowed } from "../../src/client/entry/narrow.ts";
import { splitPluginWord } from "../../src/client/entry/plugin-words.ts";
import { localCommands } from "../../src/client/basics/local-commands.ts";
import { loaded, verbs } from "../../src/client/entry/table.ts";
import { parsePluginYml } from "../../src/orchestration/plugins/yaml.ts";

const checkout = join(import.meta.dir, "../..");

/** Words with which the bundled plugins are called. */
const bundled: Record<string, string> = { pg: "postgres", postgres: "postgres", redis: "redis" };

/** Plugins that a page writes or installs as an example. */
const examples = ["greet"];

/** Throws where the words after `berth` name a command or a flag that does not exist. */
export async function checkBerthLine(words: readonly string[]): Promise<void> {
  const [verb = "", ...rest] = splitFirst(words);
  if (verb === "" || verb.startsWith("-") || /^[A-Z]/.test(verb) || examples.includes(verb)) return;
  if (verb === "help") return checkBerthLine(rest);
  if (verb === "plugin") return;
  const local = localCommands.find((one) => {
    const isOfClient = "unless" in one && ["", ...one.unless].includes(rest[0] ?? "");
    return !isOfClient && `${[verb, ...rest].join(" ")} `.startsWith(`${one.name} `);
  });
  if (local !== undefined) return checkLocal(local.name, rest);
  if (bundled[verb] !== undefined) return checkPlugin(bundled[verb], rest);
  const found = verbs.find(({ name }) => name === verb);
  if (found === undefined) throw new Error(`no command "${verb}"`);
  const { command, rest: own } = narrowed(await loaded(found), rest);
  const { restFromWord: stopAtWord } = command;
  const args = parseArguments(own, [...command.flags, ...globalFlags], stopAtWord === undefined ? {} : { stopAtWord });
  if (command.name === verb) checkSubverb(command, args.words[0]);
}

function splitFirst([first, ...rest]: readonly string[]): string[] {
  return first === undefined ? [] : [...splitPluginWord(first), ...rest];
}

/** Of `config`, `cron` and others, whose first word is one of their usage. */
function checkSubverb(command: Command, word: string | undefined): void {
  const alternatives = command.usage.map((form) => form.replaceAll(/[[\]]/g, "").split(" ").slice(1));
  const known = alternatives.map((form) => form.filter((one) => /^[a-z]+$/.test(one)));
  if (word === undefined || known.some(({ length }) => length === 0)) return;
  if (!known.flat().includes(word)) throw new Error(`"${command.name}" knows no "${word}": ${known.flat().join(", ")}`);
}

function checkPlugin(name: string, [command = "", ...rest]: readonly string[]): void {
  if (command === "" || command.startsWith("-")) return;
  const folder = join(checkout, "plugins", name);
  const yml = parsePluginYml(readFileSync(join(folder, "plugin.yml"), "utf8")).value as {
    commands: { name: string; usage?: string }[];
  };
  const declared = yml.commands.find((one) => one.name === command);
  if (declared === undefined) throw new Error(`no command "${name}:${command}"`);
  const known = `${declared.usage ?? ""} --yes -y -o --help`;
  const own = rest.slice(0, rest.includes("--") ? rest.indexOf("--") : rest.length);
  checkFlags(own, known, `${name}:${command}`);
}

/** Help of each command of the machine itself, by its name; asked in one process. */
let localHelp: Promise<Map<string, string>> | undefined;

async function checkLocal(name: string, rest: readonly string[]): Promise<void> {
  localHelp ??= askLocalHelp();
  const known = (await localHelp).get(name) ?? "";
  checkFlags(rest, `${known} --yes --help -h -o --output`, name);
}

async function askLocalHelp(): Promise<Map<string, string>> {
  const names = localCommands.map(({ name }) => name);
  const script = `
    const { client } = await import(${JSON.stringify(join(checkout, "src/client.ts"))});
    for (const name of ${JSON.stringify(names)}) {
      // Its help without a word is that of the client's command.
      await client([...name.split(" "), ...(name === "backup" ? ["./file"] : []), "--help"]);
      process.stdout.write("\\0");
    }`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe", stderr: "ignore" });
  const texts = (await new Response(child.stdout).text()).split("\0");
  return new Map(names.map((name, index) => [name, texts[index] ?? ""]));
}

function checkFlags(words: readonly string[], known: string, command: string): void {
  const names = new Set([...known.matchAll(/(?<![\w-])--?[a-z][\w-]*/g)].map(([name]) => name));
  const unknown = words.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.replace(/=.*$/, ""));
  const wrong = unknown.find((word) => !names.has(word));
  if (wrong !== undefined) throw new Error(`"${command}" knows no flag "${wrong}"`);
}
