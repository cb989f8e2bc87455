import { expect } from "bun:test";
import { docker } from "./dockerd.ts";
import { type Rig, type RigOptions, rig } from "./rig.ts";

/** Made by the test run from Debian's packages. */
export const postgresImage = "berth-postgres:fixture";
export const redisImage = "berth-redis:fixture";

export interface BlockRig extends Rig {
  /** Runs the CLI and answers with what it prints; fails on any other exit code than 0. */
  run(...args: string[]): Promise<string>;
  /** The same, which has to be refused; answers with the error. */
  refused(...args: string[]): Promise<string>;
}

/** A rig for databases: their volumes of backups outlive every delete, so it takes those away as well. */
export async function blockRig(options: RigOptions = {}): Promise<BlockRig> {
  const it = await rig(options);
  const { close } = it;
  return Object.assign(Object.defineProperties({}, Object.getOwnPropertyDescriptors(it)) as Rig, {
    async run(...args: string[]) {
      const { exitCode, stdout, stderr } = await it.cli(args);
      expect({ args, exitCode, stderr: exitCode === 0 ? "" : stderr }).toEqual({ args, exitCode: 0, stderr: "" });
      return stdout.trim();
    },
    async refused(...args: string[]) {
      const { exitCode, stderr } = await it.cli(args);
      expect({ args, isRefused: exitCode !== 0 }).toEqual({ args, isRefused: true });
      return stderr;
    },
    async close() {
      await close();
      const volumes = docker(it.dockerHost, ["volume", "ls", "-q", "--filter", `name=^${it.prefix}-.*-backups$`]);
      for (const volume of volumes.split("\n").filter((name) => name !== ""))
        docker(it.dockerHost, ["volume", "rm", volume]);
    },
  });
}

/** What `info -o json` of both plugins holds. */
export interface Info {
  primary: number;
  pods: { ordinal: number; role: string; ready: boolean }[];
  links: { app: string }[];
  backups: number;
}

export async function infoOf(berth: BlockRig, plugin: string, reference: string): Promise<Info> {
  return (await jsonOf(berth, plugin, "info", reference)) as Info;
}

/**
 * Fails until the server calls every pod of a statefulset ready. To be asked before the plugin is, which starts a process, and
 * some more in each pod.
 */
export async function allReady(berth: BlockRig, scope: string, name: string): Promise<void> {
  const { status: listed } = (await berth.stored("statefulset", scope, name)) ?? {};
  if (listed && listed.ready_replicas !== listed.replicas) throw new Error(`not all pods of ${name} are ready`);
  // The list shows what the last look saw: right after a pod has died, that is still ready.
  const { replicas, ready_replicas: ready } = await berth.status("statefulset", scope, name);
  if (replicas === undefined || ready !== replicas) throw new Error(`${ready} of ${replicas} pods are ready`);
}

/** Where a pod is in its network. Fails while it has no address. */
export async function addressOf(berth: BlockRig, pod: string): Promise<string> {
  const { body } = await berth.call("GET", `/pods/${pod}`);
  const detail = (body.data as { pod?: { networks: Record<string, { ip_address: string }> } } | undefined)?.pod;
  const [network] = Object.values(detail?.networks ?? {});
  if (!network?.ip_address) throw new Error(`${pod} has no address`);
  return network.ip_address;
}

/** Ids, newest first. */
export async function backupsOf(berth: BlockRig, plugin: string, reference: string): Promise<string[]> {
  const list = (await jsonOf(berth, plugin, "backups", reference)) as { id: string }[];
  return list.map(({ id }) => id);
}

async function jsonOf(berth: BlockRig, plugin: string, command: string, reference: string): Promise<unknown> {
  return JSON.parse(await answerOf(berth, plugin, command, [reference, "-o", "json"]));
}

/** What a command of a plugin answers, without the process of a client in between. */
export async function answerOf(berth: BlockRig, plugin: string, command: string, args: string[]): Promise<string> {
  const { status, body } = await berth.call("POST", `/plugin/${plugin}/${command}`, { args });
  expect({ args, status, error: body.error }).toEqual({ args, status: 200, error: undefined });
  return (body.data as unknown as { message: string }).message;
}
