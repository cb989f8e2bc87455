import { type Principal, unnamed } from "../../../access/principal.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { createErrorLines, failureText, readReply, type Reply } from "../../core/plugins/envelope.ts";
import type { Ending, Finished } from "../../plugins/host.ts";
import { isFullGrant, type Plugin } from "../../plugins/plugin.ts";
import type { PluginRunRecord } from "../../store/plugin-records.ts";
import type { Context } from "../state/context.ts";
import { makerOf } from "../../core/plugins/maker.ts";
import { blockOfWords } from "./own-places.ts";
import { doors, hiddenFor, pluginEnvironment } from "./plugin-environment.ts";
import { holdStopped } from "../state/plugin-holds.ts";
import type { Place } from "../state/plugin-room.ts";

/** One command to run. */
export interface PluginCall {
  plugin: Plugin;
  command: string;
  args: string[];
  /** Written as JSON, with `controller_url`; undefined for no input at all. */
  input: Record<string, unknown> | undefined;
  /** Beside what every plugin gets; wins. */
  env?: Record<string, string>;
  /** Where plugin.yml says nothing. */
  timeoutMs: number;
  actor: string;
  /** Who started it: calls that the run makes may do no more. Left out, they may do the least. */
  by?: Principal | undefined;
  /** It reaches nothing of the server while it runs. */
  alone?: boolean;
  /** The blocks of the plugin that this call may touch; all of them where it is left out. */
  only?: readonly Place[] | undefined;
  signal?: AbortSignal | undefined;
  onLine?: ((line: string) => void) | undefined;
}

/** A command that ran to its end, whatever it said. */
export interface PluginAnswer {
  reply: Reply;
  stdout: string;
  stderr: string;
  exitCode: number;
  /** Writes down how it ended for those who list runs; call it once. */
  record(result: { error?: string; applied?: string[] }): void;
  runId: string;
}

/**
 * Runs a command of a plugin and keeps a record of it. Fails `conflict` for a disabled plugin or altered files,
 * `internal` when it cannot be started or takes too long, `invalid` when a signal ended it or it printed too much or
 * no text, `unavailable` when it was cancelled. What it says, and an exit code that is not 0, is the caller's to judge.
 */
export async function runPlugin(context: Context, call: PluginCall): Promise<PluginAnswer> {
  const { plugin, command } = call;
  if (!plugin.enabled) {
    throw new Failure("conflict", `plugin "${plugin.yml.name}" is disabled; enable it first`);
  }
  await context.plugins.installer.verify(plugin);
  const { run, release } = begin(context, call);
  const hide = hiddenFor(context, plugin);
  const end = (result: Partial<PluginRunRecord>) => {
    const { error, tail } = result;
    const hidden = { ...result, ...(error && { error: hide(error) }), ...(tail && { tail: tail.map(hide) }) };
    const kept = isRevealing(plugin, command) ? withoutWords(hidden) : hidden;
    keep(context, { ...run, ...kept, endedAt: context.clock.now() });
    context.plugins.underWay.delete(run.id);
    release();
  };
  const finished = await spawn(context, { ...call, onLine: hidingLines(call.onLine, hide) }, run).catch(
    (error: unknown) => {
      end({ status: "failed", error: textOf(error) });
      throw error;
    },
  );
  const stderr = hide(finished.stderr);
  const tail = lastLines(stderr, context.limits.pluginTailLines);
  const { ending } = finished;
  const stdout = textOrNothing(finished.stdout);
  const fault = faultOf({ ending, stdout, stderr }, `plugin "${plugin.yml.name}" ${command}`);
  if (ending.how !== "exited" || stdout === undefined || fault !== undefined) {
    const failure = fault ?? new Failure("invalid", "it did not end by itself");
    end({ status: statusOf(ending), error: failure.message, tail, exitCode: codeOf(ending) });
    throw failure;
  }
  return {
    reply: failedReply(readReply(stdout, context.limits), ending.code, hide),
    stdout,
    stderr,
    exitCode: ending.code,
    runId: run.id,
    record: ({ error, applied = [] }) =>
      end({
        status: error === undefined ? "succeeded" : "failed",
        exitCode: ending.code,
        error,
        applied,
        tail,
      }),
  };
}

