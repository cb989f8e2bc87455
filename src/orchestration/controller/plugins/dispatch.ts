import type { Principal } from "../../../access/principal.ts";
import { spanTimes } from "../../../base/pure/iso-time.ts";
import { blockOfWords, ownBlockSpec } from "./own-places.ts";
import { requireActionsOnly } from "./reach.ts";
import { Failure, problemsAt, problemsFailure } from "../../../base/wire/failure.ts";
import type { DispatchResult, PluginRun } from "../../api/dispatch.ts";
import type { DispatchInput } from "../../api/plugins/protocol.ts";
import type { ManifestKey } from "../../api/manifest.ts";
import { protocolVersion } from "../../api/plugins/plugin-yml.ts";
import { decodeActions, type PlannedAction } from "../../core/plugins/actions.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { failureText, messageOf } from "../../core/plugins/envelope.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { makerOf } from "../../core/plugins/maker.ts";
import { namedApp } from "../../core/plugins/named-app.ts";
import { leftOutTexts } from "../../core/plugins/unknown-fields.ts";
import { permissionProblems } from "../../core/plugins/permissions.ts";
import { didYouMean } from "../../../base/pure/suggest.ts";
import type { OfferedFile } from "../../plugins/offers.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { PluginRunRecord } from "../../store/plugin-records.ts";
import { type ActionOutcome, afterActions, carryOut, noActions, readyActions, requireJobs } from "./actions.ts";
import type { CoreDraft } from "../../core/draft.ts";
import { requireAllowed, type Wanted } from "../state/authority.ts";
import type { Context } from "../state/context.ts";
import type { DispatchOptions, DispatchRequest, ExecAnswer, PluginCaller } from "../requests.ts";
import { node } from "./plugin-environment.ts";
import { type PluginAnswer, type PluginCall, runPlugin } from "./plugin-run.ts";
import { refuseStrangeBlocks } from "../state/makers.ts";
import { argsOf, envOf, refuseOthers } from "./plugin-words.ts";

/**
 * POST /plugin/{name}/{command}. Fails `invalid` for an unknown plugin or command, for whatever the plugin refuses, and
 * for actions that are not right: then none of them was carried out.
 */
export async function dispatch(
  context: Context,
  request: DispatchRequest,
  options: DispatchOptions,
): Promise<DispatchResult> {
  const args = argsOf(context, request.body);
  const plugin = await knownPlugin(context, request.plugin);
  await requireCommand(context, plugin, request.command);
  const { only } = options;
  refuseStrangeBlocks(context, plugin, args);
  if (only !== undefined) refuseOthers(context, plugin, { args, only });
  const call: PluginCall = {
    plugin,
    command: request.command,
    args,
    input: inputOf(plugin, request),
    timeoutMs: context.limits.dispatchTimeoutMs,
    only,
    env: appOf(context, args),
    ...callerOf(plugin, request.command, options),
  };
  return context.attendance.alone(call, () => carriedOut(context, call, options));
}

async function carriedOut(context: Context, call: PluginCall, options: DispatchOptions): Promise<DispatchResult> {
  const { plugin, command } = call;
  const answer = await runPlugin(context, call);
  return recorded(answer, appliedOf, async () => {
    const { message, actions, leftOut } = readCommandReply(context, { plugin, command, answer });
    const { actor, by, restart } = options;
    const maker = makerOf(plugin);
    const block = blockOfWords(context, maker, call.args);
    requireActionsOnly(context, { plugin: maker, only: options.only }, actions);
    const { outcome, warnings: late } = await performActions(context, actions, { actor, by, block, restart });
    const warnings = [...leftOutTexts(plugin.yml.name, leftOut), ...late];
    context.plugins.offers.put(
      answer.runId,
      outcome.fetchFile.map(({ remote_path }) => remote_path),
    );
    return {
      message,
      applied: outcome.applied,
      exec_local: outcome.execLocal,
      fetch_file: outcome.fetchFile,
      run_id: answer.runId,
      ...(warnings.length > 0 ? { warnings } : {}),
    };
  });
}

/** Plugins of other controllers look there for the app that they are about. */
function appOf({ names }: Context, args: readonly string[]): Record<string, string> {
  const app = namedApp(args);
  return app === undefined ? {} : { [`${names.envPrefix}_APP`]: app };
}

function appliedOf({ applied }: DispatchResult): string[] {
  return applied;
}

/** Writes down how a run ended, whichever way its answer went, and the labels of what it did. */
export async function recorded<T>(
  answer: PluginAnswer,
  labels: (result: T) => string[],
  work: () => Promise<T>,
): Promise<T> {
  try {
    const result = await work();
    answer.record({ applied: labels(result) });
    return result;
  } catch (error) {
    answer.record({ error: error instanceof Error ? error.message : String(error) });
    throw error;
  }
}

