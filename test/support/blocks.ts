import type { Manifest } from "../../src/api/manifest.ts";
import type { Action } from "../../src/api/plugins/action.ts";
import { executable } from "./executable.ts";
import type { Rig } from "./rig.ts";

export interface Ran {
  exitCode: number;
  /** Of the envelope. */
  error: string | undefined;
  message: string;
  actions: Action[];
  manifests: Manifest[];
  stderr: string;
}

/** Runs a command of a bundled plugin as the server does: the executable, JSON on standard input, an envelope back. */
export async function runBundledPlugin(rig: Rig, plugin: string, command: string, call: PluginCall = {}): Promise<Ran> {
  const input = { protocol: 1, plugin, command, plugin_dir: "/", controller_url: rig.endpoint, ...call.input };
  const prefix = rig.prefix.toUpperCase();
  const run = Bun.spawn([executable, "plugin", plugin, command, ...(call.args ?? [])], {
    stdin: new Blob([JSON.stringify(input)]),
    stdout: "pipe",
    stderr: "pipe",
    env: { PATH: process.env.PATH ?? "", [`${prefix}_PLUGIN_DIR`]: "/" },
  });
  const [stdout, stderr] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()]);
  const { error, data } = JSON.parse(stdout) as { error?: string; data?: Partial<Ran> };
  const { message = "", actions = [], manifests = [] } = data ?? {};
  return { exitCode: await run.exited, error, message, actions, manifests, stderr };
}

export interface PluginCall {
  args?: readonly string[];
  input?: Record<string, unknown>;
}

/** Applies a block by hand: expand, its config, its manifests. */
export async function applyBlock(rig: Rig, block: Manifest): Promise<void> {
  const { kind, scope = "", name, spec } = block;
  const { body } = await rig.call("GET", `/config?scope=${scope}&name=${name}`);
  const { vars: config } = body.data as unknown as { vars: Record<string, string> };
  const ran = await runBundledPlugin(rig, kind, "expand", {
    input: { kind, scope, name, spec, config, dry_run: false },
  });
  if (ran.exitCode !== 0) throw new Error(ran.error);
  await carryOut(rig, ran.actions);
  const answer = await rig.apply(...ran.manifests);
  if (answer.status !== 200) throw new Error(`apply: ${JSON.stringify(answer.body)}`);
}

/** Config actions, as the server carries them out. */
export async function carryOut(rig: Rig, actions: readonly Action[]): Promise<void> {
  for (const action of actions) {
    if (action.type !== "config_set" && action.type !== "config_unset") continue;
    const { scope, name, kv = {} } = action;
    const unset = action.type === "config_unset" ? (action.keys ?? []).map((key) => [key, ""]) : [];
    const restart = action.skip_restart !== true;
    const body = { ...kv, ...Object.fromEntries(unset) };
    const answer = await rig.call("POST", `/config?scope=${scope}&name=${name}&restart=${restart}`, body);
    if (answer.status !== 200) throw new Error(`config: ${JSON.stringify(answer.body)}`);
  }
}

/** A command and its actions; fails with its error. */
export async function plugin(rig: Rig, name: string, command: string, ...args: string[]): Promise<string> {
  const ran = await runBundledPlugin(rig, name, command, { args });
  if (ran.exitCode !== 0) throw new Error(`${name} ${command}: ${ran.error}\n${ran.stderr}`);
  await carryOut(rig, ran.actions);
  return ran.message;
}
