import { PluginError } from "../kit.ts";
import { referenceText } from "./arguments.ts";
import { type Cluster, podAt, podName, refresh, statusOf, tool, until } from "./cluster.ts";
import { ordinalOf } from "./controller.ts";
import { fence, isDown } from "./fence.ts";
import { followers } from "./followers.ts";
import { clearNote, nobody, type Note, writeNote, writePlace } from "./note.ts";
import { furthestOf } from "./standing.ts";

/** The steps of a promotion that differ between servers, for one target. */
export interface Steps {
  /** While the old primary still runs and will be stopped cleanly: last chance to bring everything over. */
  beforeStop?: () => Promise<void>;
  /** Takes back what `beforeStop` did, where the old primary goes on. */
  afterAll?: () => Promise<void>;
  /** The old primary is down: brings the target to the end of what it has. */
  beforePromote?: () => Promise<void>;
  /** Limit of the tool `promote` in the target. */
  promoteMs: number;
}

export interface Handover {
  target: number;
  /** Another standby may be taken where it turns out to be further. */
  free: boolean;
  /** A target that is behind is taken all the same. */
  force: boolean;
  /** Whether the old primary comes back as a standby. */
  rejoin: boolean;
  /** Id of this run. */
  run: string;
  stepsOf: (target: number) => Steps;
}

/**
 * Makes another pod primary. A note says what is about to happen; the old primary is stopped and kept stopped; only when
 * it is down, and the target has what it had, does the config name the target; then that takes writes. Ends with the note
 * still there: what comes after is for `complete`.
 */
export async function handOver(cluster: Cluster, handover: Handover): Promise<Note> {
  const { target, rejoin, run } = handover;
  const from = cluster.primary;
  const begun: Note = { from, to: target, epoch: cluster.epoch + 1, rejoin, undo: false, at: now(), run };
  let note = begun;
  podAt(cluster, target);
  const steps = handover.stepsOf(target);
  await writeNote(cluster, note);
  try {
    if (from !== nobody) {
      await steps.beforeStop?.();
      cluster.progress(`stopping pod ${from}, the primary until now`);
      await fence(cluster, from, () => decide(cluster, begun));
    }
    note = { ...note, to: handover.force ? target : await furthest(cluster, handover, begun) };
    await handover.stepsOf(note.to).beforePromote?.();
    await decide(cluster, note);
    await takeOver(cluster, note, steps.promoteMs);
  } catch (error) {
    await goBack(cluster, note);
    await steps.afterAll?.().catch(() => undefined);
    throw error;
  }
  await followers(cluster, from);
  return note;
}

function now(): string {
  return new Date().toISOString();
}

async function decide(cluster: Cluster, note: Note): Promise<void> {
  await writePlace(cluster, { primary: note.to, epoch: note.epoch, note });
}

/** What received the last changes may take a moment to write them down. */
const levelMs = 10_000;

/** With the old primary down nothing moves any more: now positions can be compared. */
async function furthest(cluster: Cluster, { target, free }: Handover, { epoch }: Note): Promise<number> {
  // Two words with one number would contradict each other.
  const isOpen = free && Number(cluster.config[cluster.kind.epochKey] ?? "1") < epoch;
  let found = await furthestOf(cluster, target);
  const isLevel = async () => {
    found = await furthestOf(cluster, target);
    return found.behind === 0n;
  };
  if (found.behind === 0n) return target;
  await until("", levelMs, isLevel).catch(() => undefined);
  if (found.behind === 0n) return target;
  if (!isOpen) {
    throw new PluginError(
      `pod ${found.best} has ${found.behind} bytes more than pod ${target}; choose it, or lose them with --force`,
    );
  }
  cluster.progress(`pod ${found.best} has more than pod ${target} and is taken instead`);
  return found.best;
}

/** The target takes writes from here on. The old primary is looked at once more: two would be worse than none. */
export async function takeOver(cluster: Cluster, { from, to, epoch }: Note, promoteMs: number): Promise<void> {
  if (from !== nobody && !(await isDown(cluster, from))) {
    throw new PluginError(`pod ${from} runs again, although it was stopped; no pod was promoted`);
  }
  cluster.progress(`making pod ${to} primary`);
  const args = ["promote", String(epoch), String(to)];
  await tool(cluster, { pod: podAt(cluster, to), args, timeoutMs: promoteMs, loud: true });
  cluster.primary = to;
  cluster.epoch = epoch;
}

/** The old primary takes over again, unless the target has become one after all: two would be worse than none. */
export async function goBack(cluster: Cluster, note: Note): Promise<void> {
  const { from, to, epoch } = note;
  const isDecided = Number(cluster.config[cluster.kind.epochKey] ?? "1") >= epoch;
  if (isDecided && !note.undo) {
    const pod = (await cluster.controller.pods(cluster.of)).find((each) => ordinalOf(each) === to);
    const status = pod === undefined ? undefined : await statusOf(cluster, pod);
    if (status?.one("role") !== "standby") {
      cluster.progress(`pod ${to} may be primary already, so pod ${from} stays stopped; look with: info`);
      return;
    }
  }
  if (from === nobody) return clearNote(cluster);
  cluster.progress(`going back: pod ${from} stays primary`);
  if (isDecided && !note.undo) {
    await writePlace(cluster, { primary: from, epoch: epoch + 1, note: { ...note, epoch: epoch + 1, undo: true } });
  }
  const pods = await cluster.controller.pods(cluster.of);
  const stayed = pods.some((pod) => ordinalOf(pod) === from && pod.running && !pod.frozen);
  if (!stayed) await cluster.controller.start(podName(cluster.of, from));
  await clearNote(cluster);
}

/** The pod that takes writes stays primary, and everybody hears of it: the end of a command that was interrupted. */
export async function confirmPrimary(cluster: Cluster): Promise<void> {
  const { primary } = cluster;
  if (Number(cluster.config[cluster.kind.primaryKey] ?? "0") !== primary) {
    cluster.epoch += 1;
    await writePlace(cluster, { primary, epoch: cluster.epoch });
  }
  await followers(cluster, nobody);
}

/** A pod comes back as a follower of the primary; resolves when it is ready. */
export async function bringBack(cluster: Cluster, ordinal: number, limitMs: number): Promise<void> {
  if (ordinal === cluster.primary) {
    throw new PluginError(
      `pod ${ordinal} of ${referenceText(cluster.of)} is the primary; it has no other pod to follow`,
    );
  }
  cluster.progress(`bringing pod ${ordinal} back as a standby of pod ${cluster.primary}`);
  await cluster.controller.start(podName(cluster.of, ordinal));
  await comesBack(cluster, ordinal, limitMs);
}

/** Resolves when a pod that was started is ready. */
export async function comesBack(cluster: Cluster, ordinal: number, limitMs: number): Promise<void> {
  const name = podName(cluster.of, ordinal);
  await until(`bringing pod ${ordinal} back`, limitMs, async () => {
    await refresh(cluster);
    return cluster.pods.some((pod) => pod.name === name && pod.running && pod.ready && !pod.frozen);
  });
}
