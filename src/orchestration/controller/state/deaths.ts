import type { ManifestKey } from "../../api/manifest.ts";
import type { Naming } from "../../core/naming.ts";
import type { Clock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import type { Engine } from "../../engine/engine.ts";
import type { PodRef } from "../../engine/pod.ts";
import type { DeathRecord, Store } from "../../store/store.ts";
import type { Notes } from "./notes.ts";
import type { Pod } from "./pod.ts";
import type { PodTable } from "./pod-table.ts";
import type { ProbeRoom } from "./probe-room.ts";
import { accessHint, canOwn, hasRefusal, refusedMount } from "../../core/access-hint.ts";
import { specOf } from "./pod-spec.ts";

/** Keeps what is known about replicas that died, before their containers are gone. */
export interface Deaths {
  /** What a record would say now. */
  examine(pod: Pod, reason: string): Promise<DeathRecord>;
  /** One death: exit code, memory, last output. Never fails: a missing record must not stop what caused it. */
  record(pod: Pod, reason: string): Promise<void>;
  /** As `record`, of a container that is in no table, such as one that ran before a replica. */
  keep(death: DeathRecord): Promise<void>;
  /** Every replica of the resource that is in trouble right now, and those that `also` names. */
  capsule(key: ManifestKey, reason: string, also?: (pod: Pod) => boolean): Promise<void>;
}

const logLines = 100;
const logBytesMax = 64 * 1024;
const readMs = 3_000;

/** What it works with. */
interface DeathParts {
  notes: Notes;
  engine: Engine;
  store: Store;
  names: Naming;
  clock: Clock;
  log: Log;
  pods: PodTable;
  probes: ProbeRoom;
}

export function createDeaths(context: DeathParts): Deaths {
  async function examine(pod: Pod, reason: string): Promise<DeathRecord> {
    const logs = await lastLines(context, pod);
    const hint = await hintInTime(context, pod, logs);
    const { kind, scope, name } = pod.key;
    return {
      kind,
      scope,
      name,
      replicaId: pod.replicaId,
      containerId: pod.id,
      at: pod.finishedAt ?? context.clock.now(),
      exitCode: pod.state === "running" ? pod.lastExitCode : pod.exitCode,
      oomKilled: pod.oomKilled,
      reason: pod.error || reason,
      image: pod.image,
      hash: pod.hash,
      releaseId: pod.releaseId,
      logs,
      probes: context.probes.exchanges(pod.id),
      hint,
    };
  }

  async function record(pod: Pod, reason: string): Promise<void> {
    try {
      await put(await examine(pod, reason));
    } catch (error) {
      context.log.warn("death not recorded", { container: pod.name, error });
    }
  }

  async function put(death: DeathRecord): Promise<void> {
    const { kind, scope, name } = death;
    const isSame = ({ containerId, at }: DeathRecord) => containerId === death.containerId && at === death.at;
    await context.notes.write((tx) => {
      // Later reports about the same death are about its removal.
      const first = tx.deaths.list({ kind, scope, name }).find(isSame);
      tx.deaths.put({ ...death, reason: first?.reason ?? death.reason });
    });
  }

  const isHindered = (pod: Pod) => context.probes.failing(pod) !== undefined;

  return {
    examine,
    record,
    keep: (death) =>
      put(death).catch((error) => context.log.warn("death not recorded", { container: death.containerId, error })),
    async capsule(key, reason, also = () => false) {
      const isTroubled = (pod: Pod) =>
        pod.restarts > 0 || pod.oomKilled || pod.state !== "running" || isHindered(pod) || also(pod);
      const troubled = context.pods.of(key).filter(isTroubled);
      await Promise.all(troubled.map((pod) => record(pod, reason)));
    },
  };
}

/** An engine that does not answer must not hold up what comes after a death. */
async function hintInTime(context: DeathParts, pod: Pod, logs: readonly string[]): Promise<string | undefined> {
  const enough = new AbortController();
  const hint = hintOf(context, pod, logs).catch((error: unknown) => {
    context.log.debug("no hint about a death", { container: pod.name, error });
    return undefined;
  });
  const late = context.clock.sleep(readMs, enough.signal);
  try {
    return (await Promise.race([hint, late])) ?? undefined;
  } finally {
    enough.abort();
  }
}

/** Without the output, the rest is still worth keeping. */
function lastLines(context: DeathParts, pod: PodRef): Promise<string[]> {
  return readLines(context, pod).catch((error) => [`(output lost: ${error instanceof Error ? error.message : error})`]);
}

async function readLines(context: DeathParts, pod: PodRef): Promise<string[]> {
  const stop = AbortSignal.timeout(readMs);
  const decoder = new TextDecoder();
  let text = "";
  const options = { follow: false, tail: logLines, since: undefined, timestamps: false };
  for await (const bytes of context.engine.logs(pod, options, stop)) {
    text = (text + decoder.decode(bytes, { stream: true })).slice(-logBytesMax);
  }
  return text.split("\n").filter((line, index, all) => index < all.length - 1 || line !== "");
}

/**
 * Why a mount refuses the program that wrote these lines, and what to do about it: from the mounts, the user of the
 * container and the owner of the folder, as the engine has them now. Undefined where no line says so, or the engine
 * cannot tell why.
 */
async function hintOf(
  parts: { engine: Engine; store: Store; names: Naming },
  pod: Pod,
  lines: readonly string[],
): Promise<string | undefined> {
  if (!hasRefusal(lines)) return undefined;
  const { engine, store, names } = parts;
  const container = await engine.inspect(pod);
  const refused = container && refusedMount(lines, container.mounts);
  if (refused === undefined) return undefined;
  const { destination } = refused.mount;
  const access = refused.refusal === "denied" ? await engine.folderAccess(pod, destination) : undefined;
  const { scope, name } = pod.key;
  const spec = specOf({ store }, pod);
  const isOwnable =
    spec !== undefined && access !== undefined && canOwn(destination, access.user, { scope, pod: spec, names });
  const ref = pod.ordinal === undefined ? `${scope}/${name}` : `${scope}/${name}.${pod.ordinal}`;
  return accessHint({ ...refused, access, ref, canOwn: isOwnable });
}
