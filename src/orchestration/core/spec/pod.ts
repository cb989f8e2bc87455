import {
  autoscaleDefaults,
  backupDefaults,
  podDefaults,
  releaseDefaults,
  sleepDefaults,
} from "../../api/kinds/defaults.ts";
import type { PodKind } from "../../api/manifest.ts";
import { parseDuration } from "../../../base/pure/duration.ts";
import { isFields } from "../../../base/pure/fields.ts";
import { nameOk } from "../identity.ts";
import { parsePort, portTexts } from "../ports.ts";
import { parseRestartPolicy } from "../restart-policy.ts";
import type { PortBinding, RestartPolicy } from "../workload.ts";
import { decodeContainer, type DecodedContainer, type Entry } from "./container.ts";
import { decodeWebhooks, type DecodedWebhook } from "./webhooks.ts";
import { type Fields, fieldsOf, integerOf, listOf, msOf, textOf, wordsOf } from "./lenient.ts";
import { decodeProbes, type ProbesConfig } from "./probes.ts";
import { decodeRollout, type DecodedRollout } from "./rollout.ts";

/** A deployment or statefulset, defaults filled in. What only the other kind has is absent. */
export interface DecodedPod extends DecodedContainer {
  kind: PodKind;
  /** As written; undefined: left out. */
  writtenReplicas: number | undefined;
  /** What it asks for at first. */
  replicas: number;
  ports: readonly Entry<PortBinding>[];
  /** As written; `on-failure` and `on-failure:0` mean the same. */
  restartText: string;
  restart: RestartPolicy;
  probes: ProbesConfig;
  startAfter: readonly StartAfter[];
  /** Undefined: its volumes are not copied. */
  backup: BackupPolicy | undefined;
  rollout: DecodedRollout;
  volumeClaims: readonly { name: string; mountPath: string | undefined }[];
  autoscale: AutoscalePolicy | undefined;
  sleep: SleepPolicy | undefined;
  release: DecodedRelease | undefined;
  onDeploy: { readonly success: readonly DecodedWebhook[]; readonly failure: readonly DecodedWebhook[] };
  /** Undefined where the spec names no receiver, as most do: a probe that turns then writes nothing. */
  onProbe: { readonly failure: readonly DecodedWebhook[]; readonly recovery: readonly DecodedWebhook[] } | undefined;
}

/** Another app of the scope that the first start waits for. */
export interface StartAfter {
  name: string;
  awaits: "ready" | "started";
}

/** The `backup` block, defaults filled in. */
interface BackupPolicy {
  everyMs: number;
  /** The same as the spec says it: `24h`. */
  everyText: string;
  /** Undefined: what the target says. */
  keep: string | undefined;
  /** Undefined: every target. */
  target: string | undefined;
  /** Names; undefined: all. */
  volumes: readonly string[] | undefined;
  pre: readonly string[];
  post: readonly string[];
  exclude: readonly string[];
}

/** The `autoscale` block of a deployment, defaults filled in. */
export interface AutoscalePolicy {
  min: number;
  max: number;
  /** Wanted mean CPU use, in percent of the limit. */
  cpuTarget: number;
  cooldownUpMs: number;
  cooldownDownMs: number;
}

/** How a deployment with `wake: true` sleeps, defaults filled in. */
export interface SleepPolicy {
  /** Time without requests after which it is put to sleep; undefined: never by itself. */
  idleMs: number | undefined;
  /** The same as the spec says it: `15m`. */
  idleText: string;
}

/** The commands of a release; an empty one is not there. */
interface DecodedRelease {
  preCommand: readonly string[];
  command: readonly string[];
  postCommand: readonly string[];
  /** Limit of each command. */
  timeoutMs: number;
}

const unlessStopped: RestartPolicy = { name: podDefaults.restart, maximumRetryCount: 0 };
export const releaseTimeoutMs = parseDuration(releaseDefaults.timeout) ?? 0;
const cooldownUpMs = parseDuration(autoscaleDefaults.cooldownUp) ?? 0;
const cooldownDownMs = parseDuration(autoscaleDefaults.cooldownDown) ?? 0;

