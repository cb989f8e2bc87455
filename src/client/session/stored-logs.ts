import { harmlessText } from "../text/harmless-bytes.ts";
import { OutputFailure } from "../basics/output.ts";
import { readAnswer } from "../../base/wire/client.ts";
import {
  logContext,
  type LogLine,
  type MissingLogLines,
  searchLogs,
  streamLogs,
} from "../../observability/api/log-search.ts";
import { missingText } from "../../observability/api/missing-lines.ts";
import { listSavedSearches } from "../../observability/api/log-searches.ts";
import type { Arguments } from "../basics/arguments.ts";
import type { Context } from "../shell/command.ts";
import { harmless } from "../basics/style.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { type LogFilters, logFilters } from "./log-query.ts";

/** Lines of one page; the server makes it shorter where lines are long. */
const linesMax = 10_000;
/** Lines whose neighbours are shown; each is a request. */
const contextHitsMax = 200;
/** Characters of a line that identify it among others of its millisecond: they have to fit a URL. */
const textCharactersMax = 500;

/** Prints what is stored of an app, then with `-f` what comes. Answers how many lines there were. */
export async function storedLogs(context: Context, args: Arguments, reference: string | undefined): Promise<number> {
  const filters = await wantedLines(context, args, reference);
  const lines = args.value("context");
  const size = lines === undefined ? undefined : countOf("context", lines, 1_000);
  if (size !== undefined && args.on("follow")) throw usageFailure("--context needs lines that are there: leave out -f");
  const tail = args.value("tail");
  const print = linePrinter(context, args);
  if (args.on("follow")) return follow(context, { ...filters, tail: tail ?? "100" }, print);
  let count = 0;
  const shown = createShown();
  for await (const page of pages(context, filters, tail === undefined ? undefined : countOf("tail", tail, linesMax))) {
    const before = count;
    count += page.length;
    if (size === undefined) await print(page);
    else
      for (const line of page.slice(0, Math.max(0, contextHitsMax - before)))
        await printAround(context, { line, size, shown, print });
  }
  if (size !== undefined && count > contextHitsMax)
    context.terminal.note(`${count - contextHitsMax} more lines were found: ask for less time, or leave out --context`);
  return count;
}

/** What the command line asks for, on top of the saved search that it may name. */
async function wantedLines(context: Context, args: Arguments, reference: string | undefined): Promise<LogFilters> {
  const filters = logFilters(reference, args);
  const name = args.value("saved");
  if (name === undefined) return filters;
  const { searches } = await context.api.call(listSavedSearches, {});
  const saved = searches.find((one) => one.name === name);
  if (saved === undefined)
    throw new CommandFailure(`there is no saved search "${name}"; list them with: berth searches`);
  const terms = [saved.q ?? "", filters.q ?? ""].filter((term) => term !== "");
  const { app, level, from } = saved;
  const own = Object.entries({ app, level, from }).filter(([, value]) => value !== undefined && value !== "");
  return { ...Object.fromEntries(own), ...filters, ...(terms.length === 0 ? {} : { q: terms.join(" ") }) };
}

function countOf(flag: string, text: string, most: number): number {
  const value = Number(text);
  if (text !== "" && Number.isInteger(value) && value >= 0 && value <= most) return value;
  throw usageFailure(`--${flag} "${text}" is not a whole number from 0 to ${most}`);
}

/** Oldest first: the newest `tail` lines, or all. */
async function* pages(context: Context, filters: LogFilters, tail: number | undefined): AsyncGenerator<LogLine[]> {
  if (tail === 0) return;
  const order = tail === undefined ? "asc" : "desc";
  let cursor: string | undefined;
  const newest: LogLine[] = [];
  const missing = new Map<string, MissingLogLines>();
  do {
    const left = tail === undefined ? linesMax : tail - newest.length;
    const query = { ...filters, order, limit: String(left), ...(cursor === undefined ? {} : { cursor }) };
    const page = await context.api.call(searchLogs, { query });
    if (tail === undefined) yield page.lines;
    else newest.push(...page.lines);
    for (const one of page.missing ?? []) missing.set(`${one.scope}/${one.name}`, one);
    cursor = page.cursor;
  } while (cursor !== undefined && !context.signal.aborted && (tail === undefined || newest.length < tail));
  if (tail !== undefined) yield newest.toReversed();
  const first = Date.parse(newest.at(-1)?.at ?? "");
  // What lies before the newest lines that were asked for is not missed.
  for (const [app, lines] of missing)
    if (!(Date.parse(lines.until) < first)) context.terminal.note(`${app}: ${missingText(lines)}`);
}

interface SurroundingLines {
  line: LogLine;
  size: number;
  shown: ReturnType<typeof createShown>;
  print: Print;
}

