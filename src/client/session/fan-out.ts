import type { PodRecord } from "../../orchestration/api/pods.ts";
import { ApiError } from "../../base/wire/client.ts";
import type { Clock } from "../../base/words/clock.ts";
import { millisecondsOf, type Told } from "../../base/words/fresh-lines.ts";

/** Where the log of one pod is read from. */
export interface LogStart {
  /** As the server takes it; undefined for the beginning. */
  since?: string | undefined;
  tail?: string | undefined;
}

interface LogProgress {
  /** Called for each piece. */
  onBytes(): void;
  /** What was printed before, which is not printed again: kept up to date where the log is followed. */
  told?: Told;
}

type LogPod = Pick<PodRecord, "name" | "kind" | "running" | "created_at" | "started_at">;

export interface FanOutSetup {
  /** The pods that are wanted, as they are now. */
  list(): Promise<LogPod[]>;
  /** Prints the log of a pod to its end. Rejects when it breaks off, or the pod is gone. */
  read(pod: string, start: LogStart, progress: LogProgress): Promise<void>;
  /** Epoch milliseconds by the server's clock, or a little less: log times are the server's. */
  serverNow(): number;
  note(text: string): void;
  /** Whether an error may pass by itself, such as a server that restarts. */
  passing(error: unknown): boolean;
  clock: Clock;
  signal: AbortSignal;
  pollMs: number;
  streamsMax: number;
  /** One replica is wanted: unless it has an ordinal, none ever comes in its place. */
  single: () => boolean;
}

/** One run of one container, as far as it was read. */
interface Reading {
  pod: LogPod;
  state: "reading" | "ended" | "broken";
  /** Epoch milliseconds, the server's, of the last piece. */
  readUntil: number;
  told: Told;
}

interface Following extends FanOutSetup {
  /** By name of the pod. */
  readings: Map<string, Reading>;
  /** Kind of the pods that were read. */
  kind: string | undefined;
  /** An error of a reading that will not pass. */
  failure: { error: unknown } | undefined;
}

/**
 * Follows the logs of all wanted pods until `signal` aborts: joins pods that appear, goes on with the next run of one
 * that is started again, and comes back after the server was away. Ends by itself when all that was wanted were runs
 * of a job, and they have ended.
 */
export async function followAll(setup: FanOutSetup, start: LogStart): Promise<void> {
  const { clock, signal } = setup;
  const following: Following = { ...setup, readings: new Map(), kind: undefined, failure: undefined };
  let first = true;
  let away = false;
  let back = "";
  while (!signal.aborted) {
    try {
      const pods = await setup.list();
      if (away) setup.note(back);
      away = false;
      if (first && pods.length === 0) setup.note("no pods yet, waiting for them");
      join(following, { pods, start: first ? start : {}, first });
      first = first && pods.length === 0;
      if (isOver(following, pods)) return;
    } catch (error) {
      if (signal.aborted) return;
      if (!setup.passing(error)) throw error;
      // What keeps the server from answering it says itself.
      const isSaid = error instanceof ApiError;
      if (!away) setup.note(`${isSaid ? error.message : "the server does not answer"}, still trying`);
      away = true;
      back = isSaid ? "that is over" : "the server is back";
    }
    await clock.sleep(setup.pollMs, signal);
    if (following.failure !== undefined && !signal.aborted) throw following.failure.error;
  }
}

interface Round {
  pods: LogPod[];
  start: LogStart;
  first: boolean;
}

function join(following: Following, { pods, start, first }: Round): void {
  const { readings } = following;
  for (const name of readings.keys()) {
    const gone = !pods.some((pod) => pod.name === name) && readings.get(name)?.state !== "reading";
    if (gone) readings.delete(name);
  }
  for (const pod of pods) {
    const from = startOf(pod, readings.get(pod.name), start);
    if (from === undefined) continue;
    if (countOpen(readings) >= following.streamsMax) return;
    if (!first && !readings.has(pod.name)) following.note(`${pod.name} joined`);
    begin(following, pod, from);
  }
}

/** Where to begin with a pod; undefined when there is nothing new to read. */
function startOf(pod: LogPod, reading: Reading | undefined, start: LogStart): LogStart | undefined {
  if (reading === undefined) return start;
  if (pod.created_at !== reading.pod.created_at && reading.state !== "reading") return {};
  if (reading.state === "broken") return { since: new Date(toldUntil(reading)).toISOString() };
  const again = reading.state === "ended" && pod.running && pod.started_at !== reading.pod.started_at;
  return again ? { since: restartOf(pod, reading) } : undefined;
}

/** A process may write a little before the engine says that it has started. A line twice is better than one too few. */
const startLagMs = 2_000;

function restartOf(pod: LogPod, reading: Reading): string {
  if (reading.told.at !== "") return new Date(toldUntil(reading)).toISOString();
  const startedAt = Date.parse(pod.started_at ?? "") || 0;
  return new Date(Math.max(startedAt - startLagMs, reading.readUntil)).toISOString();
}

/** Lines of the same millisecond come again, and those that were printed are left out. */
function toldUntil({ told, readUntil }: Reading): number {
  return told.at === "" ? readUntil : millisecondsOf(told.at);
}

function begin(following: Following, pod: LogPod, from: LogStart): void {
  const { readings, serverNow, passing } = following;
  const before = readings.get(pod.name);
  const isSame = before !== undefined && before.pod.created_at === pod.created_at;
  const told = isSame ? before.told : { at: "", count: 0 };
  const reading: Reading = { pod, state: "reading", readUntil: serverNow(), told };
  readings.set(pod.name, reading);
  following.kind = pod.kind;
  const onBytes = () => {
    reading.readUntil = serverNow();
  };
  following.read(pod.name, from, { onBytes, told }).then(
    () => {
      reading.state = "ended";
    },
    (error: unknown) => {
      reading.state = "broken";
      if (!passing(error)) following.failure ??= { error };
    },
  );
}

function countOpen(readings: ReadonlyMap<string, Reading>): number {
  return [...readings.values()].filter(({ state }) => state === "reading").length;
}

/** Runs of jobs end for good, and so does a replica that is gone; anything else is replaced or started again. */
function isOver({ readings, single, kind }: Following, pods: readonly LogPod[]): boolean {
  if (pods.length === 0) return single() && kind !== undefined && kind !== "statefulset";
  const oneOff = (pod: LogPod) => pod.kind === "job" && !pod.running;
  return pods.every((pod) => oneOff(pod) && readings.get(pod.name)?.state === "ended");
}

/** Prints what there is of these pods, one after the other. */
export async function readAll(
  setup: Pick<FanOutSetup, "read" | "signal">,
  pods: readonly string[],
  start: LogStart,
): Promise<boolean> {
  let isSome = false;
  for (const pod of pods) {
    if (setup.signal.aborted) break;
    await setup.read(pod, start, {
      onBytes() {
        isSome = true;
      },
    });
  }
  return isSome;
}
