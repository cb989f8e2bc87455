import { ApiError, type Client, createClient } from "../../src/base/wire/client.ts";
import { direct } from "../../src/base/wire/outgoing.ts";
import type { Spec } from "../../src/orchestration/api/manifest.ts";
import { apply, listManifests } from "../../src/orchestration/api/apply.ts";
import { getConfig, setConfig } from "../../src/orchestration/api/config.ts";
import { listPluginRuns } from "../../src/orchestration/api/dispatch.ts";
import { cancelRun, listRuns } from "../../src/orchestration/api/jobs.ts";
import { getPod, listPods, type PodRecord, startPod, stopPod } from "../../src/orchestration/api/pods.ts";
import { type Call, PluginError } from "../kit.ts";
import type { Reference } from "./arguments.ts";
import type { ExecRequest, ExecOutcome } from "./exec.ts";
import { createPodShells } from "./pod-shells.ts";

/** What the commands of a plugin need of the server that runs it. */
export interface Controller {
  /** The stored spec of a statefulset; undefined when there is none. */
  spec(of: Reference): Promise<Spec | undefined>;
  /** Who holds a fixed host port that a statefulset with this spec would need, in words; asked of a plan, so nothing changes. */
  heldPorts(of: Reference, spec: Spec): Promise<string[]>;
  /** Config of scope and app together; empty when nothing is set. */
  config(of: Reference): Promise<Record<string, string>>;
  /** An empty value unsets. What reads the config is rolled only with `restart`. */
  setConfig(of: Reference, vars: Record<string, string>, options?: { restart: boolean }): Promise<void>;
  /** Fails for a bucket that the caller of the command may not change; changes nothing. */
  requireConfigurable(of: Reference): Promise<void>;
  /** Its replicas, by ordinal. */
  pods(of: Reference): Promise<PodRecord[]>;
  /** Stops a pod for good; false when there is no such container. */
  freeze(pod: string): Promise<boolean>;
  /** Recreates a pod with the current config. A pod that does not exist is being created anyway. */
  start(pod: string): Promise<void>;
  /** Volumes and folders of a pod, where they lie on the machine. */
  mounts(pod: string): Promise<{ destination: string; host_path?: string }[]>;
  /** Runs of the block's scheduled backups and of its commands about backups, newest first. */
  backupRuns(of: Reference): Promise<BackupRun[]>;
  /** Ends a run of a job. */
  cancelRun(id: string): Promise<void>;
  /** Whether a run of a plugin is under way. */
  runs(id: string): Promise<boolean>;
  exec(request: ExecRequest): Promise<ExecOutcome>;
}

/** A backup, a restore or an import, as far as the server knows it. */
export interface BackupRun {
  id: string;
  /** `schedule`, or the command: `backup`. */
  what: string;
  /** ISO 8601. */
  at: string;
  status: string;
  error: string;
  /** Last lines that it said. */
  tail: string[];
}

/** Time limit of a call that is not a stream. */
const callMs = 10 * 60_000;

export function controllerOf(call: Call): Controller {
  const api = apiOf(call);
  return { ...readers(api, text(call.input.plugin)), ...writers(api), exec: createPodShells(controllerUrl(call)) };
}

/** The API of the server that runs the command, with what its plugin was granted. */
export function apiOf(call: Call): Client {
  const url = controllerUrl(call);
  const unix = /^unix:(?:\/\/)?(\/.+)$/.exec(url)?.[1];
  const baseUrl = unix === undefined ? url.replace(/\/$/, "") : "http://localhost";
  return createClient({
    baseUrl,
    fetch: (to, init) =>
      direct(to, { ...init, signal: AbortSignal.timeout(callMs), ...(unix === undefined ? {} : { unix }) }),
    headers: { "X-Berth-Actor": `plugin ${text(call.input.plugin)}`.trim() },
  });
}

/** The variable of the platform with this ending: its prefix is a setting of the installation. */
export function platformVariable(env: Call["env"], ending: string): string | undefined {
  const key = Object.keys(env).find(
    (name) => name.endsWith(`_${ending}`) && platformPrefix(env) === name.slice(0, -ending.length - 1),
  );
  return key === undefined ? undefined : env[key];
}

/** Upper-case prefix of the platform's variables: the one that tells where the plugin lies. */
export function platformPrefix(env: Call["env"]): string {
  const key = Object.keys(env).find((name) => name.endsWith("_PLUGIN_DIR"));
  return key === undefined ? "BERTH" : key.slice(0, -"_PLUGIN_DIR".length);
}

