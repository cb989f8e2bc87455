import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { backupsVolume } from "../../src/orchestration/api/manifest-key.ts";
import type { Action } from "../../src/orchestration/api/plugins/action.ts";
import type { Block } from "./block.ts";
import type { UrlParts } from "./cluster.ts";
import { declaredLinkActions } from "./declared-links.ts";
import type { Link, Urls } from "./links.ts";
import { type Scripts, scriptMounts, scriptsAsset } from "./scripts.ts";
import type { ServerBlock } from "./server-block.ts";

/** What an expansion needs beside its block. */
export interface ExpandContext {
  /** Upper-case prefix of the variables that the platform gives to pods. */
  envPrefix: string;
  /** A new secret at each call. */
  newPassword: () => string;
}

/** What the pods of a server are, where it is not the same for each kind of it. */
export interface ServerPods {
  /** `serve.sh`, which is the first process, `tools.sh` with the tools `ready` and `job`, and what those read. */
  scripts: Scripts;
  /** Variables of every pod and of the backup jobs. */
  env: Readonly<Record<string, string>>;
  /** Where the volume of a pod is mounted. */
  dataFolder: string;
  /** Limit of a clean stop: a duration. */
  stopGrace: string;
  dockerOptions: readonly string[];
  /** Apps that the block gives a URL, and how that is written. */
  links: readonly Link[];
  urls: (parts: UrlParts, link: Link) => Urls;
  /** Config keys of all passwords. */
  passwordKeys: readonly string[];
  keys: ServerKeys;
}

/** Config keys that every kind of server has. */
export interface ServerKeys {
  /** Which pod is primary. */
  primary: string;
  /** Counts what was decided about the cluster: the higher word is the newer one. */
  epoch: string;
  /** How many backups stay. */
  keep: string;
  /** Apps that were given a URL. */
  links: string;
}

export interface ServerExpansion {
  block: Block;
  server: ServerBlock;
  pods: ServerPods;
}

/**
 * What a block of a server with standbys becomes: the scripts, the statefulset, and a cron job where backups have a
 * schedule. What the config does not have yet is made once, by actions; with a complete config the same block always
 * gives the same manifests and no action.
 */
export function expandServer(
  expansion: ServerExpansion,
  context: ExpandContext,
): { manifests: Manifest[]; actions: Action[]; warnings?: string[] } {
  const { block, server, pods } = expansion;
  const manifests: Manifest[] = [scriptsAsset(block, pods.scripts), statefulset(expansion, context)];
  if (server.backups.schedule !== "") manifests.push(backupJob(expansion, context));
  const fresh = missingConfig(expansion, context);
  const actions = [...freshActions(block, fresh), ...linkActions(expansion, fresh)];
  const { scheduled } = server;
  return { manifests, actions, ...(scheduled && { warnings: [scheduledNote(scheduled)] }) };
}

function statefulset({ block, server, pods }: ServerExpansion, context: ExpandContext): Manifest {
  const { scope, name } = block;
  const ready = { command: ["sh", "/berth/tools.sh", "ready"] };
  return {
    kind: "statefulset",
    scope,
    name,
    spec: {
      // A copy of a large database takes its time, and so does a clean stop.
      rollout: { progress_deadline: "1h" },
      stop_grace: pods.stopGrace,
      ...server.passed,
      image: server.image,
      replicas: server.replicas,
      command: ["/berth/serve.sh"],
      docker_options: ["--entrypoint sh", ...pods.dockerOptions, ...server.dockerOptions],
      stop_signal: "SIGTERM",
      env: { ...pods.env, ...server.env },
      ports: server.ports,
      volume_claims: [{ name: "data", mount_path: pods.dataFolder, size: server.storage }],
      volumes: [...mounts(block, pods, context), ...server.volumes],
      ...copies(block, server, context),
      probes: { readiness: { exec: ready, period: "2s", timeout: "10s", failure_threshold: 3 } },
    },
  };
}

