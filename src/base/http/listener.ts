import { errorResponse } from "./answers.ts";
import { bindFailure } from "./front/address.ts";
import { plainPath } from "../pure/percent-path.ts";
import type { Log } from "../words/log.ts";
import { pathOf } from "./request.ts";

type Handler = (request: Request) => Response | Promise<Response>;

/** What a request's own connection is good for. */
export interface Connected {
  /** Address of the other end. */
  peerOf(request: Request): string;
  /**
   * Makes a WebSocket of the connection; false where the request does not ask for one. What is answered after it is true
   * goes nowhere. `protocol`: the subprotocol that the answer names.
   */
  upgrade(request: Request, session: SocketSession, protocol?: string): boolean;
  /** Lets the answer be silent for as long as it likes. */
  keepOpen(request: Request): void;
}

/** The other end of a WebSocket. */
interface Socket {
  /** Bytes that were taken; 0 where the connection is gone, -1 where the client is slow: `drained` comes then. */
  send(data: string | Uint8Array<ArrayBuffer>): number;
  close(code?: number, reason?: string): void;
  /** Bytes that wait for the client. */
  waiting(): number;
}

/** What happens on one WebSocket, in order. */
interface SocketSession {
  opened(socket: Socket): void;
  received(data: string | Uint8Array): void;
  drained(): void;
  closed(code: number): void;
}

interface ListenerOptions {
  address: { hostname: string; port: number };
  handler: (connected: Connected) => Handler;
  /** Answers that no handler makes: too many requests at one time, and a handler that threw. */
  refusals: { busy(): Response; failed(): Response };
  tls?: { cert: string; key: string } | undefined;
  limits: { idleMs: number; requestsMax: number };
  log: Log;
}

export interface Listener {
  /** `host:port` as bound. */
  address: string;
  /** Stops accepting, lets requests under way end for `graceMs` milliseconds, then closes everything. */
  stop(graceMs: number): Promise<void>;
}

/** Largest message of a WebSocket, and what may wait for a client that reads slowly. */
const messageBytesMax = 1024 * 1024;
const socketWaitingBytesMax = 8 * 1024 * 1024;
/** A client that has gone without closing: Bun pings a silent WebSocket, and closes it where nothing comes back. */
const socketIdleSeconds = 60;

/** A listener of Bun's own for a plane. Fails `conflict` when the address is in use. */
export function startListener({ address, handler, refusals, tls, limits, log }: ListenerOptions): Listener {
  /** `host:port` as bound. */
  const own = () => `${server.hostname?.includes(":") ? `[${server.hostname}]` : server.hostname}:${server.port}`;
  /** What Bun knows the connection by, of requests that were given an address. */
  const asReceived = new WeakMap<Request, Request>();
  /** HTTP/1.0 has no Host: the address is that of the listener (RFC 9112, section 3.3). Bun refuses HTTP/1.1 without one. */
  const atOwnAddress = (received: Request) =>
    at(received, `${tls === undefined ? "http" : "https"}://${own()}${received.url}`);
  /** Under the spelling of its path that routes are compared with. */
  const atPlainPath = (received: Request) => {
    const path = pathOf(received);
    const plain = plainPath(path);
    const start = received.url.indexOf("/", received.url.indexOf("//") + 2);
    const rest = received.url.slice(start + path.length);
    return plain === path ? received : at(received, `${received.url.slice(0, start)}${plain}${rest}`);
  };
  const at = (received: Request, url: string) => {
    const { method, headers, body, signal } = received;
    const request = new Request(url, { method, headers, body, signal });
    asReceived.set(request, asReceived.get(received) ?? received);
    return request;
  };
  // The handler is made before the server that it asks.
  const handle = handler({
    peerOf: (request) => server.requestIP(asReceived.get(request) ?? request)?.address ?? "",
    upgrade: (request, session, protocol) =>
      server.upgrade(asReceived.get(request) ?? request, {
        data: session,
        ...(protocol === undefined ? {} : { headers: { "Sec-WebSocket-Protocol": protocol } }),
      }),
    keepOpen: (request) => server.timeout(asReceived.get(request) ?? request, 0),
  });
  const server: Bun.Server<SocketSession> = bind((received) => {
    const host = received.headers.get("host");
    // Bun joins headers of one name with a comma, which no host has.
    if (host?.includes(",")) return errorResponse({ status: 400, message: "more than one Host header" });
    const request = host === null ? atOwnAddress(received) : received;
    // Bun makes no address of a Host that is none.
    if (!URL.canParse(request.url)) return errorResponse({ status: 400, message: "the header Host is not a host" });
    return server.pendingRequests > limits.requestsMax ? refusals.busy() : handle(atPlainPath(request));
  });
  return {
    address: own(),
    async stop(graceMs) {
      const ended = server.stop();
      const late = setTimeout(() => void server.stop(true), graceMs);
      await ended;
      clearTimeout(late);
    },
  };

  function bind(answer: Handler) {
    try {
      return Bun.serve<SocketSession>({
        ...address,
        fetch: answer,
        ...(tls === undefined ? {} : { tls }),
        idleTimeout: Math.ceil(limits.idleMs / 1000),
        // The limit is ours to keep: Bun's own 413 has no body.
        maxRequestBodySize: Number.MAX_SAFE_INTEGER,
        // Bun shares a port with every later server, as soon as development is off: a second one would go unnoticed.
        reusePort: false,
        // The development error page shows source paths.
        development: false,
        error(error) {
          log.error("handler threw", { error });
          return refusals.failed();
        },
        websocket: {
          idleTimeout: socketIdleSeconds,
          sendPings: true,
          maxPayloadLength: messageBytesMax,
          backpressureLimit: socketWaitingBytesMax,
          closeOnBackpressureLimit: true,
          open: (socket) =>
            socket.data.opened({
              send: (data) => socket.send(data),
              close: (code, reason) => socket.close(code, reason),
              waiting: () => socket.getBufferedAmount(),
            }),
          message: (socket, data) => socket.data.received(data),
          drain: (socket) => socket.data.drained(),
          close: (socket, code) => socket.data.closed(code),
        },
      });
    } catch (error) {
      throw bindFailure(`${address.hostname}:${address.port}`, error);
    }
  }
}