/** Id of the run that a command is; empty outside of a server. */
export function runId(call: Pick<Call, "env">): string {
  return (platformVariable(call.env, "RUN_ID") ?? "").split(".").at(-1) ?? "";
}

function controllerUrl(call: Call): string {
  const url = text(call.input.controller_url) || platformVariable(call.env, "CONTROLLER_URL");
  if (url === undefined || url === "") {
    throw new PluginError(
      "no controller_url on standard input and none in the environment; run this through the server",
    );
  }
  return url;
}

type Readers = "spec" | "heldPorts" | "config" | "pods" | "mounts" | "runs" | "backupRuns";

/** Commands that tell about backups. */
const backupCommands = ["backup", "restore", "backups:import", "backups:check"];

async function backupRunsOf(api: Client, plugin: string, of: Reference): Promise<BackupRun[]> {
  const query = { kind: "cronjob", scope: of.scope, name: `${of.name}.backup`, limit: "100" };
  const [jobs, commands] = await Promise.all([
    orUndefined(api.call(listRuns, { query }), 404),
    api.call(listPluginRuns, { query: { plugin, limit: "200" } }),
  ]);
  const scheduled = (jobs?.runs ?? []).map(({ run_id: id, started_at: at = "", status, error = "", tail }) => {
    return { id, what: "schedule", at, status, error, tail };
  });
  const manual = commands.runs
    .filter(({ command, args }) => backupCommands.includes(command) && args.includes(`${of.scope}/${of.name}`))
    .map(({ run_id: id, command, started_at: at, status, error = "", tail }) => {
      return { id, what: command, at, status, error, tail };
    });
  return [...scheduled, ...manual].sort((a, b) => (a.at < b.at ? 1 : -1));
}

function readers(api: Client, plugin: string): Pick<Controller, Readers> {
  return {
    backupRuns: (of) => backupRunsOf(api, plugin, of),
    async runs(id) {
      const { runs } = await api.call(listPluginRuns, { query: { plugin, limit: "200" } });
      return runs.some(({ run_id, status }) => run_id === id && status === "running");
    },
    async spec(of) {
      // Not by `describe`, which asks the engine for what runs.
      const [found] = await api.call(listManifests, { query: { kind: "statefulset", ...of } });
      return found?.spec;
    },
    async heldPorts(of, spec) {
      const body = { kind: "statefulset", ...of, spec };
      const { plan = [] } = await api.call(apply, { query: { dry_run: true }, body });
      return plan.flatMap(({ notes }) => notes.filter((note) => /^host port \d+ is /.test(note)));
    },
    async config(of) {
      const { vars } = await api.call(getConfig, { query: { ...of } });
      const entries = typeof vars === "object" && vars !== null ? Object.entries(vars) : [];
      return Object.fromEntries(entries.map(([key, value]) => [key, text(value)]));
    },
    async mounts(name) {
      const { pod } = await api.call(getPod, { params: { name } });
      return pod.mounts;
    },
    async pods(of) {
      const { pods } = await api.call(listPods, { query: { kind: "statefulset", ...of } });
      return pods
        .filter(({ role, replica_id }) => role === undefined && /^\d+$/.test(replica_id ?? ""))
        .sort((a, b) => ordinalOf(a) - ordinalOf(b));
    },
  };
}

function writers(
  api: Client,
): Pick<Controller, "setConfig" | "requireConfigurable" | "freeze" | "start" | "cancelRun"> {
  return {
    async setConfig(of, vars, { restart } = { restart: false }) {
      await api.call(setConfig, { query: { ...of, restart }, body: vars });
    },
    async requireConfigurable(of) {
      try {
        await api.call(setConfig, { query: { ...of, restart: false, dry_run: true }, body: {} });
      } catch (error) {
        // setConfig reports every other fault.
        if (error instanceof ApiError && error.status === 403) throw new PluginError(error.message);
      }
    },
    async cancelRun(id) {
      await api.call(cancelRun, { params: { id } });
    },
    async freeze(name) {
      return (await orUndefined(api.call(stopPod, { params: { name } }), 404)) !== undefined;
    },
    async start(name) {
      await orUndefined(api.call(startPod, { params: { name } }), 404);
    },
  };
}

export function ordinalOf(pod: PodRecord): number {
  return Number(pod.replica_id ?? Number.NaN);
}

async function orUndefined<T>(answer: Promise<T>, status: number): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof ApiError && error.status === status) return undefined;
    throw error;
  }
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