async function printAround(context: Context, { line, size, shown, print }: SurroundingLines): Promise<void> {
  const { scope, name, replica_id: replica, at } = line;
  const query = {
    app: `${scope}/${name}`,
    replica,
    at,
    text: line.text.slice(0, textCharactersMax),
    before: String(size + 1),
    after: String(size),
  };
  const { before, after } = await context.api.call(logContext, { query });
  const all = [...before, ...after];
  const fresh = all.filter((one) => shown.isNew(one));
  if (fresh.length === 0) return;
  if (shown.hasSome() && fresh.length === all.length && !context.json)
    await context.rawTerminal.stdout(Buffer.from("--\n"));
  await print(fresh, (one) => keyOf(one) === keyOf(line));
  shown.add(fresh);
}

function keyOf({ at, pod, text }: LogLine): string {
  return `${at} ${pod} ${text}`;
}

/** Lines that were shown already, as the context of the line before. */
function createShown() {
  let keys = new Set<string>();
  return {
    isNew: (line: LogLine) => !keys.has(keyOf(line)),
    hasSome: () => keys.size > 0,
    add(lines: readonly LogLine[]) {
      // Only neighbours can come twice.
      keys = new Set([...[...keys].slice(-linesMax), ...lines.map(keyOf)]);
    },
  };
}

/** Prints lines at once; those that were not looked for, without the colour of their level. */
type Print = (lines: readonly LogLine[], isFound?: (line: LogLine) => boolean) => Promise<void>;

function linePrinter(context: Context, args: Arguments): Print {
  const { json, terminal, rawTerminal } = context;
  const { style } = terminal;
  const prefixed = !args.on("no-prefix");
  const raw = args.on("raw");
  const plain = { ...style, red: style.dim, yellow: style.dim };
  const shown = (line: LogLine, isFound: boolean) => {
    // JSON leaves C1 controls and marks of direction as they are.
    if (json) return `${harmless(JSON.stringify({ line: line.text, ...line }), false)}\n`;
    const prefix = prefixed ? `${style.byKey(line.pod, `${line.pod} |`)} ` : "";
    const time = args.on("timestamps") ? `${style.dim(line.at)} ` : "";
    const text = raw ? line.text : harmlessText(line.text).trimEnd();
    return `${prefix}${time}${coloured({ ...line, text }, isFound ? style : plain)}\n`;
  };
  return async (lines, isFound = () => true) => {
    const text = lines.map((line) => shown(line, isFound(line))).join("");
    if (text !== "") await rawTerminal.stdout(Buffer.from(text));
  };
}

function coloured({ level, stream, text }: LogLine, style: Context["terminal"]["style"]): string {
  if (stream === "berth") return style.cyan(text);
  if (level === "error" || level === "fatal") return style.red(text);
  return level === "warn" ? style.yellow(text) : text;
}

/** Until Ctrl-C. Comes back after the server was away, with the line after the last one. */
async function follow(context: Context, filters: Record<string, string>, print: Print): Promise<number> {
  const { clock, limits, signal, terminal } = context;
  let last: LogLine | undefined;
  let seen: string[] = [];
  let count = 0;
  let isAway = false;
  while (!signal.aborted) {
    try {
      // What was shown of the last millisecond comes once more, and is left out.
      const again = last === undefined ? filters : { ...filters, from: last.at, tail: String(linesMax) };
      const toSkip = [...seen];
      for await (const lines of readStream(context, again)) {
        if (isAway) terminal.note("the server is back");
        isAway = false;
        const fresh: LogLine[] = [];
        for (const line of lines) {
          const at = line.at === last?.at ? toSkip.indexOf(keyOf(line)) : -1;
          if (at >= 0) {
            toSkip.splice(at, 1);
            continue;
          }
          if (line.at !== last?.at) seen = [];
          seen.push(keyOf(line));
          last = line;
          fresh.push(line);
        }
        count += fresh.length;
        await print(fresh);
      }
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof OutputFailure) throw error;
      const isPassing = error instanceof CommandFailure ? error.exitCode === exitCodes.unreachable : !isRefusal(error);
      if (!isPassing) throw error;
    }
    if (signal.aborted) break;
    if (!isAway) terminal.note("the server does not answer, still trying");
    isAway = true;
    await clock.sleep(limits.followMs, signal);
  }
  return count;
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && "status" in error && typeof error.status === "number" && error.status < 500;
}

async function* readStream(context: Context, query: Record<string, string>): AsyncGenerator<LogLine[]> {
  const response = await context.streams.raw(streamLogs, { query: { ...query, follow: "true" } });
  if (!response.ok) return void readAnswer(streamLogs, response.status, await response.text());
  const decoder = new TextDecoder();
  let open = "";
  const body: AsyncIterable<Uint8Array> | null = response.body;
  for await (const chunk of body ?? []) {
    const texts = (open + decoder.decode(chunk, { stream: true })).split("\n");
    open = texts.pop() ?? "";
    let lines: LogLine[] = [];
    for (const text of texts) {
      if (text === "") continue;
      const line = JSON.parse(text) as LogLine | { skipped: number };
      if ("skipped" in line) {
        yield lines;
        lines = [];
        context.terminal.note(`${line.skipped} lines came too fast and are not shown; they are stored`);
      } else lines.push(line);
    }
    if (lines.length > 0) yield lines;
  }
}