type Hide = (text: string) => string;

function hidingLines(onLine: PluginCall["onLine"], hide: Hide): PluginCall["onLine"] {
  return onLine === undefined ? undefined : (line) => onLine(hide(line));
}

/** Others than its caller learn why it failed: blocks keep it, and so does the log. */
function failedReply(reply: Reply, code: number, hide: Hide): Reply {
  if (reply.type === "error") return { ...reply, error: hide(reply.error) };
  return reply.type === "text" && code !== 0 ? { ...reply, text: hide(reply.text) } : reply;
}

/** `release` is for when all of it is over, the actions of its answer too. */
function begin(context: Context, { plugin, command, args, actor }: PluginCall) {
  const run: PluginRunRecord = {
    id: Buffer.from(context.randomBytes(8)).toString("hex"),
    plugin: plugin.yml.name,
    version: plugin.yml.version,
    command,
    args: isRevealing(plugin, command) ? args.slice(0, 1) : args,
    actor,
    status: "running",
    startedAt: context.clock.now(),
    endedAt: undefined,
    exitCode: undefined,
    error: undefined,
    applied: [],
    tail: [],
  };
  context.plugins.underWay.add(run.id);
  // An expansion is short and there may be hundreds: they are recorded when they have ended.
  if (command !== "expand") keep(context, run);
  return { run, release: holdStopped(context, plugin, command) };
}

/** What such a command is asked and what it says can hold secrets, and records are for everybody who may read. */
function isRevealing(plugin: Plugin, command: string): boolean {
  return plugin.yml.commands.some(({ name, reveals }) => name === command && reveals === true);
}

function withoutWords(result: Partial<PluginRunRecord>): Partial<PluginRunRecord> {
  const error = result.error === undefined ? undefined : "the command failed; what it said is not kept";
  return { ...result, error, tail: [] };
}

/**
 * Written in the order of the calls. No command waits for it, but readers of records do. A record that cannot be kept does no
 * harm.
 */
function keep({ store, log, plugins }: Context, run: PluginRunRecord): void {
  plugins.lastRecord = store
    .write((tx) => tx.pluginRuns.put(run), { durable: false })
    .catch((error: unknown) => log.warn("run of a plugin not recorded", { plugin: run.plugin, run: run.id, error }));
}

/** Marks what a server that died left behind, and ends what still runs of it. */
export async function endInterruptedRuns(context: Context): Promise<void> {
  await context.plugins.host.endLeftovers();
  // The first of this server may have begun already.
  const runs = context.store.pluginRuns.unfinished().filter(({ id }) => !context.plugins.underWay.has(id));
  if (runs.length === 0) return;
  const error = "the server ended while it ran";
  const endedAt = context.clock.now();
  await context.store.write((tx) => {
    for (const run of runs) tx.pluginRuns.put({ ...run, status: "interrupted", error, endedAt });
  });
}

