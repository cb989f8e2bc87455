import { Failure } from "../../../base/wire/failure.ts";
import type { ContainerSpec } from "../../core/workload.ts";
import type { ContainerEnd, PodRef } from "../../engine/pod.ts";
import { createLineTail } from "../../../base/words/lines.ts";
import type { Context } from "./context.ts";

export interface OneOffRun {
  spec: ContainerSpec;
  /** Undefined for no limit. */
  timeoutMs: number | undefined;
  /** Ends the container; the run then counts as cancelled. */
  signal: AbortSignal;
  /** Leaves the container, which goes on; the run then fails with `LeftRunning`. For a server that stops. */
  leave?: AbortSignal;
  /** Output as it comes, stdout and stderr merged. */
  onOutput?: (bytes: Uint8Array) => void;
  /** The container, once it is there: kept by callers that find the run again after a crash. */
  onStarted?: (pod: PodRef) => Promise<void>;
  /** The end, while the container is still there: what is written down here is not lost to a crash. */
  onEnded?: (result: OneOffResult) => Promise<void>;
  /** Asked at the end: whether the container stays, for those who come later to read its output. */
  stays?: () => boolean;
}

/** The server stops; the next server takes the container up again. */
export class LeftRunning extends Failure {
  constructor() {
    super("unavailable", "the server is stopping; what it ran goes on");
    this.name = "LeftRunning";
  }
}

export interface OneOffResult {
  end: "exited" | "timed_out" | "cancelled";
  exitCode: number;
  oomKilled: boolean;
  /** The engine's own words, when it has any. */
  error: string;
  startedAt: number;
  endedAt: number;
  /** Last lines of the output. */
  tail: string[];
}

const tailLines = 100;
/** How long the output may be silent after the end of the process, and how often it may come again. */
const drainMs = 5_000;
const drainsMax = 12;
const readAgainMs = 1_000;
/** How long a container that has ended is kept for those who still read its output. */
const readersMs = 10_000;

/**
 * Runs one container to its end and removes it, unless it stays. A container of that name that is ours already is taken up instead,
 * its output from the beginning: the run goes on over a crash of the server. Fails only when the engine does.
 */
export async function runOneOff(context: Context, run: OneOffRun): Promise<OneOffResult> {
  const { engine, clock } = context;
  const pod = await startOrAdopt(context, run.spec);
  await run.onStarted?.(pod);
  const detail = await engine.inspect(pod);
  const startedAt = detail?.startedAt ?? clock.now();
  // Followed only for somebody: the last lines are there at the end all the same.
  const output = run.onOutput === undefined ? undefined : followOutput(context, pod, run.onOutput);
  try {
    const outcome = await waitForEnd(context, { pod, run, startedAt, graceMs: run.spec.stopGraceMs });
    await output?.drained();
    const tail = await lastLines(context, pod);
    output?.makeUp(tail);
    const { finishedAt, ...end } = outcome;
    // As the engine dates it: we may have been away when it ended.
    const result = { ...end, startedAt, endedAt: finishedAt ?? clock.now(), tail };
    await run.onEnded?.(result);
    if (run.stays?.() === true) return result;
    await untilRead(context, run);
    await engine.remove(pod);
    return result;
  } finally {
    output?.stop();
  }
}

/** Those who follow the output get to its end, unless they have stopped reading. */
async function untilRead({ clock, closing, logReaders }: Context, { spec, leave }: OneOffRun): Promise<void> {
  const over = new AbortController();
  const enough = AbortSignal.any([over.signal, closing, ...(leave === undefined ? [] : [leave])]);
  await Promise.race([logReaders.gone(spec.name), clock.sleep(readersMs, enough)]);
  over.abort();
}

/**
 * Waits for a container that another run left behind, ends it when its time is up, and removes it. One that was only
 * created may be about to run: the engine still does what a server asked for that was killed right after.
 */
export async function outlive(
  context: Context,
  pod: PodRef,
  run: Pick<OneOffRun, "timeoutMs"> & { leave: AbortSignal },
): Promise<void> {
  if (await context.engine.removeUnlessRunning(pod)) return;
  const detail = await context.engine.inspect(pod);
  if (detail === undefined) return;
  const { startedAt = context.clock.now(), stopGraceMs: graceMs } = detail;
  await waitForEnd(context, { pod, run: { ...run, signal: new AbortController().signal }, startedAt, graceMs });
  await context.engine.remove(pod);
}

async function startOrAdopt(context: Context, spec: ContainerSpec): Promise<PodRef> {
  const known = await adopt(context, spec);
  if (known !== undefined) return known;
  try {
    return await startNew(context, spec);
  } catch (error) {
    if (!(error instanceof Failure) || error.reason !== "NameTaken") throw error;
    // A server that was killed may have asked for the very same: the engine does that all the same, a moment later.
    const late = await adopt(context, spec);
    if (late === undefined) throw error;
    return late;
  }
}

async function startNew({ engine }: Context, spec: ContainerSpec): Promise<PodRef> {
  const pod = await engine.create(spec);
  try {
    await engine.start(pod);
  } catch (error) {
    // An engine that was only slow to answer may have started it: it goes on then, and is found again.
    await engine.removeUnlessRunning(pod);
    throw error;
  }
  return pod;
}

