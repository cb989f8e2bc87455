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

export interface ExecRequest {
  pod: string;
  command: readonly string[];
  /** Written to the command's standard input, which then ends. For what must not stand in a process list. */
  stdin?: string | Uint8Array;
  /** Lines of standard error, as they come. */
  progress?: (line: string) => void;
  timeoutMs: number;
}

export interface ExecOutcome {
  exitCode: number;
  stdout: string;
  stderr: string;
}

/** Longest output of a command that is kept; more ends it as a fault. */
const outputBytesMax = 8 * 1024 * 1024;
const headBytesMax = 64 * 1024;

interface Session {
  request: ExecRequest;
  bytes: Buffer;
  inBody: boolean;
  frames: ReturnType<typeof createFrameReader>;
  out: Uint8Array[];
  outBytes: number;
  stderr: LineText;
  settle: PromiseWithResolvers<ExecOutcome>;
}

/** Runs a command in a pod (orchestration API, exec with frames) to its end. Fails when the session breaks. */
export async function execInPod(endpoint: string, request: ExecRequest): Promise<ExecOutcome> {
  const session: Session = {
    request,
    bytes: Buffer.alloc(0),
    inBody: false,
    frames: createFrameReader(),
    out: [],
    outBytes: 0,
    stderr: lineText(request.progress),
    settle: Promise.withResolvers<ExecOutcome>(),
  };
  // Heard of by whoever awaits it below; where dialling fails, nobody does.
  session.settle.promise.catch(() => undefined);
  const socket = await dial(endpoint, session);
  const timer = setTimeout(
    () => fail(session, `took longer than ${request.timeoutMs / 1000} seconds`),
    request.timeoutMs,
  );
  try {
    return await session.settle.promise;
  } finally {
    clearTimeout(timer);
    socket.terminate();
  }
}

async function dial(endpoint: string, session: Session): Promise<Bun.Socket> {
  const unsent = { bytes: requestBytes(endpoint, session.request) };
  const flush = (socket: Bun.Socket) => {
    unsent.bytes = unsent.bytes.subarray(Math.max(socket.write(unsent.bytes), 0));
  };
  const over = () => fail(session, "broke off before the command had ended");
  const socket: Bun.SocketHandler<undefined> = {
    open: flush,
    drain: flush,
    data: (_socket, chunk) => take(session, chunk),
    end: over,
    close: over,
    error: over,
  };
  const unix = /^unix:(?:\/\/)?(\/.+)$/.exec(endpoint)?.[1];
  if (unix !== undefined) return Bun.connect({ unix, socket, allowHalfOpen: true });
  const { hostname, port } = new URL(endpoint);
  return Bun.connect({ hostname, port: Number(port === "" ? 80 : port), socket, allowHalfOpen: true });
}

/** The request with all of the input behind it: frames may follow at once. */
function requestBytes(endpoint: string, { pod, command, stdin }: ExecRequest): Buffer {
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
  const input = stdin === undefined ? [] : [encodeFrame(frameTypes.stdin, Buffer.from(stdin))];
  const end = encodeFrame(frameTypes.stdin, new Uint8Array(0));
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`), body, ...input, end]);
}

/** A throw in a socket's handler would leave the session waiting. */
function take(session: Session, chunk: Uint8Array): void {
  try {
    if (session.inBody) takeFrames(session, chunk);
    else takeHead(session, chunk);
  } catch (error) {
    session.settle.reject(error);
  }
}

function takeHead(session: Session, chunk: Uint8Array): void {
  session.bytes = Buffer.concat([session.bytes, chunk]);
  const end = session.bytes.indexOf("\r\n\r\n");
  if (end < 0) {
    if (session.bytes.length > headBytesMax) fail(session, "was not answered as it should be");
    return;
  }
  const head = session.bytes.toString("latin1", 0, end);
  const rest = session.bytes.subarray(end + 4);
  const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1] ?? 0);
  if (status === 200 && new RegExp(`^${execFramingHeader}: *1\\r?$`, "im").test(head)) {
    session.inBody = true;
    takeFrames(session, rest);
    return;
  }
  const length = Number(/^content-length: *(\d+)\r?$/im.exec(head)?.[1] ?? 0);
  if (rest.length < length) return;
  readAnswer(execPod, status, rest.toString());
  fail(session, "was not answered with frames");
}

function takeFrames(session: Session, chunk: Uint8Array): void {
  const { frames, fault } = session.frames.push(chunk);
  for (const frame of frames) takeFrame(session, frame);
  if (fault !== undefined) fail(session, `broke off: ${fault}`);
}

function takeFrame(session: Session, { type, payload }: Frame): void {
  if (type === frameTypes.stdout) keep(session, payload);
  else if (type === frameTypes.stderr) session.stderr.push(payload);
  else if (type === frameTypes.error) fail(session, `failed: ${new TextDecoder().decode(payload)}`);
  else if (type === frameTypes.exit) {
    const exitCode = Number(readJsonFrame({ type, payload })?.exit_code ?? 1);
    session.settle.resolve({
      exitCode,
      stdout: Buffer.concat(session.out).toString(),
      stderr: session.stderr.end(),
    });
  }
}

function keep(session: Session, payload: Uint8Array): void {
  session.outBytes += payload.length;
  if (session.outBytes > outputBytesMax) fail(session, `printed more than ${outputBytesMax} bytes`);
  else session.out.push(payload);
}

function fail({ request, settle }: Session, how: string): void {
  settle.reject(new PluginError(`"${request.command.slice(0, 3).join(" ")}" in ${request.pod} ${how}`));
}

interface LineText {
  push(chunk: Uint8Array): void;
  /** All of it, the last line too. */
  end(): string;
}

/** How much of standard error is kept for the error text. */
const stderrLettersMax = 64 * 1024;

function lineText(onLine: ((line: string) => void) | undefined): LineText {
  const decoder = new TextDecoder();
  let all = "";
  let open = "";
  return {
    push(chunk) {
      const text = decoder.decode(chunk, { stream: true });
      all = (all + text).slice(-stderrLettersMax);
      const lines = (open + text).split("\n");
      open = (lines.pop() ?? "").slice(-stderrLettersMax);
      for (const line of lines) onLine?.(line);
    },
    end() {
      if (open !== "") onLine?.(open);
      return all;
    },
  };
}
