import { quotedPhrase } from "../../observability/api/log-phrase.ts";
import type { Arguments, Flag } from "../basics/arguments.ts";
import { usageFailure } from "../basics/failures.ts";
import { parseReference, splitReplica } from "../basics/reference.ts";
import { containerWord } from "../wait/pods.ts";

/** Flags that choose lines by what they say. */
export const textFlags: readonly Flag[] = [
  { name: "grep", value: "TEXT", repeat: true, summary: "only lines with TEXT, or that match /EXPRESSION/" },
  { name: "level", value: "LEVEL", summary: "only this level and above: debug, info, warn, error, fatal" },
  {
    name: "field",
    value: "KEY=VALUE",
    repeat: true,
    summary: "only lines with this field, in JSON or key=value; also != > >= < <=",
  },
];

/** Flags of `logs` that ask the stored output: each of them makes `logs` search instead of asking the pods. */
export const searchFlags: readonly Flag[] = [
  { name: "until", value: "TIME", summary: "only what is older, in the forms of --since" },
  ...textFlags,
  { name: "release", value: "ID", summary: "only lines of this release" },
  {
    name: "context",
    short: "C",
    value: "LINES",
    summary: "show so many lines before and after each line that was found",
  },
  { name: "stored", summary: "also lines of replicas that are gone" },
  { name: "saved", value: "NAME", summary: "a search of berth searches; other flags narrow it further" },
];

/** Whether the command line asks for what only the store knows. */
export function asksStore(args: Arguments): boolean {
  return searchFlags.some(({ name, value }) => (value === undefined ? args.on(name) : args.values(name).length > 0));
}

export interface LogFilters {
  q?: string;
  app?: string;
  replica?: string;
  release?: string;
  level?: string;
  from?: string;
  until?: string;
}

const levels = ["trace", "debug", "info", "warn", "error", "fatal"];

/** The query of a command line; without a reference of every app. Throws usage failures. */
export function logFilters(reference: string | undefined, args: Arguments): LogFilters {
  const level = args.value("level");
  if (level !== undefined && !levels.includes(level))
    throw usageFailure(`unknown level "${level}": use ${levels.join(", ")}`);
  const terms = [
    ...args.values("grep").map((text) => (/^\/.+\/i?$/.test(text) ? text : quotedPhrase(text))),
    ...args.values("field").map(fieldTerm),
  ];
  const { pod, ...named }: ReturnType<typeof namedBy> = reference === undefined ? {} : namedBy(reference);
  if (pod !== undefined) terms.push(`pod=${quotedPhrase(pod)}`);
  const [release, from, until] = [args.value("release"), args.value("since"), args.value("until")];
  return {
    ...named,
    ...(terms.length === 0 ? {} : { q: terms.join(" ") }),
    ...(level === undefined ? {} : { level }),
    ...(release === undefined ? {} : { release }),
    ...(from === undefined ? {} : { from }),
    ...(until === undefined ? {} : { until }),
  };
}

function fieldTerm(text: string): string {
  const found = /^(\.?[A-Za-z_@][\w.@-]*)(>=|<=|!=|=|>|<)(.*)$/s.exec(text);
  if (found === null) throw usageFailure(`--field "${text}" is not KEY=VALUE, for example: --field status=500`);
  const [, key = "", operator = "", value = ""] = found;
  return `${key}${operator}${quotedPhrase(value)}`;
}

function namedBy(reference: string): { app?: string; replica?: string; pod?: string } {
  const pod = containerWord(reference);
  if (pod !== undefined) return { pod };
  const { word, scope, name } = parseReference(reference);
  if (scope === undefined || name === undefined) return { app: word ?? "" };
  const split = splitReplica(name);
  // A name may hold dots too: what follows the last one has to look like a replica.
  if (split !== undefined && /^(?:[a-z2-7]{5}|\d{1,4})$/.test(split.replica))
    return { app: `${scope}/${split.name}`, replica: split.replica };
  return { app: `${scope}/${name}` };
}
