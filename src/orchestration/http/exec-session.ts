import { encodeFrame, type Frame, type FrameReader, frameTypes, jsonFrame, readJsonFrame } from "../api/exec-frames.ts";
import type { ExecOptions, RunningExec } from "../controller/requests.ts";
import type { ByteQueue } from "../../base/words/byte-queue.ts";
import type { Log } from "../../base/words/log.ts";
import type { Outlet } from "../../base/http/front/outlet.ts";
import { refusalOf } from "../../base/http/error-mapping.ts";

/** What the client asked for. */
export type ExecPlan = Omit<ExecOptions, "actor"> & { name: string; framed: boolean };

/** A command that has begun; `container` where it is not the pod of the plan. */
export type StartedExec = RunningExec & { container?: string };

/** One session between a client's connection and a command in a pod. */
export interface ExecState {
  plan: ExecPlan;
  outlet: Outlet;
  /** Stdin on its way to the command. */
  input: ByteQueue;
  /** Set in framed sessions. */
  frames: FrameReader | undefined;
  log: Log;
  /** Undefined until it has started. */
  exec: StartedExec | undefined;
  /** The last size the client told before the start. */
  size: { cols: number; rows: number } | undefined;
  /** The client is gone. */
  left: boolean;
  /** What the client did wrong; ends the session. */
  fault: string | undefined;
}

/** How the session meets its connection. */
interface ExecConnection {
  start(): Promise<StartedExec>;
  /** Head of the answer. */
  head(exec: StartedExec): Uint8Array;
  begun(): void;
  /** Answers what went wrong before the start. */
  refuse(error: unknown): void;
  /** Ends the connection after the last byte. */
  finish(): void;
  /** Ends it at once, so that the client does not take what it has for everything. */
  terminate(): void;
}

/** Runs the session to its end; never rejects. */
export async function run(state: ExecState, connection: ExecConnection): Promise<void> {
  try {
    state.exec = await connection.start();
  } catch (error) {
    connection.refuse(error);
    return;
  }
  try {
    await converse(state, state.exec, connection);
  } catch (error) {
    end(state);
    if (!state.left) await fail(state, error, connection);
  } finally {
    state.input.drop();
  }
}

async function converse(state: ExecState, exec: StartedExec, connection: ExecConnection): Promise<void> {
  const { plan, outlet } = state;
  connection.begun();
  await outlet.write(connection.head(exec));
  if (state.left || state.fault !== undefined) end(state);
  if (state.size !== undefined) resize(state, exec, state.size);
  void feed(state, exec);
  await passOutput(state, exec);
  // Asked for in any case: it is remembered for those who come back for it.
  const exitCode = await exec.exitCode();
  if (state.fault !== undefined) throw new Error(state.fault);
  if (plan.framed) await outlet.write(jsonFrame(frameTypes.exit, { exit_code: exitCode }));
  connection.finish();
}

async function passOutput({ plan, outlet }: ExecState, exec: RunningExec): Promise<void> {
  for await (const { stream, bytes } of exec.output) {
    const sent = await outlet.write(plan.framed ? encodeFrame(frameTypes[stream], bytes) : bytes);
    if (!sent) return;
  }
}

/** A command that takes no more input gets no more; its output goes on. */
async function feed({ input, plan, log }: ExecState, exec: RunningExec): Promise<void> {
  try {
    for await (const bytes of input) await exec.write(bytes);
    // A terminal has no end of input: the client sends the character for it.
    if (!plan.tty) exec.endInput();
  } catch (error) {
    log.debug("exec input ended", { pod: plan.name, error });
    input.drop();
  }
}

/** Bytes from the client. */
export function clientData(state: ExecState, chunk: Uint8Array): void {
  if (state.frames === undefined) {
    if (state.plan.interactive) state.input.push(chunk);
    return;
  }
  if (state.fault !== undefined) return;
  const { frames, fault } = state.frames.push(chunk);
  for (const frame of frames) takeFrame(state, frame);
  if (fault === undefined) return;
  state.fault = fault;
  end(state);
}

/** Other types come from later versions, or make no sense in this direction. */
function takeFrame(state: ExecState, frame: Frame): void {
  if (frame.type === frameTypes.resize) takeSize(state, frame);
  else if (frame.type === frameTypes.stdin && frame.payload.length === 0) state.input.end();
  else if (frame.type === frameTypes.stdin && state.plan.interactive) state.input.push(frame.payload);
}

function takeSize(state: ExecState, frame: Frame): void {
  const { cols, rows } = readJsonFrame(frame) ?? {};
  if (!state.plan.tty || !isDimension(cols) || !isDimension(rows)) return;
  if (state.exec === undefined) state.size = { cols, rows };
  else resize(state, state.exec, { cols, rows });
}

function isDimension(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= 65_535;
}

function resize({ plan, log }: ExecState, exec: RunningExec, size: { cols: number; rows: number }): void {
  exec.resize(size).catch((error: unknown) => log.debug("terminal not resized", { pod: plan.name, error }));
}

/** FIN. In a framed session only a half-close frame announces it: without one the client is gone. */
export function clientEnd(state: ExecState): void {
  if (state.frames === undefined) {
    if (!state.plan.tty && state.plan.interactive) state.input.end();
  } else if (!state.input.ended) clientLeft(state);
}

/** The client is gone: the command is not needed any more. */
export function clientLeft(state: ExecState): void {
  state.left = true;
  state.outlet.close();
  end(state);
}

function end({ exec, input, plan, log }: ExecState): void {
  input.drop();
  exec?.kill().catch((error: unknown) => log.warn("command not ended", { pod: plan.name, error }));
}

async function fail(state: ExecState, error: unknown, connection: ExecConnection): Promise<void> {
  const message = state.fault ?? refusalOf(error, state.log).message;
  if (!state.plan.framed) return connection.terminate();
  await state.outlet.write(encodeFrame(frameTypes.error, new TextEncoder().encode(message)));
  connection.finish();
}
