import { ApiError, readAnswer } from "../../base/wire/client.ts";
import { createFresh, type Told } from "../../base/words/fresh-lines.ts";
import { lineBytesMax } from "../../base/words/merged-lines.ts";
import { createTimedLines } from "../../base/words/timed-lines.ts";
import { podLogs } from "../../orchestration/api/logs.ts";
import { getPod, type PodRecord } from "../../orchestration/api/pods.ts";
import type { Arguments } from "../basics/arguments.ts";
import type { CommandBody, Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { type FanOutSetup, followAll, type LogStart, readAll } from "../session/fan-out.ts";
import { OutputFailure } from "../basics/output.ts";
import { asksStore, searchFlags } from "../session/log-query.ts";
import { storedLogs } from "../session/stored-logs.ts";
import { harmless } from "../basics/style.ts";
import { createHarmlessBytes } from "../text/harmless-bytes.ts";
import { createLinePrefix, type LinePrefix } from "../basics/line-prefix.ts";
import { isFinishedRun } from "../facts/look.ts";
import { refuseBareName } from "../shell/named.ts";
import { containerWord, findPods, noPodsOf } from "../wait/pods.ts";

export const logsCommand: CommandBody = {
  usage: [
    "logs SCOPE/NAME[.REPLICA] [-f] [-n LINES] [--since TIME] [-t]",
    "logs SCOPE/NAME [--grep TEXT] [--level LEVEL] [--field KEY=VALUE] [--until TIME]",
    "logs SCOPE [-f]",
    "logs --saved NAME [-f]",
  ],
  examples: [
    "logs shop/web -f  follow all replicas",
    "logs shop/web -n 100 --since 10m  the last lines of the last 10 minutes",
    "logs shop/web --grep timeout --since 2h -C 3  and 3 lines around each",
    "logs shop --level error -f  errors of all apps of a scope",
    "logs --saved errors -f  a search of berth searches",
    "logs shop/web --field status=500 --field path=/pay  lines with these fields",
  ],
  detail: [
    "With several pods, each line begins with the name of its pod. With -f, new replicas join in, and the",
    "replacement of a pod that goes away is followed. With -o json each line is a JSON object.",
    "With any flag from --until on, the stored output is searched: it has the lines of removed replicas",
    "and of older releases too, for 7 days. In --grep, small letters match capitals as well.",
  ],
  flags: [
    { name: "follow", short: "f", summary: "go on with what is written later" },
    { name: "tail", short: "n", value: "LINES", summary: "only the last lines of each pod" },
    { name: "since", value: "TIME", summary: "only what is newer: 10m, 2026-01-31T13:05:00Z or unix seconds" },
    { name: "timestamps", short: "t", summary: "put its time in front of each line" },
    { name: "no-prefix", summary: "leave the pod out of the lines" },
    { name: "raw", summary: "with colours and all else that drives a terminal" },
    ...searchFlags,
  ],
  async run(context, args) {
    const [reference, ...more] = args.words;
    if (more.length > 0 || (reference === undefined && args.value("saved") === undefined))
      throw usageFailure("logs takes one SCOPE/NAME, pod or SCOPE");
    if (reference === undefined) return fromStore(context, args, undefined);
    if (asksStore(args)) return fromStore(context, args, reference);
    const tail = args.value("tail");
    if (tail !== undefined && !/^\d+$/.test(tail)) throw usageFailure(`--tail takes a number of lines, got "${tail}"`);
    const start: LogStart = { tail, since: args.value("since") };
    const setup = fanOut(context, args, reference);
    try {
      if (args.on("follow")) await followAll(setup, start);
      else {
        const pods = await found(setup, reference);
        if (pods.length === 0) return await removedPods(context, args, reference);
        const isSome = await readAll(setup, pods, start);
        if (start.tail === undefined && start.since === undefined) await noteDropped(context, pods);
        if (!isSome && !context.signal.aborted && !context.json) context.terminal.note(`no output of "${reference}"`);
      }
    } catch (error) {
      if (!context.signal.aborted) throw error;
    }
    return context.signal.aborted ? exitCodes.interrupted : exitCodes.done;
  },
};

async function fromStore(context: Context, args: Arguments, reference: string | undefined): Promise<number> {
  try {
    if ((await storedLogs(context, args, reference)) === 0 && !context.signal.aborted && !context.json)
      context.terminal.note(reference === undefined ? "no stored line fits" : `no stored line of "${reference}" fits`);
  } catch (error) {
    if (!context.signal.aborted) throw error;
  }
  return context.signal.aborted ? exitCodes.interrupted : exitCodes.done;
}

/** Without pods, what they wrote may still be stored. */
async function removedPods(context: Context, args: Arguments, reference: string): Promise<number> {
  // A server that keeps no logs has none.
  const count = await storedLogs(context, args, reference).catch((error: unknown) => {
    if (error instanceof ApiError && [404, 503].includes(error.status)) return 0;
    throw error;
  });
  if (count === 0) throw await noPodsOf(context.api, reference, `, or for the runs of a job: berth why ${reference}`);
  context.terminal.note(`"${reference}" has no pods now: this is the stored output of those that it had`);
  return context.signal.aborted ? exitCodes.interrupted : exitCodes.done;
}

/** Tells a user who asks for all of an output where Docker has kept only its end. */
async function noteDropped({ api, terminal, json }: Context, pods: readonly string[]): Promise<void> {
  for (const name of json ? [] : pods) {
    const detail = await api.call(getPod, { params: { name } }).catch(() => undefined);
    if (detail?.pod.log_dropped !== true) continue;
    terminal.note(
      `the beginning of the output of ${name} is gone: its log files were full; raise logs.max_size or logs.max_files`,
    );
  }
}

async function found(setup: FanOutSetup, reference: string): Promise<readonly string[]> {
  const container = containerWord(reference);
  // Its own name needs no look at the others: the server says when it is gone.
  if (container !== undefined) return [container];
  const pods = await setup.list();
  return pods.map((pod) => pod.name);
}

function fanOut(context: Context, args: Arguments, reference: string): FanOutSetup {
  const { clock, signal, limits, terminal } = context;
  const options = { follow: args.on("follow"), timestamps: args.on("timestamps") };
  let single = containerWord(reference) !== undefined;
  let width = 0;
  let skewMs = 0;
  let looked = false;
  return {
    async list() {
      const { pods: all } = await findPods(context.api, reference);
      // Waiting for a scope that is a name in another scope would never end.
      if (all.length === 0 && !looked) await refuseBareName(reference, context);
      looked = true;
      // Runs that have ended say nothing new, and in a whole scope they are not what is asked for.
      const isWanted = !args.on("follow") && reference.includes("/");
      const pods = all.filter((pod) => isWanted || !isFinishedRun(pod) || namesReplica(reference, pod));
      single ||= pods.some((pod) => namesReplica(reference, pod));
      width = Math.max(width, ...pods.map((pod) => pod.name.length));
      return pods;
    },
    async read(name, start, { onBytes, told }) {
      // The times of the lines tell where to read on after a break.
      const query = { ...options, ...start, timestamps: told === undefined ? options.timestamps : "true" };
      const response = await context.streams.raw(podLogs, { params: { name }, query });
      if (!response.ok) return void readAnswer(podLogs, response.status, await response.text());
      skewMs = Date.parse(response.headers.get("date") ?? "") - clock.now() || 0;
      // One pod that was named itself needs no name in front.
      const plain = (single || args.on("no-prefix")) && !context.json;
      const lines = plain ? undefined : createLinePrefix(lineMaker(context, name, width));
      const fresh = told === undefined ? undefined : freshOnly(told, args.on("timestamps"));
      await print(context, response, { lines, fresh, onBytes, raw: args.on("raw") });
    },
    serverNow: () => clock.now() + skewMs,
    note: (text) => terminal.note(terminal.noteStyle.dim(text)),
    passing,
    clock,
    signal,
    pollMs: limits.followMs,
    streamsMax: limits.logStreamsMax,
    single: () => single,
  };
}

function namesReplica(reference: string, { scope, resource_name: resource, replica_id: replica }: PodRecord): boolean {
  return reference.endsWith(`${scope ?? ""}/${resource}.${replica}`);
}

/** What is shown of one line. */
function lineMaker(context: Context, pod: string, width: number): (line: Uint8Array) => Uint8Array {
  if (context.json)
    return (line) => Buffer.from(harmless(JSON.stringify({ pod, line: Buffer.from(line).toString() }), false));
  const prefix = Buffer.from(`${context.terminal.style.byKey(pod, `${pod.padEnd(width)} |`)} `);
  return (line) => Buffer.concat([prefix, line]);
}

/** Takes the times out of a log again, unless they are wanted, and leaves out what was printed before. */
function freshOnly(told: Told, timestamps: boolean): FreshOnly {
  const lines = createTimedLines({ prefix: "", timestamps, lineBytesMax });
  const fresh = createFresh(told);
  return { push: (bytes) => fresh(lines.push(bytes)), rest: () => fresh(lines.rest()) };
}

interface FreshOnly {
  push(bytes: Uint8Array): Uint8Array;
  /** The last line, where it has no end. */
  rest(): Uint8Array;
}

interface Printing {
  fresh: FreshOnly | undefined;
  /** Undefined for bytes as they are. */
  lines: LinePrefix | undefined;
  onBytes: () => void;
  raw: boolean;
}

async function print(context: Context, response: Response, { lines, fresh, onBytes, raw }: Printing): Promise<void> {
  const { stdout } = context.rawTerminal;
  const body: AsyncIterable<Uint8Array> | null = response.body;
  const door = raw ? undefined : createHarmlessBytes();
  const show = async (bytes: Uint8Array) => {
    const shown = door?.push(bytes) ?? bytes;
    const printed = lines === undefined ? shown : lines.push(shown);
    if (printed.length > 0) await stdout(printed);
  };
  try {
    for await (const chunk of body ?? []) {
      onBytes();
      await show(fresh?.push(chunk) ?? chunk);
    }
    // Where it breaks off, the line is read again.
    if (fresh !== undefined) await show(fresh.rest());
  } finally {
    const rest = door?.end() ?? new Uint8Array();
    const last = lines === undefined ? rest : Buffer.concat([lines.push(rest), lines.end()]);
    if (last.length > 0) await stdout(last);
  }
}

/** The server restarts, or the pod is just being replaced. */
function passing(error: unknown): boolean {
  if (error instanceof ApiError) return error.status === 404 || error.status >= 500;
  if (error instanceof CommandFailure) return error.exitCode === exitCodes.unreachable;
  return !(error instanceof OutputFailure);
}
