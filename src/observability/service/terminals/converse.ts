import { type ByteQueue, createByteQueue } from "../../../base/words/byte-queue.ts";
import type { SteadyClock } from "../../../base/words/clock.ts";
import type { Log } from "../../../base/words/log.ts";
import {
  createFrameReader,
  encodeFrame,
  type Frame,
  frameTypes,
  jsonFrame,
  readJsonFrame,
} from "../../../orchestration/api/exec-frames.ts";
import type { PodSession } from "../platform.ts";
import type { TerminalLimits } from "./limits.ts";
import { ApiError } from "../../../base/wire/client.ts";
import { Failure } from "../../../base/wire/failure.ts";

/** The way to the client, as a WebSocket of the listener is. */
interface TerminalSocket {
  /** Bytes that were taken; 0 where the connection is gone, -1 where `drained` comes before more may be sent. */
  send(data: Uint8Array<ArrayBuffer>): number;
  close(code?: number, reason?: string): void;
}

/** What happens on the way, in order. */
export interface TerminalEvents {
  opened(socket: TerminalSocket): void;
  received(data: string | Uint8Array): void;
  drained(): void;
  closed(): void;
}

type Started = PodSession & { container?: string };
type Size = { cols: number; rows: number };

interface Parts {
  start(size: Size | undefined): Promise<Started>;
  /** Once, however it came: what goes on record. */
  ended(outcome: string, container: string | undefined): void;
  /** Aborts when the token ends, and when the server stops. */
  signal: AbortSignal;
  tty: boolean;
  limits: Pick<TerminalLimits, "idleMs" | "lifeMs" | "inputBytesMax">;
  clock: SteadyClock;
  log: Log;
}

interface State extends Parts {
  input: ByteQueue;
  session: Started | undefined;
  size: Size | undefined;
  socket: TerminalSocket | undefined;
  /** The connection is closed, by whichever end. */
  gone: boolean;
  /** Why the server ends it; undefined for a command that ends by itself. */
  fault: string | undefined;
  movedAt: number;
  /** Wakes the code that waits for the client to read. */
  wake: (() => void) | undefined;
  /** Aborts at the end: the watch over the time stops. */
  over: AbortController;
}

/** Close codes of RFC 6455, section 7.4.1. */
const codes = { normal: 1000, policy: 1008, failed: 1011 } as const;

/** One terminal between a WebSocket and a command in a container. */
export function converse(parts: Parts): TerminalEvents {
  const reader = createFrameReader();
  const state: State = {
    ...parts,
    ...{ session: undefined, size: undefined, socket: undefined, gone: false, fault: undefined, wake: undefined },
    movedAt: parts.clock.steady(),
    over: new AbortController(),
    input: createByteQueue({
      highBytes: parts.limits.inputBytesMax,
      // A WebSocket cannot be paused, so that what the command does not read would grow.
      pause: () =>
        cut(state, `the command does not read its input: at most ${parts.limits.inputBytesMax} bytes may wait`),
      resume: () => undefined,
    }),
  };
  return {
    opened(socket) {
      state.socket = socket;
      void run(state);
    },
    received(data) {
      state.movedAt = state.clock.steady();
      if (typeof data === "string") return cut(state, "text messages are not frames: send binary ones");
      const { frames, fault } = reader.push(data);
      for (const frame of frames) takeFrame(state, frame);
      if (fault !== undefined) cut(state, fault);
    },
    drained: () => state.wake?.(),
    closed() {
      state.gone = true;
      end(state);
    },
  };
}

async function run(state: State): Promise<void> {
  const onCut = () => cut(state, "the token or the session has ended, or the server stops");
  state.signal.addEventListener("abort", onCut, { once: true });
  void watchTime(state);
  let outcome: string;
  try {
    if (state.signal.aborted) onCut();
    outcome = await carry(state);
  } catch (error) {
    end(state);
    const text = state.fault ?? errorText(error, state.log);
    outcome = state.gone && state.fault === undefined ? leftText : text;
    await sendFault(state, text);
  } finally {
    state.signal.removeEventListener("abort", onCut);
    state.over.abort();
    state.input.drop();
  }
  state.ended(outcome, state.session?.container);
}

const leftText = "the client left";

