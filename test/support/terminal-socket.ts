import { terminalProtocol } from "../../src/observability/api/exec.ts";
import { createFrameReader, frameTypes, readJsonFrame, type Frame } from "../../src/orchestration/api/exec-frames.ts";
import { exchange, statuses } from "./raw-http.ts";

/** A terminal of the plane, over a WebSocket of its own. */
export interface TerminalSocket {
  protocol: string;
  send(bytes: Uint8Array): void;
  /** Text of the output so far, of both streams. */
  output(): string;
  exitCode(): number | undefined;
  /** Text of the error frame; empty without one. */
  fault(): string;
  /** The close code, once it is closed. */
  closed: number | undefined;
  leave(): void;
}

/** Fails with the status where the server refuses. */
export function openTerminalSocket(
  url: string,
  headers: Record<string, string>,
  tls?: object,
): Promise<TerminalSocket> {
  const own = { "Sec-WebSocket-Protocol": terminalProtocol, ...headers };
  const options = { headers: own, ...(tls === undefined ? {} : { tls }) };
  const socket = new WebSocket(url, options);
  socket.binaryType = "arraybuffer";
  const reader = createFrameReader();
  const frames: Frame[] = [];
  const textOf = (...types: number[]) =>
    new TextDecoder().decode(
      Buffer.concat(frames.filter(({ type }) => types.includes(type)).map((one) => one.payload)),
    );
  const terminal: TerminalSocket = {
    protocol: "",
    send: (bytes) => void socket.send(new Uint8Array(bytes)),
    output: () => textOf(frameTypes.stdout, frameTypes.stderr),
    exitCode() {
      const last = frames.find(({ type }) => type === frameTypes.exit);
      return last === undefined ? undefined : Number(readJsonFrame(last)?.exit_code);
    },
    fault: () => textOf(frameTypes.error),
    closed: undefined,
    leave: () => socket.terminate(),
  };
  socket.onmessage = ({ data }) => void frames.push(...reader.push(new Uint8Array(data as ArrayBuffer)).frames);
  let isOpen = false;
  return new Promise((resolve, reject) => {
    socket.onopen = () => {
      isOpen = true;
      terminal.protocol = socket.protocol;
      resolve(terminal);
    };
    socket.onclose = ({ code }) => {
      terminal.closed = code;
      if (isOpen) return;
      refusalOf(url, own).then((status) => reject(new Error(`refused with ${status}`)), reject);
    };
  });
}

/** The client of Bun does not tell the status: the same request once more, by hand. */
async function refusalOf(url: string, headers: Record<string, string>): Promise<number | undefined> {
  const { host, port, pathname, search, protocol } = new URL(url);
  if (protocol !== "ws:") return undefined;
  const lines = [
    `GET ${pathname}${search} HTTP/1.1`,
    ...Object.entries({ Host: host, Connection: "Upgrade", Upgrade: "websocket", ...headers }).map((one) =>
      one.join(": "),
    ),
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  ];
  const text = await exchange(Number(port), `${lines.join("\r\n")}\r\n\r\n`, { silenceMs: 100 });
  return statuses(text)[0];
}