/** A command that declares itself long goes on when its caller leaves. */
function callerOf(plugin: Plugin, command: string, { actor, by, signal, onLine }: PluginCaller): PluginCaller {
  const isLong = plugin.yml.commands.some(({ name, long }) => name === command && long === true);
  return { actor, by, onLine, ...(isLong ? {} : { signal }) };
}

export function inputOf(
  plugin: Plugin,
  { plugin: typed, command }: Pick<DispatchRequest, "plugin" | "command">,
): DispatchInput {
  return {
    protocol: protocolVersion,
    plugin: typed,
    command,
    plugin_dir: plugin.folder,
    node_name: node,
  };
}

interface CommandRun {
  plugin: Plugin;
  command: string;
  answer: PluginAnswer;
}

/** The answer of a command that went well: a message, and actions that are all right. Fails `invalid` otherwise. */
export function readCommandReply(context: Context, { plugin, command, answer }: CommandRun) {
  const { reply } = answer;
  refuseFailed({ plugin, command, answer });
  if (reply.type === "text")
    return { message: reply.text, actions: [] as PlannedAction[], leftOut: [], again: undefined };
  const data = reply.type === "ok" ? (reply.data ?? {}) : {};
  if (typeof data === "string") return { message: data, actions: [], leftOut: [], again: undefined };
  if (!isFields(data)) throw new Failure("invalid", `plugin "${plugin.yml.name}" ${command}: data is not an object`);
  const { actions, problems, leftOut } = decodeActions(data.actions, context.limits);
  refuseChanges(plugin, command, actions);
  const refused =
    problems.length > 0
      ? problems
      : permissionProblems(actions, plugin.permissions, ownBlockSpec(context, makerOf(plugin)));
  if (refused.length > 0) {
    throw problemsFailure(problemsAt({ within: [`plugin "${plugin.yml.name}" ${command}`] }, refused));
  }
  const again = typeof data.again === "string" ? parseDuration(data.again) : undefined;
  return { message: messageOf(data), actions, leftOut, again };
}

/** A command that says that it only reads is called by those who may only read. Fails `invalid`. */
function refuseChanges(plugin: Plugin, command: string, actions: readonly PlannedAction[]): void {
  const declared = plugin.yml.commands.find(({ name }) => name === command);
  const change = actions.find(({ type }) => type !== "exec_local" && type !== "fetch_file");
  if (declared?.reads !== true || change === undefined) return;
  const text = `declares "reads" in its plugin.yml and asks for ${change.type}; nothing was changed`;
  throw new Failure("invalid", `plugin "${plugin.yml.name}" ${command}: ${text}`);
}

/** Fails `invalid` with what the plugin said, where it failed. */
export function refuseFailed({ plugin, command, answer }: CommandRun): void {
  const { reply, stderr, exitCode } = answer;
  const who = `plugin "${plugin.yml.name}" ${command}`;
  if (exitCode !== 0 || reply.type === "error") {
    const output = failureText(reply, stderr);
    const fields = { plugin: plugin.yml.name, command, exit_code: exitCode, output };
    const how = exitCode === 0 ? "" : ` exited ${exitCode}`;
    throw new Failure("invalid", `${who}${how}: ${output}`, { reason: "PluginExited", fields });
  }
  if (reply.type === "broken") throw new Failure("invalid", `${who}: ${reply.why}`);
}

export async function performActions(
  context: Context,
  actions: readonly PlannedAction[],
  options: { actor: string; by: Principal | undefined; block: ManifestKey | undefined; restart: boolean },
): Promise<{ outcome: ActionOutcome; warnings: string[] }> {
  const wanted = actions.flatMap((action) => (action.type === "apply_manifest" ? [wantedOf(action.draft)] : []));
  // Before the server fetches files for them.
  requireAllowed(options.by, wanted, context.store);
  const ready = await readyActions(context, actions, { dryRun: false, by: options.by, block: options.block });
  const work = (tx: Parameters<Parameters<typeof context.store.write>[0]>[0]) => {
    const outcome = carryOut(context, tx, { ready, options });
    requireJobs(tx, outcome);
    return outcome;
  };
  if (actions.length === 0) return { outcome: noActions(), warnings: [] };
  const outcome = await context.store.write(work);
  return { outcome, warnings: await afterActions(context, outcome, options.actor) };
}

function wantedOf({ kind, scope, name, spec }: CoreDraft): Wanted {
  return { key: { kind, scope, name }, spec };
}

