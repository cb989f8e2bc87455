import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Failure } from "../base/wire/failure.ts";
import { protocolVersion } from "../orchestration/api/plugins/plugin-yml.ts";
import { limits } from "../config/config.ts";
import { parseDuration } from "../base/pure/duration.ts";
import { decodeActions } from "../orchestration/core/plugins/actions.ts";
import { bareData, failureText, readReply, type Reply } from "../orchestration/core/plugins/envelope.ts";
import { readExpansion } from "../orchestration/core/plugins/expansion.ts";
import { isFields } from "../base/pure/fields.ts";
import type { Expected, Fixture } from "../orchestration/core/plugins/fixture.ts";
import { expansionProblems, permissionProblems } from "../orchestration/core/plugins/permissions.ts";
import type { Host } from "../orchestration/plugins/host.ts";
import type { PluginPackage } from "../orchestration/plugins/package.ts";
import { fullGrant } from "../orchestration/plugins/plugin.ts";
import { startFakeController } from "./plugin-fake-controller.ts";

export interface FixtureSetting {
  host: Host;
  plugin: PluginPackage;
  folder: string;
  /** What the server would pass of its own. */
  environment: Readonly<Record<string, string>>;
}

interface FixtureAnswer {
  got: Expected;
  /** What the server would refuse, whatever the test expects. */
  faults: string[];
}

/** Runs one command with the world of its test around it: a controller, programs, a home, all gone afterwards. */
export async function runFixture(setting: FixtureSetting, fixture: Fixture): Promise<FixtureAnswer> {
  const place = await mkdtemp(join(tmpdir(), "berth-plugin-test-"));
  const controller = startFakeController(fixture.controller);
  try {
    await writePrograms(join(place, "bin"), fixture.programs);
    return await run(setting, fixture, { place, url: controller.url, calls: controller.calls });
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { got: { exit: -1, error: error.message }, faults: [error.message] };
  } finally {
    await controller.stop();
    await rm(place, { recursive: true, force: true });
  }
}

interface World {
  place: string;
  url: string;
  calls: string[];
}

async function run(setting: FixtureSetting, fixture: Fixture, world: World): Promise<FixtureAnswer> {
  const { host, plugin, folder } = setting;
  const { command } = fixture;
  const argv = plugin.argv.get(command);
  if (argv === undefined) throw new Failure("invalid", `the plugin has no command "${command}"`);
  const declared = plugin.yml.commands.find(({ name }) => name === command)?.timeout;
  const { ending, stdout, stderr } = await host.run({
    id: crypto.randomUUID(),
    argv: [...argv, ...fixture.args],
    folder,
    env: environmentOf(setting, fixture, world),
    stdin: JSON.stringify({ ...inputOf(setting, command, world), ...fixture.stdin }),
    timeoutMs: (declared === undefined ? undefined : parseDuration(declared)) ?? limits.expandTimeoutMs,
  });
  if (ending.how !== "exited") throw new Failure("invalid", `it did not end by itself: ${ending.how}${said(stderr)}`);
  const text = new TextDecoder().decode(stdout);
  const reply = readReply(text, limits);
  const failed = ending.code !== 0 || reply.type === "error" || reply.type === "broken";
  const calls = world.calls.length === 0 ? {} : { calls: world.calls };
  const got: Expected = failed
    ? { exit: ending.code, error: failureText(reply, stderr), ...calls }
    : { exit: ending.code, ...answerOf(reply, text, command), ...calls };
  return { got, faults: failed ? brokenFaults(reply) : faultsOf(setting, { fixture, reply, text }) };
}

function brokenFaults(reply: Reply): string[] {
  return reply.type === "broken" ? [reply.why] : [];
}

function answerOf(reply: Reply, text: string, command: string): Partial<Expected> {
  if (command === "expand") return { data: reply.type === "ok" ? reply.data : bareData(text) };
  if (reply.type === "text") return { message: reply.text };
  const data = reply.type === "ok" ? reply.data : undefined;
  const message = isFields(data) && typeof data.message === "string" ? { message: data.message } : {};
  return { data, ...message };
}

/** As the server looks at an answer before it does anything. */
function faultsOf(setting: FixtureSetting, answer: { fixture: Fixture; reply: Reply; text: string }): string[] {
  const { fixture, reply, text } = answer;
  const { yml } = setting.plugin;
  const granted = yml.permissions ?? fullGrant;
  const data = reply.type === "ok" ? reply.data : bareData(text);
  if (fixture.command !== "expand") {
    const { actions, problems, leftOut } = decodeActions(isFields(data) ? data.actions : undefined, limits);
    return linesOf([...problems, ...unknown(leftOut), ...permissionProblems(actions, granted, () => undefined)]);
  }
  const { kind = yml.name, scope = "", name = "", spec = {} } = fixture.stdin;
  const block = {
    index: 0,
    kind: String(kind),
    scope: String(scope),
    name: String(name),
    spec: isFields(spec) ? spec : {},
  };
  const { actions, manifests, problems, leftOut } = readExpansion(data, { ...block, ifRevision: undefined }, limits);
  return linesOf([
    ...problems,
    ...unknown(leftOut),
    ...permissionProblems(actions, granted, () => block.spec),
    ...expansionProblems(manifests, granted, block.spec),
  ]);
}

/** The server leaves them out; the plugin author misspelled them, or needs another version. */
function unknown(leftOut: readonly string[]): { path: string; message: string }[] {
  return leftOut.map((text) => ({ path: text, message: "is a field that it does not know" }));
}

function linesOf(problems: readonly { path: string; message: string }[]): string[] {
  return problems.map(({ path, message }) => `the server would refuse it: ${path} ${message}`);
}

function said(stderr: string): string {
  return stderr.trim() === "" ? "" : `: ${stderr.trim().split("\n").slice(-8).join("\n")}`;
}

function inputOf({ plugin, folder }: FixtureSetting, command: string, { url }: World): Record<string, unknown> {
  const common = { protocol: protocolVersion, controller_url: url, plugin_dir: folder };
  return command === "expand"
    ? { ...common, kind: plugin.yml.name, config: {}, dry_run: false }
    : { ...common, plugin: plugin.yml.name, command, node_name: "local" };
}

function environmentOf({ plugin, folder, environment }: FixtureSetting, { env }: Fixture, { place, url }: World) {
  return {
    ...environment,
    HOME: place,
    TMPDIR: place,
    ...plugin.yml.env,
    BERTH_PLUGIN_DIR: folder,
    BERTH_ROOT: place,
    BERTH_PLUGINS_ROOT: place,
    BERTH_NODE: "local",
    BERTH_PROTOCOL: String(protocolVersion),
    BERTH_CONTROLLER_URL: url,
    ...env,
    PATH: `${join(place, "bin")}:${env.PATH ?? environment.PATH ?? ""}`,
  };
}

async function writePrograms(folder: string, programs: Readonly<Record<string, string>>): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (const [name, script] of Object.entries(programs)) {
    const path = join(folder, name.replaceAll("/", "_"));
    await writeFile(path, script.startsWith("#!") ? script : `#!/bin/sh\n${script}\n`);
    await chmod(path, 0o755);
  }
}
