import { isUnread } from "../basics/output.ts";
import {
  createFrameReader,
  encodeFrame,
  type Frame,
  frameTypes,
  jsonFrame,
  readJsonFrame,
} from "../../orchestration/api/exec-frames.ts";
import type { ClientSocket } from "../basics/client-socket.ts";
import type { Route } from "../basics/endpoint.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import type { RawTerminal } from "../basics/raw-terminal.ts";
import { broke, dialServer, openSession, type SessionAnswer } from "./open-session.ts";
import { ApiError } from "../../base/wire/client.ts";

const shells = ["bash", "zsh", "ash", "dash", "ksh", "fish"];
/** What a shell ends with for a program that is not there. */
const notThere = 127;

/** The refusal of a command that cannot begin in its container, with the exit code that a shell has for it. */
export function cannotRun(error: unknown, command: readonly string[]): unknown {
  const code = error instanceof ApiError ? error.data.fields?.exit_code : undefined;
  if (!(error instanceof ApiError) || typeof code !== "number") return error;
  const program = (command[0] ?? "").replace(/^.*\//, "");
  const hint = code === notThere && shells.includes(program) ? "; the image has no such shell: try sh" : "";
  return new CommandFailure(`${error.message}${hint}`, code, error.data);
}

export interface ExecCall {
  route: Route;
  /** Path and query; asks for framing. */
  target: string;
  headers: Record<string, string>;
  body: { command: readonly string[]; [field: string]: unknown };
  tty: boolean;
  interactive: boolean;
  terminal: RawTerminal;
  /** Ends the session, and the command with it. */
  signal: AbortSignal;
  /** Limit for connecting and for the head of the answer. */
  answerMs: number;
}

/**
 * Runs one exec session from the request to its end. Answers with the exit code of the command, or 141 when no program
 * reads our output any more. Fails with `ApiError` when the server refuses, `CommandFailure` when the session breaks.
 */
export async function execSession(call: ExecCall): Promise<number> {
  const socket = await dialServer(call);
  const stop = () => socket.terminate();
  call.signal.addEventListener("abort", stop, { once: true });
  if (call.signal.aborted) stop();
  try {
    return await converse(call, socket, await openSession(call, socket));
  } catch (error) {
    if (call.signal.aborted)
      throw new CommandFailure("interrupted: the server ends the command too", exitCodes.interrupted);
    if (isUnread(error)) return brokenPipeCode;
    throw cannotRun(error, call.body.command);
  } finally {
    call.signal.removeEventListener("abort", stop);
    socket.terminate();
  }
}

/** What a shell shows of a process that SIGPIPE ended. */
const brokenPipeCode = 141;

/** The terminal is raw only between the head of the answer and the end. */
async function converse(call: ExecCall, socket: ClientSocket, answer: SessionAnswer): Promise<number> {
  const { terminal, tty, interactive } = call;
  const input = interactive ? terminal.input() : undefined;
  const leaveRaw = tty && interactive ? terminal.enterRaw() : () => undefined;
  const unwatch = tty ? terminal.onResize(() => void sendSize(socket, terminal)) : () => undefined;
  try {
    if (input !== undefined) void feed(socket, input.chunks);
    return await receive(terminal, answer);
  } finally {
    unwatch();
    leaveRaw();
    input?.stop();
  }
}

async function feed(socket: ClientSocket, chunks: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const chunk of chunks) await socket.send(encodeFrame(frameTypes.stdin, chunk));
  await socket.send(encodeFrame(frameTypes.stdin, new Uint8Array(0)));
}

async function sendSize(socket: ClientSocket, terminal: RawTerminal): Promise<void> {
  const size = terminal.size();
  if (size !== undefined) await socket.send(jsonFrame(frameTypes.resize, size));
}

async function receive(terminal: RawTerminal, { first, chunks }: SessionAnswer): Promise<number> {
  const reader = createFrameReader();
  for (let chunk: Uint8Array | undefined = first; chunk !== undefined; chunk = (await chunks.next()).value) {
    const { frames, fault } = reader.push(chunk);
    for (const frame of frames) {
      const exitCode = await takeFrame(terminal, frame);
      if (exitCode !== undefined) return exitCode;
    }
    if (fault !== undefined) throw new CommandFailure(fault);
  }
  throw broke("before the command had ended");
}

async function takeFrame(terminal: RawTerminal, frame: Frame): Promise<number | undefined> {
  if (frame.type === frameTypes.stdout) await terminal.stdout(frame.payload);
  else if (frame.type === frameTypes.stderr) await terminal.stderr(frame.payload);
  else if (frame.type === frameTypes.error) throw new CommandFailure(new TextDecoder().decode(frame.payload));
  else if (frame.type === frameTypes.exit) return Number(readJsonFrame(frame)?.exit_code ?? exitCodes.failed);
  return undefined;
}
