import { durationForm, parseDuration } from "../../base/pure/duration.ts";
import type { Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import type { Receipt } from "../../orchestration/api/receipt.ts";
import { receiptOf } from "./receipt-lines.ts";
import { lastWords } from "./last-words.ts";
import { progressBlock, progressLines, readyText } from "../text/progress.ts";
import type { Canary } from "../../orchestration/api/rollouts.ts";
import { printable, type Style } from "../basics/style.ts";
import { scaledToZero } from "../text/resource-status.ts";
import { shortDuration } from "../text/time-text.ts";
import { type Look, Silence, type Waited, waitFor, type WaitResult, type WaitTarget } from "../facts/wait.ts";
import { createLinePrefix } from "../basics/line-prefix.ts";
import { readRelease } from "./release-stream.ts";

/** Milliseconds of `--timeout`, or the default. */
export function timeoutOf(text: string | undefined, context: Context): number {
  if (text === undefined) return context.limits.waitMs;
  const ms = parseDuration(text);
  if (ms === undefined) throw usageFailure(`not a duration: "${text}"; ${durationForm}`);
  return ms;
}

/** Waits for what was asked of the server and shows how it goes on stderr. Answers with the exit code. */
export async function follow(targets: readonly WaitTarget[], timeoutMs: number, context: Context): Promise<number> {
  return exitOf(await watch(targets, timeoutMs, context));
}

/** As `follow`, for callers that need more than the exit code. */
export async function watch(targets: readonly WaitTarget[], timeoutMs: number, context: Context): Promise<WaitResult> {
  if (targets.length === 0) return { outcome: "ready", targets: [] };
  const { clock, signal, limits, terminal } = context;
  const progress = showProgress(context);
  const phases = createPhaseOutput(context);
  const seen = await waitFor(targets, {
    clock,
    signal,
    timeoutMs,
    pollMs: limits.pollMs,
    silenceMs: limits.silenceMs,
    onRound(round) {
      phases.round(round);
      progress.round(round);
    },
    passing: (error) => error instanceof CommandFailure && error.exitCode === exitCodes.unreachable,
  })
    .finally(async () => {
      await phases.end();
      progress.end();
    })
    .catch((error: unknown) => {
      throw error instanceof Silence ? unanswered(error, context) : error;
    });
  const result = { ...seen, targets: await withReceipts(seen.targets, context) };
  for (const target of result.targets) {
    const undo = targets.find(({ ref }) => ref === target.ref)?.undo;
    for (const line of closing(target, { result, timeoutMs, context, undo })) terminal.note(line);
    const isHeld = result.outcome === "held" && target.look.state === "pending";
    if (target.look.state === "ready" || target.look.state === "gone" || isHeld || signal.aborted) continue;
    for (const line of [...(await lastWords(context, target.ref)), ...nextSteps(target.ref)]) terminal.note(line);
  }
  return result;
}

function withReceipts(targets: readonly Waited[], context: Context): Promise<Waited[]> {
  return Promise.all(targets.map(async (target) => ({ ...target, receipt: await receiptOf(target, context) })));
}

/** Says what was waited for; answers with what the client says of a server that it cannot reach. */
function unanswered({ targets, silentMs, cause }: Silence, { terminal }: Context): unknown {
  const { red, yellow } = terminal.noteStyle;
  const lasted = shortDuration(silentMs);
  for (const { ref, look } of targets) {
    const text = look.why === "" ? "" : `: ${printable(look.why)}`;
    if (look.state === "failed" || look.state === "gone") terminal.note(`${red("✗")} ${ref} is not ready${text}`);
    if (look.state === "pending") {
      terminal.note(`${yellow("…")} ${ref} not waited for: the server has not answered for ${lasted}`);
    }
  }
  return cause;
}

interface Progress {
  round: (round: readonly Waited[]) => void;
  end: () => void;
}

function showProgress({ terminal, clock }: Context): Progress {
  const started = clock.now();
  let last: readonly Waited[] = [];
  let tick = 0;
  const draw = () => {
    terminal.block(progressBlock(last, { style: terminal.noteStyle, elapsedMs: clock.now() - started, tick: tick++ }));
  };
  const timer = terminal.live ? setInterval(draw, 120) : undefined;
  return {
    round(round) {
      if (!terminal.live) for (const line of progressLines(last, round)) terminal.note(line);
      last = round;
      if (terminal.live) draw();
    },
    end() {
      clearInterval(timer);
      terminal.block([]);
    },
  };
}

interface Closing {
  result: WaitResult;
  timeoutMs: number;
  context: Context;
  undo: string | undefined;
}

function closing({ ref, look, receipt }: Waited, { result, timeoutMs, context, undo }: Closing): string[] {
  const style = context.terminal.noteStyle;
  const why = look.why === "" ? "" : `: ${printable(look.why)}`;
  if (look.phase === "asleep") return [`${style.green("✓")} ${ref} is asleep, the first request starts it`];
  if (look.state === "ready" && receipt !== undefined && receipt.during.failed > 0) {
    return [`${style.yellow("!")} ${ref} is ${endText(look)}, but ${failedText(receipt.during)}`];
  }
  if (look.state === "ready") return [`${style.green("✓")} ${ref} is ${endText(look)}`];
  if (look.state === "gone") return [`${style.red("✗")} ${ref} is gone${why}`];
  if (look.rolledBackTo !== undefined) {
    const because = look.why === "" ? "" : `, because ${printable(look.why)}`;
    const head = `${style.red("✗")} ${ref} rolled back to ${printable(look.rolledBackTo)}${because}`;
    return [head, ...(look.takenBack ? [`  taken back: ${look.takenBack}`] : [])];
  }
  if (look.state === "failed") return [`${style.red("✗")} ${ref} is not ready${why}`];
  if (look.canary?.state === "paused") return heldLines(ref, look.canary, style);
  if (result.outcome === "interrupted") return leftLines(ref, undo, style);
  return [`${style.red("✗")} ${ref} is not ready after ${shortDuration(timeoutMs)}${why}; the server goes on`];
}

function leftLines(ref: string, undo: string | undefined, style: Style): string[] {
  const path = ref.split("/").slice(1).join("/");
  return [
    `${style.yellow("…")} ${ref} not waited for: the server goes on`,
    `  follow it: berth rollout status ${path} -w`,
    ...(undo === undefined ? [] : [`  undo it:   berth ${undo}`]),
  ];
}

/** A canary that goes on only when a person says so. */
function heldLines(ref: string, canary: Canary, style: Style): string[] {
  const path = ref.split("/").slice(1).join("/");
  const step = printable(canary.text.replace(/;.*$/, ""));
  return [
    `${style.yellow("…")} ${ref} waits for you at ${step}`,
    `  go on: berth rollout resume ${path}`,
    `  back:  berth rollout abort ${path}`,
  ];
}

function endText(look: Look): string {
  if (look.phase === "") return "ready";
  return look.wanted === 0 && look.ready === 0 ? scaledToZero : `ready (${countText(look)})`;
}

/** `2/3, 1 stopped by hand`: a mark for all is not said of fewer without the reason. */
function countText(look: Look): string {
  const { frozen = 0 } = look;
  return `${readyText(look).replace(" ready", "")}${frozen === 0 ? "" : `, ${frozen} stopped by hand`}`;
}

function failedText({ failed, requests }: Receipt["during"]): string {
  return `${failed} of ${requests} ${requests === 1 ? "request" : "requests"} failed during the switch`;
}

function nextSteps(ref: string): string[] {
  const [kind, ...rest] = ref.split("/");
  return [`  see: berth why ${rest.join("/")}`, `       berth describe ${kind} ${rest.join("/")}`];
}

export function exitOf({ outcome }: WaitResult): number {
  if (outcome === "ready" || outcome === "held") return exitCodes.done;
  if (outcome === "interrupted") return exitCodes.interrupted;
  return outcome === "failed" ? exitCodes.failed : exitCodes.timedOut;
}

/** Shows what release commands print while they are waited for: a line each on stderr, behind the name of the resource. */
interface PhaseOutput {
  round(round: readonly Waited[]): void;
  /** Shows nothing more. */
  end(): Promise<void>;
}

function createPhaseOutput(context: Context): PhaseOutput {
  const stopping = new AbortController();
  const shown = new Map<string, Promise<void>>();
  return {
    round(round) {
      for (const { ref, look } of round) {
        const { releasing } = look;
        if (releasing !== undefined && !shown.has(releasing)) shown.set(releasing, show(context, ref, stopping.signal));
      }
    },
    async end() {
      stopping.abort();
      await Promise.all(shown.values());
    },
  };
}

async function show(context: Context, ref: string, signal: AbortSignal): Promise<void> {
  const [, scope, name = ""] = ref.split("/");
  const { note, noteStyle } = context.terminal;
  const lines = createLinePrefix((line) => {
    note(`${noteStyle.dim(`${ref} |`)} ${printable(Buffer.from(line).toString())}`);
    return line;
  });
  // The wait goes on without the output; the wait itself says what is wrong with the server.
  const onBytes = (bytes: Uint8Array) => void lines.push(bytes);
  await readRelease(context, { scope, name, follow: true, signal, onBytes }).catch(() => undefined);
  lines.end();
}
