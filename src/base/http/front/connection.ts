import type { ByteParts } from "../../words/byte-parts.ts";
import type { SocketEnds } from "../../pure/socket-table.ts";
import type { Log } from "../../words/log.ts";
import type { Answer, AppHandler } from "./answer.ts";
import type { BodyBoundary } from "./body-boundary.ts";
import type { Deadline } from "./deadline.ts";
import type { Transport } from "./guard.ts";
import { type Refusal, refusalBytes } from "./refusal.ts";
import type { HeadReader, RequestHead } from "./request-head.ts";
import type { TakeoverHandler, TakeoverSession } from "./takeover.ts";
import type { BufferedSocket } from "./buffered-socket.ts";

/** Times in milliseconds, sizes in bytes; `config.ts` says what each is for. */
export interface FrontLimits {
  bodyBytesMax: number;
  headBytesMax: number;
  headersMax: number;
  drainMs: number;
  headReadMs: number;
  bodyReadMs: number;
  idleMs: number;
  connectionsMax: number;
  /** Connections of one client, where the clients are known by their addresses. */
  peerConnectionsMax?: number;
  refusedConnectionsMax: number;
}

/** A request as it goes on, or why it does not; `head` is what the log may show of it. */
export interface Vetted {
  head: RequestHead;
  refusal?: Refusal;
}

export interface ConnectionContext {
  transport: Transport;
  limits: FrontLimits;
  app: AppHandler;
  vet: ((request: RequestHead, peer: string) => Vetted) | undefined;
  /** The app decodes bodies with a `Content-Encoding`; without it they are answered 415. */
  encodedBodies: boolean;
  takeover: ((request: RequestHead) => TakeoverHandler | undefined) | undefined;
  peerHeader: string | undefined;
  allowedHosts: readonly string[];
  log: Log;
}

/** Whether a client may come in: undefined, or what it is answered. Never rejects. */
export type Admit = (ends: SocketEnds) => Promise<Refusal | undefined>;

/**
 * `asking` (whether the client is let in) → `head` → `body` → `answering` → `head` …: one request at a time, each read whole before it is forwarded, so that
 * nothing unfinished or refused ever reaches the app or a takeover handler. `closing`: our last bytes are on their way,
 * what still arrives is dropped. `taken`: the bytes belong to a takeover handler.
 */
type Stage = "asking" | "head" | "body" | "answering" | "closing" | "taken";

export interface Connection {
  context: ConnectionContext;
  /** Address of the client; empty on unix sockets. */
  peer: string;
  stage: Stage;
  socket: BufferedSocket;
  deadline: Deadline;
  /** The answer of the app to the request under way. */
  answer: Answer | undefined;
  reader: HeadReader;
  /** The request under way. */
  head: RequestHead | undefined;
  boundary: BodyBoundary | undefined;
  body: ByteParts | undefined;
  /** Bytes of later requests that arrived while one is being answered. */
  held: Uint8Array[];
  heldBytes: number;
  /** Some of the answer is out: it is too late for a refusal. */
  answerBegun: boolean;
  /** A refusal that waits for its time. */
  late: Refusal | undefined;
  clientFinished: boolean;
  /** The connection ends after the current answer. */
  retiring: boolean;
  /** Who gets the request under way instead of the app. */
  takeover: TakeoverHandler | undefined;
  session: TakeoverSession | undefined;
}

/** Answers 503 and closes: there are too many connections already. */
export function turnAway(connection: Connection, max: number): void {
  const message = `more than ${max} connections are open, try again in a moment`;
  refuse(connection, { status: 503, message, headers: { "Retry-After": "1" } });
}

/** Lets the current answer end, then closes. */
export function retireConnection(connection: Connection): void {
  connection.retiring = true;
  if (connection.late !== undefined) say(connection, connection.late);
  else if (connection.stage === "taken") connection.session?.retire();
  else if (connection.stage === "head" && connection.reader.pendingBytes === 0) close(connection);
}

export function endOfRequests(connection: Connection): void {
  if (connection.stage === "body" || (connection.stage === "head" && connection.reader.pendingBytes > 0)) {
    refuse(connection, { status: 400, message: "the request ended before it was complete" });
  } else if (connection.stage === "head") close(connection);
}

export function deadlinePassed(connection: Connection): void {
  const { limits } = connection.context;
  if (connection.late !== undefined) say(connection, connection.late);
  else if (connection.stage === "closing") connection.socket.terminate();
  else if (connection.stage === "asking") {
    refuse(connection, { status: 503, message: "the server could not tell in time who connects, try again" });
  } else if (connection.stage === "body") {
    refuse(connection, {
      status: 408,
      message: `the request body was not complete after ${limits.bodyReadMs / 1000} s`,
    });
  } else if (connection.stage === "head" && connection.reader.pendingBytes > 0) {
    refuse(connection, {
      status: 408,
      message: `the request head was not complete after ${limits.headReadMs / 1000} s`,
    });
  } else if (connection.stage === "head") close(connection);
}

export function refuse(connection: Connection, refusal: Refusal): void {
  const { head, context } = connection;
  if (refusal.holdMs !== undefined) {
    connection.stage = "closing";
    connection.late = refusal;
    connection.held = [];
    connection.body = undefined;
    // What it sends meanwhile stays in the kernel.
    connection.socket.pause();
    connection.deadline.set(refusal.holdMs);
    return;
  }
  context.log.info("request refused", {
    method: head?.method,
    path: head?.path,
    status: refusal.status,
    reason: refusal.message,
  });
  say(connection, refusal);
}

function say(connection: Connection, refusal: Refusal): void {
  connection.late = undefined;
  connection.socket.write(refusalBytes(refusal, connection.head?.method));
  close(connection);
}

/**
 * FIN after our last byte; then whatever the client still sends is read and dropped for a moment, because closing
 * with unread bytes makes the kernel send a reset, which can overtake the answer.
 */
export function close(connection: Connection): void {
  connection.deadline.set(connection.context.limits.idleMs);
  letGo(connection);
}

/** Like `close`, without a limit until the last byte is out: the reader of a session may pause for as long as it likes. */
export function closeSession(connection: Connection): void {
  connection.deadline.clear();
  letGo(connection);
}

function letGo(connection: Connection): void {
  const { limits } = connection.context;
  connection.stage = "closing";
  connection.session = undefined;
  connection.held = [];
  connection.body = undefined;
  connection.answer?.abandon();
  connection.answer = undefined;
  connection.socket.resume();
  connection.socket.finish(() => connection.deadline.set(limits.drainMs));
}
