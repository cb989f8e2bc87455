import { readAnswer } from "../../base/wire/client.ts";
import { type ListedManifest, listManifests } from "../../orchestration/api/apply.ts";
import { coreKinds } from "../../orchestration/api/manifest.ts";
import { completionScripts } from "../completion/scripts.ts";
import type { Place } from "../completion/usage.ts";
import { nextPlaces, verbOf } from "../completion/words.ts";
import type { CommandBody, Context } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { readRemotes } from "../remote/remotes.ts";

export const completionCommand: CommandBody = {
  usage: ["completion bash|zsh|fish"],
  examples: [
    "completion bash >/etc/bash_completion.d/berth  for all users of bash",
    "completion zsh >~/.berth-completion.zsh  for zsh: source it in ~/.zshrc",
    "completion fish >~/.config/fish/completions/berth.fish  for fish",
  ],
  detail: [
    "The Tab key then completes commands, flags, kinds, remotes, and the names of scopes and apps on the",
    "server. If the server does not answer within a moment, or its tunnel is not open, names are left",
    "out without a message. bash and zsh also take the line: source <(berth completion bash)",
  ],
  flags: [],
  restFromWord: 2,
  async run(context, args) {
    const [shell = "", ...line] = args.words;
    if (shell === "words") return offer(context, line);
    const script = Object.entries(completionScripts).find(([name]) => name === shell)?.[1];
    if (script === undefined || line.length > 0) throw usageFailure("say which shell: completion bash, zsh or fish");
    context.terminal.out(script);
    return exitCodes.done;
  },
};

/** Prints the words that may come next, one a line. The last word of the line is the one that is being written. */
async function offer(context: Context, line: readonly string[]): Promise<number> {
  const words = line[0] === "--" ? line.slice(1) : line;
  const current = words.at(-1) ?? "";
  const places = await placesIn(context, words.slice(0, -1), current);
  const live = places.some((place) => place.live === "apps" || place.live === "scopes and apps");
  const names = live ? await namesOf(context) : [];
  const remotes = places.some((place) => place.live === "remotes") ? remoteNames(context) : [];
  const all = [...places.flatMap((place) => [...place.words, ...liveWords(place, names)]), ...remotes];
  const fitting = [...new Set(all)].filter((word) => word.startsWith(current)).sort();
  if (fitting.length > 0) context.terminal.out(fitting.map(printable).join("\n"));
  return exitCodes.done;
}

async function placesIn({ commands }: Context, before: readonly string[], current: string): Promise<Place[]> {
  const verb = verbOf(before);
  if (verb === undefined && current.startsWith("-")) return [{ words: ["--help", "--version"], live: undefined }];
  if (verb === undefined || verb === "help") {
    return [{ words: [...commands.names, "help"], live: undefined }];
  }
  const known = await commands.load(verb);
  return known === undefined ? [] : nextPlaces(known, before, current);
}

function liveWords({ live }: Place, names: readonly ListedManifest[]): string[] {
  if (live === undefined || live === "remotes") return [];
  if (live === "kinds") return ["pods", "all", ...coreKinds];
  const apps = names.flatMap(({ scope, name }) => (scope ? [`${scope}/${name}`] : []));
  return live === "apps" ? apps : [...apps, ...names.flatMap(({ scope }) => (scope ? [scope] : []))];
}

/** Also of their groups. */
function remoteNames({ remotes, limits }: Context): string[] {
  try {
    return readRemotes(remotes.file, limits.tunnel).list.flatMap(({ name, groups }) => [name, ...groups]);
  } catch {
    return [];
  }
}

/** Somebody waits at the keyboard. */
const answerMs = 700;

/** Nothing where the server does not answer at once; a tunnel is used when it is open, and not opened. */
async function namesOf({ reach, route: { address } }: Context): Promise<ListedManifest[]> {
  try {
    const api = reach(address.socket === undefined ? address.baseUrl : `unix:${address.socket}`);
    const answer = await api.raw(listManifests, { query: {}, signal: AbortSignal.timeout(answerMs) });
    return readAnswer(listManifests, answer.status, await answer.text());
  } catch {
    return [];
  }
}
