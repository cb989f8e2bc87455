import type { Sources } from "./evidence/sources.ts";

/** Commands that start a server, by custom. */
const serving = [
  "serve",
  "server",
  "web",
  "http",
  "api",
  "start",
  "run",
  "up",
  "daemon",
  "listen",
  "httpd",
  "run-server",
];
const namesShownMax = 6;

/** What a program that is one of several commands is started with. */
export interface Subcommand {
  word: string | undefined;
  note: string;
}

/**
 * The command that starts a server, of a program that does nothing without one: cobra and urfave/cli of Go, clap of Rust.
 * Undefined where a program starts by itself.
 */
export function subcommandOf({ files }: Pick<Sources, "files">, language: string): Subcommand | undefined {
  const found = files.flatMap(({ path, text }) =>
    (language === "go" ? goCommands(text) : rustCommands(text)).map((name) => ({ name, path })),
  );
  const isRunByRoot = language === "go" && files.some(({ text }) => rootRuns(text));
  if (found.length === 0 || isRunByRoot) return undefined;
  const server = serving.flatMap((word) => found.find(({ name }) => name === word) ?? [])[0];
  if (server !== undefined) {
    const note = `the program takes commands, and is started with ${server.name}, as ${server.path} names it; to start it otherwise, write command`;
    return { word: server.name, note };
  }
  const names = [...new Set(found.map(({ name }) => name))].slice(0, namesShownMax).join(", ");
  const note = `the program takes commands (${names}), and it is not known which of them starts a server, so it is started with none; write command: ["/app", "NAME"]`;
  return { word: undefined, note };
}

/** Commands that a file adds to a program: `Use: "serve"` of cobra, `Name: "api"` of urfave/cli. */
function goCommands(text: string): string[] {
  if (/\bcobra\.Command\{/.test(text)) {
    const added = [...text.matchAll(/\bUse:[ \t]{1,20}"([a-z][\w-]{0,40})/g)].map(([, name = ""]) => name);
    return /\.Execute(?:Context|C)?\(/.test(text) ? added.slice(1) : added;
  }
  if (!/\bcli\.(?:Command|App)\b/.test(text)) return [];
  const named = text.matchAll(/(?:cli\.Command\{|^[ \t]{0,20}\{)\s{0,40}Name:[ \t]{1,20}"([a-z][\w-]{0,40})"/gm);
  return [...named].map(([, name = ""]) => name);
}

/** Whether a program of cobra or urfave/cli runs something without a command. */
function rootRuns(text: string): boolean {
  if (/\bcli\.App\{/.test(text)) {
    const root =
      text
        .slice(text.indexOf("cli.App{"))
        .slice(0, 3000)
        .split(/\n\t?\}/)[0] ?? "";
    return /^[ \t]{0,8}Action:/m.test(root) || /\bapp\.Action[ \t]?=/.test(text);
  }
  if (!/\bcobra\.Command\{/.test(text) || !/\.Execute(?:Context|C)?\(|\b[rR]ootC(?:md|ommand)\b/.test(text))
    return false;
  const at =
    /\b[rR]oot\w{0,20}[ \t]{0,9}:?=[ \t]{0,9}&?cobra\.Command\{/.exec(text)?.index ?? text.indexOf("cobra.Command{");
  const root = text.slice(at, at + 3000).split(/\n\t?\}/)[0] ?? "";
  return /^[ \t]{0,8}RunE?:/m.test(root) || /\b[rR]oot\w{0,20}\.RunE?[ \t]?=/.test(text);
}

/** Commands of clap, in the words that it makes of the names: `RunServer` is `run-server`. */
function rustCommands(text: string): string[] {
  const body =
    /#\[derive\([^)]{0,100}\bSubcommand\b[^)]{0,100}\)\][^{]{0,300}\benum\s{1,9}\w{1,60}\s{0,9}\{([\s\S]{0,4000}?)\n\}/.exec(
      text,
    )?.[1];
  const isOptional = /#\[(?:command|clap)\(subcommand\)\]\s{0,80}(?:pub )?\w{1,40}: Option</.test(text);
  if (body === undefined || isOptional) return [];
  return [...body.matchAll(/^ {4}([A-Z]\w{0,40})(?=\s{0,3}[,({])/gm)].map(([, name = ""]) =>
    name.replaceAll(/(?!^)([A-Z])/g, "-$1").toLowerCase(),
  );
}
