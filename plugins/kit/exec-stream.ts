import { readAnswer } from "../../src/base/wire/client.ts";
import {
  createFrameReader,
  encodeFrame,
  type Frame,
  frameTypes,
  readJsonFrame,
} from "../../src/orchestration/api/exec-frames.ts";
import { execFramingHeader, execPod } from "../../src/orchestration/api/exec.ts";
import { PluginError } from "../kit.ts";

interface ExecTarget {
  pod: string;
  command: readonly string[];
  /** What standard input begins with. */
  input: Uint8Array;
  /** Whether that is all of it. */
  isAll: boolean;
}

/** Who hears what a command does. */
interface ExecListener {
  output(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  /** It has ended; nothing follows. */
  exit(code: number): void;
  /** The session broke before that, with an error or as `how` says it; nothing follows. */
  broken(how: unknown): void;
}

/** A command that runs in a pod. */
export interface ExecStream {
  write(bytes: Uint8Array): void;
  /** The end of standard input. */
  finish(): void;
  /** Ends the session, and the command where it still runs. */
  close(): void;
  /** Whether this process goes on for its sake alone. */
  hold(on: boolean): void;
}

interface Session {
  listener: ExecListener;
  head: Buffer;
  frames: ReturnType<typeof createFrameReader> | undefined;
  isOver: boolean;
}

const headBytesMax = 64 * 1024;

/** Starts a command in a pod, with frames (docs/contract/orchestration.md, 4.5). Rejects when the endpoint takes no connection. */
export async function openExec(endpoint: string, target: ExecTarget, listener: ExecListener): Promise<ExecStream> {
  const session: Session = { listener, head: Buffer.alloc(0), frames: undefined, isOver: false };
  let unsent: Uint8Array = requestBytes(endpoint, target);
  const flush = (socket: Bun.Socket) => {
    unsent = unsent.subarray(Math.max(socket.write(unsent), 0));
  };
  const over = () => broken(session, "broke off before the command had ended");
  const socket = await dial(endpoint, {
    open: flush,
    drain: flush,
    data: (_socket, chunk) => take(session, chunk),
    end: over,
    close: over,
    error: over,
  });
  const send = (bytes: Uint8Array) => {
    unsent = unsent.length === 0 ? bytes : Buffer.concat([unsent, bytes]);
    flush(socket);
  };
  return {
    write: (bytes) => send(encodeFrame(frameTypes.stdin, bytes)),
    finish: () => send(endOfInput()),
    close() {
      session.isOver = true;
      socket.terminate();
    },
    hold: (on) => void (on ? socket.ref() : socket.unref()),
  };
}

/** An error that names the command and the pod, unless it is one already. */
export function execFault({ pod, command }: Pick<ExecTarget, "pod" | "command">, how: unknown): unknown {
  return typeof how === "string" ? new PluginError(`"${command.slice(0, 3).join(" ")}" in ${pod} ${how}`) : how;
}

function dial(endpoint: string, socket: Bun.SocketHandler<undefined>): Promise<Bun.Socket> {
  const unix = /^unix:(?:\/\/)?(\/.+)$/.exec(endpoint)?.[1];
  if (unix !== undefined) return Bun.connect({ unix, socket, allowHalfOpen: true });
  const { hostname, port } = new URL(endpoint);
  return Bun.connect({ hostname, port: Number(port === "" ? 80 : port), socket, allowHalfOpen: true });
}

const endOfInput = () => encodeFrame(frameTypes.stdin, new Uint8Array(0));

/** The request with the input behind it: frames may follow at once. */
function requestBytes(endpoint: string, { pod, command, input, isAll }: ExecTarget): Buffer {
  // The address of a run has a path of its own.
  const base = endpoint.startsWith("unix:") ? "" : new URL(endpoint).pathname.replace(/\/$/, "");
  const body = Buffer.from(JSON.stringify({ command }));
  const head = [
    `POST ${base}/pods/${encodeURIComponent(pod)}/exec?framing=true&interactive=true HTTP/1.1`,
    "Host: localhost",
    "Content-Type: application/json",
    `Content-Length: ${body.length}`,
    "Connection: close",
  ].join("\r\n");
  const first = input.length === 0 ? [] : [encodeFrame(frameTypes.stdin, input)];
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body, ...first, ...(isAll ? [endOfInput()] : [])]);
}

/** A throw in a socket's handler would leave the session waiting. */
function take(session: Session, chunk: Uint8Array): void {
  try {
    if (session.frames === undefined) takeHead(session, chunk);
    else takeFrames(session, session.frames, chunk);
  } catch (error) {
    broken(session, error);
  }
}

function takeHead(session: Session, chunk: Uint8Array): void {
  session.head = Buffer.concat([session.head, chunk]);
  const end = session.head.indexOf("\r\n\r\n");
  if (end < 0) {
    if (session.head.length > headBytesMax) broken(session, "was not answered as it should be");
    return;
  }
  const head = session.head.toString("latin1", 0, end);
  const rest = session.head.subarray(end + 4);
  const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1] ?? 0);
  if (status === 200 && new RegExp(`^${execFramingHeader}: *1\\r?$`, "im").test(head)) {
    session.frames = createFrameReader();
    takeFrames(session, session.frames, rest);
    return;
  }
  const length = Number(/^content-length: *(\d+)\r?$/im.exec(head)?.[1] ?? 0);
  if (rest.length < length) return;
  readAnswer(execPod, status, rest.toString());
  broken(session, "was not answered with frames");
}

function takeFrames(session: Session, reader: ReturnType<typeof createFrameReader>, chunk: Uint8Array): void {
  const { frames, fault } = reader.push(chunk);
  for (const frame of frames) takeFrame(session, frame);
  if (fault !== undefined) broken(session, `broke off: ${fault}`);
}

function takeFrame(session: Session, { type, payload }: Frame): void {
  if (session.isOver) return;
  const { listener } = session;
  if (type === frameTypes.stdout) listener.output("stdout", payload);
  else if (type === frameTypes.stderr) listener.output("stderr", payload);
  else if (type === frameTypes.error) broken(session, `failed: ${new TextDecoder().decode(payload)}`);
  else if (type === frameTypes.exit) {
    session.isOver = true;
    listener.exit(Number(readJsonFrame({ type, payload })?.exit_code ?? 1));
  }
}

function broken(session: Session, how: unknown): void {
  if (session.isOver) return;
  session.isOver = true;
  session.listener.broken(how);
}