async function spawn(context: Context, call: PluginCall, run: PluginRunRecord): Promise<Finished> {
  const { plugin, command, args, input, signal, onLine } = call;
  const name = plugin.yml.name;
  const declared = plugin.yml.commands.find((known) => known.name === command)?.timeout;
  const token = Buffer.from(context.randomBytes(32)).toString("hex");
  const { permissions } = plugin;
  if (call.alone !== true) context.plugins.passes.set(token, passOf(context, call));
  const url = call.alone === true ? undefined : context.plugins.controllerUrl(token);
  const { confinement } = context.plugins;
  const user = confinement.userOf({ name, permissions, isBundled: plugin.origin === "bundled" });
  // Those of the server's user are not its to write to.
  const home: Record<string, string> = user === undefined ? {} : { HOME: plugin.folder, TMPDIR: "/tmp" };
  const lines = onLine === undefined ? undefined : createErrorLines(onLine);
  try {
    const finished = await context.plugins.host.run({
      id: run.id,
      argv: [...(plugin.argv.get(command) ?? []), ...args],
      folder: plugin.folder,
      user,
      env: {
        ...(await pluginEnvironment(context, plugin)),
        ...home,
        ...(call.alone === true ? {} : doors(context, token, url)),
        ...call.env,
      },
      stdin:
        input === undefined ? undefined : JSON.stringify(url === undefined ? input : { ...input, controller_url: url }),
      timeoutMs: (declared === undefined ? undefined : parseDuration(declared)) ?? call.timeoutMs,
      signal,
      onLine: lines?.push,
    });
    if (codeOf(finished.ending) === 0) {
      const reply = readReply(textOrNothing(finished.stdout) ?? "", context.limits);
      lines?.rest(reply.type === "error" ? reply.error : undefined);
    }
    return finished;
  } catch (error) {
    if (error instanceof Failure && error.code !== "unavailable") {
      // What is wrong with its file is the plugin's; one that is gone has to be looked for here.
      const code = error.code === "invalid" ? "invalid" : "internal";
      throw new Failure(code, `plugin "${name}" ${command}: ${error.message}`, { cause: error });
    }
    throw error;
  } finally {
    context.plugins.passes.delete(token);
  }
}

/** What the calls of a run may do. */
function passOf(context: Context, { plugin, args, only, by }: PluginCall) {
  const { permissions } = plugin;
  return {
    ...makerOf(plugin),
    permissions,
    isFull: isFullGrant(permissions),
    kinds: plugin.yml.kinds,
    actor: `plugin ${plugin.yml.name}`,
    only,
    block: blockOfWords(context, makerOf(plugin), args),
    by: { type: "plugin", askedBy: by ?? unnamed } as const,
  };
}

interface Output {
  ending: Ending;
  stdout: string | undefined;
  stderr: string;
}

/** Why what it said cannot be looked at; undefined when it ended by itself and printed text. */
function faultOf({ ending, stdout, stderr }: Output, who: string): Failure | undefined {
  const said = stderr.trim() === "" ? "" : `: ${failureText({ type: "text", text: "" }, stderr)}`;
  switch (ending.how) {
    case "exited":
      return stdout === undefined ? new Failure("invalid", `${who} printed what is not UTF-8 text`) : undefined;
    case "signalled":
      return new Failure("invalid", `${who} was ended by ${ending.signal}${said}`);
    case "timed_out":
      return new Failure("internal", `${who} took longer than its time limit and was ended${said}`);
    case "out_of_memory":
      return new Failure("invalid", `${who} used more memory than a run may, and was ended${said}`);
    case "flooded":
      return new Failure("invalid", `${who} printed too much on ${ending.stream} and was ended`);
    case "cancelled":
      return new Failure("unavailable", `${who} was ended: its caller disconnected, or the server is stopping`);
  }
}

function statusOf(ending: Ending): PluginRunRecord["status"] {
  if (ending.how === "timed_out" || ending.how === "cancelled") return ending.how;
  return "failed";
}

function codeOf(ending: Ending): number | undefined {
  return ending.how === "exited" ? ending.code : undefined;
}

const strictUtf8 = new TextDecoder("utf-8", { fatal: true });

function textOrNothing(bytes: Uint8Array): string | undefined {
  try {
    return strictUtf8.decode(bytes);
  } catch {
    return undefined;
  }
}

function lastLines(text: string, most: number): string[] {
  const lines = text.trimEnd().split("\n");
  return lines.length === 1 && lines[0] === "" ? [] : lines.slice(-most).map((line) => line.slice(0, 1_000));
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
