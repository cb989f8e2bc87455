import type { Log } from "../../words/log.ts";
import type { AppHandler } from "./answer.ts";
import { bindFailure, claimUnixPath, openAt, openToGroup, privately } from "./address.ts";
import {
  type Admit,
  type Connection,
  type ConnectionContext,
  type FrontLimits,
  type Vetted,
  retireConnection,
  turnAway,
} from "./connection.ts";
import type { Transport } from "./guard.ts";
import type { RequestHead } from "./request-head.ts";
import {
  clientClosed,
  clientData,
  clientDrain,
  clientEnd,
  keepWaiting,
  letIn,
  openConnection,
  turnOut,
} from "./requests.ts";
import type { TakeoverHandler } from "./takeover.ts";

export interface FrontOptions {
  /** `admit` is asked once for each connection; without it everybody who connects is let in. */
  tcp?: { hostname: string; port: number; admit?: Admit } | undefined;
  /** Made with mode 0600, or 0660 for the group where one is given; a stale socket file is replaced. */
  unixPath?: string | undefined;
  unixGroup?: number | undefined;
  /** Gets every request that is not refused or taken over; its signal aborts when the client is gone, not when it half-closes. */
  app: AppHandler;
  limits: FrontLimits;
  /** Decides on every request that the guard lets in, and may rewrite it; asked first. */
  vet?: ((request: RequestHead, peer: string) => Vetted) | undefined;
  /** The app decodes bodies with a `Content-Encoding`; without it they are answered 415. */
  encodedBodies?: boolean | undefined;
  /** Claims requests that are answered by a session of their own. Asked after the guard, before the body is read. */
  takeover?: (request: RequestHead) => TakeoverHandler | undefined;
  /**
   * Header that tells the app the client's address; what a client says under this name itself is dropped. Such a
   * listener knows its clients by their addresses, so any name of it may stand in `Host`.
   */
  peerHeader?: string;
  /** Names that `Host` and `Origin` may hold beside those of loopback: see `guard`. */
  allowedHosts?: readonly string[];
  log: Log;
}

export interface Front {
  /** `host:port` as bound, and `unix:/path`. */
  addresses: string[];
  /** Stops accepting, lets requests under way end for `graceMs` milliseconds, then closes everything. */
  stop(graceMs: number): Promise<void>;
}

/** How often a stop looks whether the last connection is gone. */
const stopPollMs = 10;

/**
 * Listens on TCP and on a unix socket, and passes one request of each connection at a time to `app`. Fails `conflict` when an address
 * is in use. Why there is a front at all: `docs/architecture.md`, "The orchestration listener and exec".
 */
export async function startFront(options: FrontOptions): Promise<Front> {
  if (options.unixPath) await claimUnixPath(options.unixPath);
  const connections = new Set<Connection>();
  const listeners: { stop(): void }[] = [];
  const addresses: string[] = [];
  const { limits, app, vet, encodedBodies = false, takeover, peerHeader, allowedHosts = [], log } = options;
  const socketFor = (transport: Transport, admit?: Admit) =>
    handlers(
      { transport, limits, app, vet, encodedBodies, takeover, peerHeader, allowedHosts, log },
      { connections, admit },
    );
  try {
    if (options.tcp) {
      const { tcp } = options;
      const socket = socketFor(peerHeader === undefined ? "tcp" : "peers", tcp.admit);
      const listener = await openAt(addressOf(tcp.hostname, tcp.port), () => listenTcp(tcp, socket));
      listeners.push(listener);
      addresses.push(addressOf(listener.hostname, listener.port));
    }
    if (options.unixPath) {
      listeners.push(listenUnix(options.unixPath, socketFor("unix")));
      if (options.unixGroup !== undefined) await openToGroup(options.unixPath, options.unixGroup, log);
      addresses.push(`unix:${options.unixPath}`);
    }
  } catch (error) {
    for (const listener of listeners) listener.stop();
    throw error;
  }
  return { addresses, stop: (graceMs) => stopFront({ listeners, connections }, graceMs) };
}

async function stopFront(
  parts: { listeners: { stop(): void }[]; connections: Set<Connection> },
  graceMs: number,
): Promise<void> {
  for (const listener of parts.listeners) listener.stop();
  for (const connection of parts.connections) retireConnection(connection);
  const until = performance.now() + graceMs;
  while (parts.connections.size > 0 && performance.now() < until) await Bun.sleep(stopPollMs);
  for (const connection of parts.connections) connection.socket.terminate();
}

