import { Failure } from "../api/failure.ts";
import type { ContainerSpec } from "../core/workload.ts";
import { createLineTail } from "../lib/lines.ts";
import type { Context } from "./context.ts";

export interface OneOffRun {
  spec: ContainerSpec;
  /** Undefined for no limit. */
  timeoutMs: number | undefined;
  /** Ends the container; the run then counts as cancelled. */
  signal: AbortSignal;
  /** Output as it comes, stdout and stderr merged. */
  onOutput?: (text: string) => void;
  /** The container's id, once it is there: kept by callers that find the run again after a crash. */
  onStarted?: (containerId: string) => Promise<void>;
  /** How it ended, while the container is still there: a crash between this and its removal loses nothing. */
  onEnded?: (result: OneOffResult) => Promise<void>;
  /** Lets go of the container, which runs on: the call then fails with `LeftRunning`. */
  leave?: AbortSignal;
}

/** The server stops; whoever starts next takes the container up again. */
export class LeftRunning extends Error {
  constructor() {
    super("left running");
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
/** How long the output may lag behind the end of the process. */
const drainMs = 5_000;

/**
 * Runs one container to its end and removes it. A container of that name that is ours already is taken up instead,
 * its output from the beginning: the run goes on over a crash of the server. Fails only when the engine does.
 */
export async function runOneOff(context: Context, run: OneOffRun): Promise<OneOffResult> {
  const { runtime, clock } = context;
  const id = await startOrAdopt(context, run.spec);
  await run.onStarted?.(id);
  const detail = await runtime.inspect(id);
  const startedAt = detail?.startedAt ?? clock.now();
  const output = run.onOutput === undefined ? undefined : followOutput(context, id, run.onOutput);
  const { end, ...outcome } = await waitForEnd(context, { id, run, startedAt }).catch((error) => {
    output?.stop();
    throw error;
  });
  const tail = (await output?.finish()) ?? (await lastLines(context, id));
  const result = { end, ...outcome, startedAt, endedAt: clock.now(), tail };
  await run.onEnded?.(result);
  await runtime.remove(id);
  return result;
}

async function startOrAdopt(context: Context, spec: ContainerSpec): Promise<string> {
  const { runtime } = context;
  const known = await runtime.inspect(spec.name);
  if (known !== undefined) {
    if (!sameLabels(known.labels, spec.labels, context)) {
      throw new Failure("conflict", `the container name "${spec.name}" is in use by somebody else`, {
        reason: "NameTaken",
      });
    }
    if (known.state === "created") await runtime.start(known.id);
    return known.id;
  }
  const id = await runtime.create(spec);
  try {
    await runtime.start(id);
  } catch (error) {
    await runtime.remove(id);
    throw error;
  }
  return id;
}

function sameLabels(a: Record<string, string>, b: Record<string, string>, { names }: Context): boolean {
  const { kind, scope, name, role } = names.label;
  return [kind, scope, name, role].every((key) => a[key] === b[key]);
}

interface Waiting {
  id: string;
  run: OneOffRun;
  startedAt: number;
}

type End = Pick<OneOffResult, "end" | "exitCode" | "oomKilled" | "error">;

async function waitForEnd(context: Context, { id, run, startedAt }: Waiting): Promise<End> {
  const { runtime, clock } = context;
  const limit = new AbortController();
  const leftMs = run.timeoutMs === undefined ? undefined : Math.max(0, startedAt + run.timeoutMs - clock.now());
  const timer = leftMs === undefined ? undefined : clock.sleep(leftMs, limit.signal).then(() => "timed_out" as const);
  const cancelled = aborted(run.signal, limit.signal).then(() => "cancelled" as const);
  const left = run.leave === undefined ? [] : [aborted(run.leave, limit.signal).then(() => "left" as const)];
  const waiting = new AbortController();
  const exited = runtime.wait(id, waiting.signal);
  exited.catch(() => undefined);
  const first = await Promise.race([exited, cancelled, ...left, ...(timer === undefined ? [] : [timer])]).finally(() =>
    limit.abort(),
  );
  if (first === "left") {
    waiting.abort();
    throw new LeftRunning();
  }
  if (typeof first === "object") return { end: "exited", ...first };
  await runtime.stop(id, { graceMs: run.spec.stopGraceMs });
  const last = await exited.finally(() => waiting.abort());
  return { end: first, ...last };
}

/** Resolves when `signal` aborts; never, once `until` has. */
function aborted(signal: AbortSignal, until: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener("abort", () => resolve(), { once: true, signal: until });
  });
}

function followOutput(context: Context, id: string, onOutput: (text: string) => void) {
  const stop = new AbortController();
  const lines = createLineTail(tailLines);
  const reading = (async () => {
    const decoder = new TextDecoder();
    const options = { follow: true, tail: undefined, since: undefined, timestamps: false };
    for await (const bytes of context.runtime.logs(id, options, stop.signal)) {
      const text = decoder.decode(bytes, { stream: true });
      lines.push(text);
      onOutput(text);
    }
  })();
  // Output that cannot be read is missing from the record; the run itself goes on.
  const read = reading.catch((error) => lines.push(lostText(error)));
  return {
    stop: () => stop.abort(),
    /** The last lines; undefined where reading fell behind a flood and is given up. */
    async finish(): Promise<string[] | undefined> {
      const whole = await Promise.race([
        read.then(() => true),
        context.clock.sleep(drainMs, stop.signal).then(() => false),
      ]);
      stop.abort();
      return whole ? lines.lines() : undefined;
    },
  };
}

/** Of a container that has ended, without reading all that came before. */
async function lastLines(context: Context, id: string): Promise<string[]> {
  const limit = new AbortController();
  const lines = createLineTail(tailLines);
  const reading = (async () => {
    const decoder = new TextDecoder();
    const options = { follow: false, tail: tailLines, since: undefined, timestamps: false };
    for await (const bytes of context.runtime.logs(id, options, limit.signal)) {
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
