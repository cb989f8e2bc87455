import type { Flag } from "../basics/arguments.ts";
import type { Command } from "./command.ts";
import { exitCodes } from "../basics/failures.ts";
import type { Terminal } from "../basics/terminal.ts";
import { termsText, usageText, wrapText } from "../basics/table-text.ts";

/** What an operator wants to do, with the verbs for it. A verb that is in none of them comes under the last heading. */
export const helpGroups: readonly (readonly [heading: string, verbs: readonly string[]])[] = [
  [
    "deploy",
    [
      "apply",
      "diff",
      "rehearse",
      "up",
      "build",
      "init",
      "rollback",
      "releases",
      "release",
      "rollout",
      "preview",
      "delete",
      "restore",
      "prune",
    ],
  ],
  [
    "look",
    [
      "status",
      "get",
      "describe",
      "ps",
      "logs",
      "searches",
      "boards",
      "traces",
      "disk",
      "drains",
      "why",
      "alerts",
      "incidents",
      "budget",
      "events",
      "history",
      "stats",
      "top",
      "open",
      "hooks",
    ],
  ],
  ["change what runs", ["config", "env", "scale", "restart", "stop", "start", "cron", "lock", "unlock", "locks"]],
  ["work inside an app", ["exec", "shell", "run", "cp", "port-forward"]],
  ["manifest files", ["validate", "fmt", "convert", "import", "export", "schema", "explain"]],
  ["domains, users, plugins", ["domains", "ingress", "certs", "ca", "identity", "people", "plugins"]],
];

const restHeading = "servers and this program";

/** Flags that every verb of the client knows. */
export const globalFlags: readonly Flag[] = [
  {
    name: "remote",
    short: "r",
    value: "NAME",
    summary: "the server, by ssh: a remote, user@host or local (BERTH_REMOTE)",
  },
  { name: "endpoint", value: "URL", summary: "the server: http://host:port or unix:/path (BERTH_ENDPOINT)" },
  {
    name: "output",
    short: "o",
    value: "FORMAT",
    summary: "text or json",
  },
  { name: "help", short: "h", summary: "show help" },
];

/** What `-o` knows of a command. */
export function formatsOf({ yaml, names }: Pick<Command, "yaml" | "names">) {
  return ["text", "json", ...(yaml ? ["yaml" as const] : []), ...(names ? ["name" as const] : [])] as const;
}

/** Like `formatsOf`, for people: `text, json or yaml`. */
export function formatsText(command: Pick<Command, "yaml" | "names">): string {
  const formats: readonly string[] = formatsOf(command);
  return `${formats.slice(0, -1).join(", ")} or ${formats.at(-1)}`;
}

/** As in docs/cli.md, where those of single commands stand too. */
const exitMeanings: readonly (readonly [number, string])[] = [
  [exitCodes.done, "done"],
  [exitCodes.failed, "failed, or what was applied is not ready"],
  [exitCodes.usage, "wrong usage"],
  [exitCodes.timedOut, "not ready in time; the server continues"],
  [exitCodes.unreachable, "the server was not reached"],
  [exitCodes.refused, "not confirmed, or no terminal to ask on"],
  [exitCodes.interrupted, "Ctrl-C (143: SIGTERM, 129: the terminal was closed)"],
];

interface Summary {
  name: string;
  summary: string;
}

/** The help of the program: its commands from their tables. */
export function overview(
  client: readonly Summary[],
  local: readonly Summary[],
  { style, helpWidth: columns }: Look,
): string {
  const width = Math.max(...[...client, ...local].map(({ name }) => name.length));
  const rows = (items: readonly Summary[]) =>
    termsText(
      items.map(({ name, summary }) => [name.padEnd(width), summary]),
      columns,
    );
  return [
    wrapText("berth turns one Linux server into your own platform", columns),
    "",
    `${style.bold("usage")}  berth COMMAND [WORDS] [FLAGS]`,
    "",
    ...grouped(client).flatMap(([heading, items]) => [style.bold(heading), rows(items), ""]),
    style.bold("on the server itself"),
    rows(local),
    "",
    style.bold("exit codes"),
    termsText(
      exitMeanings.map(([code, meaning]) => [String(code), meaning]),
      columns,
    ),
    "",
    wrapText(
      "berth PLUGIN:COMMAND runs a command of a plugin; berth plugins lists them, berth help PLUGIN says more.",
      columns,
    ),
    wrapText("berth COMMAND --help says more; berth --version shows the version.", columns),
  ].join("\n");
}

/** The verbs below the headings of their groups; headings without a verb are left out. */
function grouped(verbs: readonly Summary[]): [heading: string, verbs: Summary[]][] {
  const named = new Set(helpGroups.flatMap(([, names]) => names));
  const groups = helpGroups.map(([heading, names]): [string, Summary[]] => [
    heading,
    names.flatMap((name) => verbs.filter((verb) => verb.name === name)),
  ]);
  const rest: [string, Summary[]] = [restHeading, verbs.filter(({ name }) => !named.has(name))];
  return [...groups, rest].filter(([, items]) => items.length > 0);
}

/** The screen that help is for. */
type Look = Pick<Terminal, "style" | "helpWidth">;

/** The help of one verb. */
export function commandHelp(command: Command, { style, helpWidth: width }: Look): string {
  const common = globalFlags.map((flag) =>
    flag.name === "output" ? { ...flag, summary: formatsText(command) } : flag,
  );
  const flagRows = [...command.flags, ...common].map((flag): [string, string] => [flagText(flag), flag.summary]);
  return [
    wrapText(command.summary, width),
    ...examplesOf(command, { style, helpWidth: width }),
    "",
    style.bold("usage"),
    ...usageOf(command).map((form) => usageText(`berth ${form}`, width)),
    ...(command.detail === undefined ? [] : ["", ...paragraphs(command.detail).map((text) => wrapText(text, width))]),
    "",
    style.bold("flags"),
    termsText(flagRows, width),
  ].join("\n");
}

/** Lines that go on with a sentence of the line before are one paragraph: each screen breaks it elsewhere. */
function paragraphs(lines: readonly string[]): string[] {
  const joined: string[] = [];
  for (const line of lines) {
    const before = joined.at(-1);
    if (before === undefined || /[.:?!]$/.test(before) || line.startsWith(" ")) joined.push(line);
    else joined[joined.length - 1] = `${before} ${line}`;
  }
  return joined;
}

function examplesOf({ examples = [] }: Command, { style, helpWidth: width }: Look): string[] {
  if (examples.length === 0) return [];
  const rows = examples.map((line): [string, string] => {
    const [words = "", meaning = ""] = line.split("  ", 2);
    return [/^[a-z]/.test(words) ? `berth ${words}` : words, meaning];
  });
  return ["", style.bold("examples"), termsText(rows, width)];
}

/** The usage of a command, with that of its narrower commands. */
function usageOf({ usage, commands = [] }: Command): readonly string[] {
  return [...usage, ...commands.flatMap(usageOf)];
}

function flagText({ name, short, value }: Flag): string {
  const dashes = short === undefined ? `    --${name}` : `-${short}, --${name}`;
  return value === undefined ? dashes : `${dashes} ${value}`;
}