async function carry(state: State): Promise<string> {
  if (state.fault !== undefined) throw new Error(state.fault);
  const session = await state.start(state.size);
  state.session = session;
  if (state.gone || state.fault !== undefined) end(state);
  else if (state.size !== undefined) resize(state, session, state.size);
  void feed(state, session);
  for await (const { stream, bytes } of session.output) {
    state.movedAt = state.clock.steady();
    if (!(await send(state, encodeFrame(frameTypes[stream], bytes)))) break;
  }
  if (state.fault !== undefined) throw new Error(state.fault);
  if (state.gone) {
    end(state);
    return leftText;
  }
  const exitCode = await session.exitCode();
  if (state.fault !== undefined) throw new Error(state.fault);
  await send(state, jsonFrame(frameTypes.exit, { exit_code: exitCode }));
  close(state, codes.normal);
  return `exit code ${exitCode}`;
}

/** False where the connection is gone. Waits while the client does not read. */
async function send(state: State, bytes: Uint8Array): Promise<boolean> {
  if (state.gone || state.socket === undefined) return false;
  const sent = state.socket.send(new Uint8Array(bytes));
  if (sent === 0) return false;
  if (sent < 0 && !isOver(state)) {
    await new Promise<void>((resolve) => {
      state.wake = resolve;
    });
    state.wake = undefined;
  }
  return !isOver(state);
}

function isOver({ gone, fault }: State): boolean {
  return gone || fault !== undefined;
}

async function feed({ input, log, tty }: State, session: PodSession): Promise<void> {
  try {
    for await (const bytes of input) await session.write(bytes);
    // A terminal has no end of input: the client sends the character for it.
    if (!tty) session.endInput();
  } catch (error) {
    log.debug("terminal input ended", { error });
    input.drop();
  }
}

/** Other types come from later versions, or make no sense in this direction. */
function takeFrame(state: State, frame: Frame): void {
  if (frame.type === frameTypes.resize) takeSize(state, frame);
  else if (frame.type === frameTypes.stdin && frame.payload.length === 0) state.input.end();
  else if (frame.type === frameTypes.stdin) state.input.push(frame.payload);
}

function takeSize(state: State, frame: Frame): void {
  const { cols, rows } = readJsonFrame(frame) ?? {};
  if (!state.tty || !isDimension(cols) || !isDimension(rows)) return;
  state.size = { cols, rows };
  if (state.session !== undefined) resize(state, state.session, state.size);
}

function isDimension(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= 65_535;
}

function resize({ log }: State, session: PodSession, size: Size): void {
  session.resize(size).catch((error: unknown) => log.debug("terminal not resized", { error }));
}

/** Ends it from here: the client hears it at once, also when it does not read what came before. */
function cut(state: State, why: string): void {
  if (isOver(state)) return;
  state.fault = why;
  end(state);
  void sendFault(state, why);
}

async function sendFault(state: State, text: string): Promise<void> {
  if (state.gone || state.socket === undefined) return;
  state.socket.send(new Uint8Array(encodeFrame(frameTypes.error, new TextEncoder().encode(text))));
  close(state, state.fault === undefined ? codes.failed : codes.policy);
}

function close(state: State, code: number): void {
  if (state.gone) return;
  state.gone = true;
  state.socket?.close(code);
}

/** The command is not needed any more. */
function end({ session, input, wake, log }: State): void {
  wake?.();
  input.drop();
  session?.kill().catch((error: unknown) => log.warn("command not ended", { error }));
}

async function watchTime(state: State): Promise<void> {
  const { clock, limits, over } = state;
  const lastMoment = clock.steady() + limits.lifeMs;
  while (!over.signal.aborted) {
    const now = clock.steady();
    if (now >= lastMoment) return cut(state, `a terminal ends after ${hours(limits.lifeMs)}: open another one`);
    const idleAt = state.movedAt + limits.idleMs;
    if (now >= idleAt) return cut(state, `nothing moved for ${minutes(limits.idleMs)}: open another terminal`);
    await clock.sleep(Math.min(lastMoment, idleAt) - now, over.signal);
  }
}

const hours = (ms: number) => `${Math.round(ms / 3_600_000)} hours`;
const minutes = (ms: number) => `${Math.round(ms / 60_000)} minutes`;

/** What a client may read of a failure that comes after the head of the answer. */
function errorText(error: unknown, log: Log): string {
  if (error instanceof Failure || error instanceof ApiError) return error.message;
  const id = crypto.randomUUID().slice(0, 8);
  log.error("internal error", { id, error });
  return `internal error, id ${id}`;
}