export function decodePod(kind: PodKind, spec: Fields): DecodedPod {
  const writtenReplicas = integerOf(spec.replicas);
  const restart = textOf(spec.restart);
  const onDeploy = fieldsOf(spec.on_deploy);
  return {
    ...decodeContainer(spec),
    kind,
    writtenReplicas,
    replicas: writtenReplicas ?? integerOf(fieldsOf(spec.autoscale).min) ?? podDefaults.replicas,
    ports: wordsOf(spec.ports)
      .flatMap(portTexts)
      .map((text) => ({ text, read: parsePort(text) })),
    restartText: restart ?? podDefaults.restart,
    restart: (restart === undefined ? undefined : parseRestartPolicy(restart)) ?? unlessStopped,
    probes: decodeProbes(spec.probes),
    startAfter: startAfterOf(spec),
    backup: backupOf(spec.backup),
    rollout: decodeRollout(kind, spec.rollout),
    volumeClaims: listOf(spec.volume_claims).flatMap((claim) => {
      const name = textOf(claim.name);
      return name === undefined ? [] : [{ name, mountPath: textOf(claim.mount_path) }];
    }),
    autoscale: autoscaleOf(spec.autoscale),
    sleep: sleepOf(spec),
    release: releaseOf(spec.release),
    onDeploy: { success: decodeWebhooks(onDeploy.success), failure: decodeWebhooks(onDeploy.failure) },
    onProbe: probeWebhooksOf(fieldsOf(spec.on_probe)),
  };
}

export function startAfterOf(spec: Fields): StartAfter[] {
  return wordsOf(spec.start_after).flatMap((entry) => parseStartAfter(entry) ?? []);
}

/** `NAME` or `NAME:started`; undefined for anything else. */
export function parseStartAfter(text: string): StartAfter | undefined {
  const [name = "", awaits = "ready", ...more] = text.split(":");
  if (!nameOk(name) || more.length > 0 || (awaits !== "ready" && awaits !== "started")) return undefined;
  return { name, awaits };
}

function backupOf(written: unknown): BackupPolicy | undefined {
  if (!isFields(written)) return undefined;
  const every = textOf(written.every);
  const everyText = every !== undefined && msOf(every) !== undefined ? every : backupDefaults.every;
  return {
    everyMs: msOf(everyText) ?? 0,
    everyText,
    keep: textOf(written.keep),
    target: textOf(written.target),
    volumes: Array.isArray(written.volumes) ? wordsOf(written.volumes) : undefined,
    pre: wordsOf(written.pre),
    post: wordsOf(written.post),
    exclude: wordsOf(written.exclude),
  };
}

/** Undefined where a spec names no receiver, however it writes that. */
function probeWebhooksOf(block: Fields): DecodedPod["onProbe"] {
  const [failure, recovery] = [decodeWebhooks(block.failure), decodeWebhooks(block.recovery)];
  return failure.length + recovery.length === 0 ? undefined : { failure, recovery };
}

/** Undefined where a spec has no such block, or one that cannot be read. */
function autoscaleOf(written: unknown): AutoscalePolicy | undefined {
  const block = fieldsOf(written);
  const [min, max, cpuTarget] = [integerOf(block.min), integerOf(block.max), integerOf(block.cpu_target)];
  if (min === undefined || max === undefined || cpuTarget === undefined) return undefined;
  return {
    min,
    max,
    cpuTarget,
    cooldownUpMs: msOf(block.cooldown_up) ?? cooldownUpMs,
    cooldownDownMs: msOf(block.cooldown_down) ?? cooldownDownMs,
  };
}

/** Undefined where a spec does not say that requests wake it. */
function sleepOf({ wake, idle_after }: Fields): SleepPolicy | undefined {
  if (wake !== true) return undefined;
  const written = textOf(idle_after);
  const idleText = written !== undefined && msOf(written) !== undefined ? written : sleepDefaults.idleAfter;
  const ms = msOf(idleText) ?? 0;
  return { idleMs: ms === 0 ? undefined : ms, idleText };
}

function releaseOf(written: unknown): DecodedRelease | undefined {
  if (!isFields(written)) return undefined;
  return {
    preCommand: wordsOf(written.pre_command),
    command: wordsOf(written.command),
    postCommand: wordsOf(written.post_command),
    timeoutMs: msOf(written.timeout) ?? releaseTimeoutMs,
  };
}