/** Fails `invalid` for a plugin that is not there, naming those that are. */
export async function knownPlugin(context: Context, name: string): Promise<Plugin> {
  const { registry } = context.plugins;
  await registry.refresh();
  const plugin = registry.find(name);
  if (plugin !== undefined) return plugin;
  const { plugins, errors } = registry.list();
  const broken = errors.find((text) => text.startsWith(`${name}: `));
  if (broken !== undefined) throw new Failure("invalid", `plugin ${broken}`);
  const names = plugins.flatMap(({ yml }) => [yml.name, ...yml.aliases]);
  const there = names.length === 0 ? "none is installed" : `installed are ${names.join(", ")}`;
  throw new Failure("invalid", `no plugin "${name.slice(0, 80)}"${didYouMean(name, names)}; ${there}`);
}

const commandsShownMax = 20;

async function requireCommand(context: Context, plugin: Plugin, command: string): Promise<void> {
  if (plugin.argv.has(command)) return;
  // Its program may have been removed by hand.
  await context.plugins.installer.verify(plugin);
  const known = [...plugin.argv.keys()].sort();
  const shown = known.slice(0, commandsShownMax).join(", ") + (known.length > commandsShownMax ? " ..." : "");
  const hint = didYouMean(command, known);
  throw new Failure(
    "invalid",
    `plugin "${plugin.yml.name}" has no command "${command.slice(0, 80)}"${hint}; it has ${shown || "none"}`,
  );
}

/**
 * POST /plugins/exec: no input, no actions. Fails `not_found` for an unknown plugin, `invalid` for a command that it does
 * not declare, `internal` where it fails.
 */
export async function execPlugin(context: Context, body: unknown, caller: PluginCaller): Promise<ExecAnswer> {
  const [name, command, ...args] = argsOf(context, body);
  if (name === undefined || command === undefined) {
    throw new Failure("invalid", "args: expected at least a plugin and a command");
  }
  const plugin = await knownPlugin(context, name).catch(asNotFound);
  await requireCommand(context, plugin, command);
  refuseStrangeBlocks(context, plugin, args);
  const { dispatchTimeoutMs: timeoutMs } = context.limits;
  const given = { ...callerOf(plugin, command, caller), env: envOf(body) };
  const answer = await runPlugin(context, { plugin, command, args, input: undefined, timeoutMs, ...given });
  const { reply, exitCode, stdout, stderr } = answer;
  const hasFailed = exitCode !== 0 || reply.type === "error";
  answer.record(hasFailed ? { error: failureText(reply, stderr) } : {});
  if (reply.type === "ok" || reply.type === "error") {
    return { status: hasFailed ? 500 : 200, body: JSON.parse(stdout) };
  }
  if (hasFailed) {
    const said = [stdout.trim(), stderr.trim()].filter((text) => text !== "").join("\n");
    throw new Failure("internal", `plugin "${plugin.yml.name}" ${command} exited ${exitCode}: ${said || "no output"}`);
  }
  return { status: 200, body: { status: "ok", data: { stdout: stdout.replace(/[\r\n]+$/, "") } } };
}

function asNotFound(error: unknown): never {
  if (error instanceof Failure && error.code === "invalid") throw new Failure("not_found", error.message);
  throw error;
}

/** GET /plugins/runs/{id}/files/{index}. */
export function pluginFile(context: Context, runId: string, index: string): Promise<OfferedFile> {
  if (!/^\d{1,6}$/.test(index)) throw new Failure("invalid", `"${index.slice(0, 80)}" is not an index of fetch_file`);
  return context.plugins.offers.open(runId, Number(index));
}

/** GET /plugins/runs. */
export async function listPluginRuns(
  context: Context,
  { plugin, limit }: { plugin: string | undefined; limit: number },
): Promise<{ runs: PluginRun[] }> {
  await context.plugins.lastRecord;
  const name = plugin === undefined ? undefined : (context.plugins.registry.find(plugin)?.yml.name ?? plugin);
  const runs = context.store.pluginRuns.list({ limit, ...(name === undefined ? {} : { plugin: name }) });
  return { runs: runs.map(wirePluginRun) };
}

function wirePluginRun(run: PluginRunRecord): PluginRun {
  const { id, plugin, version, command, args, actor, status, applied, tail } = run;
  return {
    run_id: id,
    plugin,
    version,
    command,
    args,
    actor,
    status,
    ...spanTimes(run.startedAt, run.endedAt),
    ...(run.exitCode === undefined ? {} : { exit_code: run.exitCode }),
    ...(run.error === undefined ? {} : { error: run.error }),
    applied,
    tail,
  };
}