async function adopt(context: Context, spec: ContainerSpec): Promise<PodRef | undefined> {
  const known = await context.engine.inspect(context.engine.named(spec.name));
  if (known === undefined) return undefined;
  if (!sameLabels(known.labels, spec.labels, context)) {
    throw new Failure("conflict", `the container name "${spec.name}" is in use by somebody else`, {
      reason: "NameTaken",
    });
  }
  if (known.state !== "created") return known;
  try {
    await context.engine.start(known);
  } catch (error) {
    if (!(error instanceof Failure) || !error.anew) throw error;
    // Its command has not begun, so that another container runs it for the first time.
    await context.engine.remove(known);
    return undefined;
  }
  return known;
}

function sameLabels(a: Record<string, string>, b: Record<string, string>, { names }: Context): boolean {
  const { kind, scope, name, role } = names.label;
  return [kind, scope, name, role].every((key) => a[key] === b[key]);
}

interface Waiting {
  pod: PodRef;
  run: Pick<OneOffRun, "timeoutMs" | "signal" | "leave">;
  startedAt: number;
  graceMs: number;
}

type End = Pick<OneOffResult, "end"> & ContainerEnd;

async function waitForEnd(context: Context, { pod, run, startedAt, graceMs }: Waiting): Promise<End> {
  const { engine, clock } = context;
  const limit = new AbortController();
  const leftMs = run.timeoutMs === undefined ? undefined : leftOf(run.timeoutMs, startedAt, clock.now());
  const timer = leftMs === undefined ? undefined : clock.sleep(leftMs, limit.signal).then(() => "timed_out" as const);
  const cancelled = aborted(run.signal, limit.signal).then(() => "cancelled" as const);
  const left = run.leave === undefined ? [] : [aborted(run.leave, limit.signal).then(() => "left" as const)];
  const waiting = new AbortController();
  const exited = engine.wait(pod, waiting.signal);
  exited.catch(() => undefined);
  const first = await Promise.race([exited, ...left, cancelled, ...(timer === undefined ? [] : [timer])]).finally(() =>
    limit.abort(),
  );
  if (typeof first === "object") return { end: "exited", ...first };
  if (first === "left") {
    waiting.abort();
    throw new LeftRunning();
  }
  await engine.stop(pod, { graceMs });
  const last = await exited.finally(() => waiting.abort());
  return { end: first, ...last };
}

/** Never more than the whole time, whatever became of the clock since the start. */
function leftOf(timeoutMs: number, startedAt: number, now: number): number {
  return Math.min(timeoutMs, Math.max(0, startedAt + timeoutMs - now));
}

/** Resolves when `signal` aborts; never, once `until` has. */
function aborted(signal: AbortSignal, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true, signal: until });
  });
}

/** From the beginning, over breaks of the engine: what was read before one is not told again. */
function followOutput(context: Context, pod: PodRef, onOutput: (bytes: Uint8Array) => void) {
  const stop = new AbortController();
  const lines = createLineTail(1);
  const decoder = new TextDecoder();
  let told = 0;

  function tell(bytes: Uint8Array): void {
    lines.push(decoder.decode(bytes, { stream: true }));
    onOutput(bytes);
  }

  /** Words of our own among it. */
  const say = (text: string) => tell(new TextEncoder().encode(text));

  async function read(): Promise<void> {
    const options = { follow: true, tail: undefined, since: undefined, timestamps: false };
    let seen = 0;
    for await (const bytes of context.engine.logs(pod, options, stop.signal)) {
      const fresh = bytes.subarray(Math.max(0, told - seen));
      seen += bytes.length;
      if (fresh.length === 0) continue;
      told += fresh.length;
      tell(fresh);
    }
  }

  async function readToTheEnd(): Promise<void> {
    for (;;) {
      try {
        return await read();
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof Failure) || error.code !== "unavailable") throw error;
        await context.clock.sleep(readAgainMs, stop.signal);
      }
    }
  }

  // Output that cannot be read is missing from the record; the run itself goes on.
  const reading = readToTheEnd().catch((error) => say(lostText(error)));
  return {
    async drained(): Promise<void> {
      const ended = reading.then(() => stop.abort());
      // As long as some of a flood still comes.
      for (let turn = 0, before = -1; turn < drainsMax && told > before && !stop.signal.aborted; turn++) {
        before = told;
        await Promise.race([ended, context.clock.sleep(drainMs, stop.signal)]);
      }
      stop.abort();
    },
    /** An engine that rotates its log files loses those who follow, not the last words. */
    makeUp(last: string[]): void {
      if (last.at(-1) !== lines.lines().at(-1)) say(`(output was dropped here)\n${last.join("\n")}\n`);
    },
    stop: () => stop.abort(),
  };
}

/** The last lines of a container that has ended, without reading all that came before. */
async function lastLines(context: Context, pod: PodRef): Promise<string[]> {
  const limit = new AbortController();
  const lines = createLineTail(tailLines);
  const reading = (async () => {
    const decoder = new TextDecoder();
    const options = { follow: false, tail: tailLines, since: undefined, timestamps: false };
    for await (const bytes of context.engine.logs(pod, options, limit.signal)) {
      lines.push(decoder.decode(bytes, { stream: true }));
    }
  })();
  const read = reading.catch((error) => lines.push(lostText(error)));
  await Promise.race([read, context.clock.sleep(drainMs, limit.signal)]);
  limit.abort();
  return lines.lines();
}

function lostText(error: unknown): string {
  return `(output lost: ${error instanceof Error ? error.message : error})\n`;
}