/**
 * A new backup is made and checked, then the volume of all backups is copied outside of the machine. The data itself is not: files
 * of a running server are not a backup.
 */
function copies(block: Block, { copies: written, scheduled, backups }: ServerBlock, context: ExpandContext) {
  const volume = backupsVolume(context, block);
  if (scheduled !== undefined) {
    const { every, keep, everyMs } = scheduled;
    // The cron job makes them, also where there is no target.
    const pre = ["sh", "/berth/tools.sh", "due_job", String(everyMs / 1_000), ...jobWords(backups).slice(1)];
    return { backup: { every, keep, volumes: [volume], pre } };
  }
  if (written === undefined) return {};
  return { backup: { ...written, volumes: [volume], pre: ["sh", "/berth/tools.sh", ...jobWords(backups)] } };
}

const scheduledNote = ({ every, keep }: NonNullable<ServerBlock["scheduled"]>) =>
  `backups: {schedule, keep} is read as backup: {every: ${every}, keep: ${keep}} too, so its backups also go to the targets; write that line in its place once there is a target (berth backup target list)`;

/** What makes a backup, checks it, and removes old ones. */
function jobWords({ keep, maxAgeMs }: ServerBlock["backups"]): string[] {
  return ["job", String(keep), ...(maxAgeMs === 0 ? [] : [String(maxAgeMs / 1_000)])];
}

/** Scripts, and the one volume for backups that all pods share and no prune takes along. */
function mounts(block: Block, { scripts }: ServerPods, context: ExpandContext): string[] {
  return [...scriptMounts(block, scripts), `${backupsVolume(context, block)}:/backups`];
}

function backupJob({ block, server, pods }: ServerExpansion, context: ExpandContext): Manifest {
  const { scope, name } = block;
  const { schedule, timezone, timeout } = server.backups;
  return {
    kind: "cronjob",
    scope,
    name: `${name}.backup`,
    spec: {
      schedule,
      timezone,
      concurrency_policy: "Forbid",
      job: {
        image: server.image,
        command: ["/berth/tools.sh", ...jobWords(server.backups)],
        docker_options: ["--entrypoint sh"],
        env_from: [`${scope}/${name}`],
        env: { ...pods.env },
        volumes: mounts(block, pods, context),
        timeout,
      },
    },
  };
}

/** What the config lacks, by key. */
function missingConfig(
  { block, server, pods }: ServerExpansion,
  { newPassword }: ExpandContext,
): Record<string, string> {
  const { config } = block;
  const { keys, passwordKeys } = pods;
  const secrets = passwordKeys.filter((key) => (config[key] ?? "") === "").map((key) => [key, newPassword()]);
  const places = config[keys.primary] === undefined ? [[keys.primary, "0"]] : [];
  const epochs = config[keys.epoch] === undefined ? [[keys.epoch, "1"]] : [];
  // Not in the environment of a manifest: a change of it would replace the pods.
  const keep = String(server.backups.keep);
  const kept = config[keys.keep] === keep ? [] : [[keys.keep, keep]];
  return Object.fromEntries([...secrets, ...places, ...epochs, ...kept]);
}

function freshActions({ scope, name }: Block, kv: Record<string, string>): Action[] {
  if (Object.keys(kv).length === 0) return [];
  const summary = `config of ${scope}/${name}: ${Object.keys(kv).join(", ")}`;
  return [{ type: "config_set", scope, name, kv, skip_restart: true, summary }];
}

function linkActions({ block, pods }: ServerExpansion, fresh: Record<string, string>): Action[] {
  const { scope, name } = block;
  const config = { ...block.config, ...fresh };
  const parts: UrlParts = {
    of: { scope, name },
    primary: Number(config[pods.keys.primary]),
    config,
    env: { ...pods.env },
  };
  return declaredLinkActions({
    of: parts.of,
    key: pods.keys.links,
    known: config[pods.keys.links],
    declared: pods.links,
    urlsOf: (link) => pods.urls(parts, link),
  });
}