type Data = Connection | undefined;
type Handlers = ReturnType<typeof handlers>;

/**
 * The state of one listener. Its connections are counted by themselves: those of the network never lock out the unix socket, and
 * those of clients that are not let in never lock out the others.
 */
function handlers(context: ConnectionContext, { connections, admit }: ListenerParts) {
  const counted = new Set<Connection>();
  const refused = new Set<Connection>();
  /** No client of many takes the room of the others. */
  const isOneOfMany = (connection: Connection, max: number): boolean =>
    context.transport === "peers" &&
    counted.size > max &&
    [...counted].filter(({ peer }) => peer === connection.peer).length > max;
  const answer = async (connection: Connection, socket: Bun.Socket<Data>, ask: Admit): Promise<void> => {
    const { localAddress, localPort, remoteAddress, remotePort } = socket;
    const refusal = await ask({ localAddress, localPort, remoteAddress, remotePort });
    // The client may have gone meanwhile.
    if (socket.data !== connection) return;
    if (refusal === undefined) {
      run(socket, context, letIn);
      return;
    }
    counted.delete(connection);
    refused.add(connection);
    run(socket, context, (it) => turnOut(it, refusal));
    if (refused.size > context.limits.refusedConnectionsMax) socket.terminate();
  };
  return {
    open(socket: Bun.Socket<Data>) {
      const connection = openConnection(socket, context);
      socket.data = connection;
      socket.setNoDelay(true);
      socket.setKeepAlive(true, keepAliveProbeMs);
      connections.add(connection);
      counted.add(connection);
      const { connectionsMax, peerConnectionsMax = connectionsMax } = context.limits;
      if (counted.size > connectionsMax) turnAway(connection, connectionsMax);
      else if (isOneOfMany(connection, peerConnectionsMax)) {
        counted.delete(connection);
        refused.add(connection);
        turnAway(connection, peerConnectionsMax);
        if (refused.size > context.limits.refusedConnectionsMax) socket.terminate();
      } else if (admit !== undefined) {
        keepWaiting(connection);
        void answer(connection, socket, admit);
      }
    },
    data: (socket: Bun.Socket<Data>, chunk: Uint8Array) => run(socket, context, (it) => clientData(it, chunk)),
    drain: (socket: Bun.Socket<Data>) => run(socket, context, clientDrain),
    end: (socket: Bun.Socket<Data>) => run(socket, context, clientEnd),
    close(socket: Bun.Socket<Data>) {
      if (socket.data !== undefined) for (const set of [connections, counted, refused]) set.delete(socket.data);
      run(socket, context, clientClosed);
      socket.data = undefined;
    },
    error(socket: Bun.Socket<Data>, error: Error) {
      context.log.debug("connection failed", { error });
      socket.terminate();
    },
  };
}

interface ListenerParts {
  /** Those of all listeners. */
  connections: Set<Connection>;
  admit: Admit | undefined;
}

/** A client that vanished without closing is noticed within about 40 s. */
const keepAliveProbeMs = 30_000;

/** A throw in a socket callback would leave the socket open for ever. */
function run(socket: Bun.Socket<Data>, context: ConnectionContext, step: (connection: Connection) => void): void {
  const connection = socket.data;
  if (connection === undefined) return;
  try {
    step(connection);
  } catch (error) {
    context.log.error("connection handling threw", { error });
    socket.terminate();
  }
}

function listenTcp({ hostname, port }: { hostname: string; port: number }, socket: Handlers) {
  try {
    return Bun.listen<Data>({ hostname, port, allowHalfOpen: true, data: undefined, socket });
  } catch (error) {
    throw bindFailure(addressOf(hostname, port), error);
  }
}

function listenUnix(path: string, socket: Handlers) {
  try {
    return privately(() => Bun.listen<Data>({ unix: path, allowHalfOpen: true, data: undefined, socket }));
  } catch (error) {
    throw bindFailure(`unix:${path}`, error);
  }
}

function addressOf(hostname: string, port: number): string {
  return hostname.includes(":") ? `[${hostname}]:${port}` : `${hostname}:${port}`;
}
