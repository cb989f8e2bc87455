import { encodedBodyText, failureStatus } from "../../wire/failure.ts";
import { createByteParts } from "../../words/byte-parts.ts";
import { beginAnswer } from "./answer.ts";
import { isRewrittenPath, knownMethods } from "./app-request.ts";
import { createBodyBoundary } from "./body-boundary.ts";
import {
  type Vetted,
  close,
  closeSession,
  type Connection,
  type ConnectionContext,
  deadlinePassed,
  endOfRequests,
  type FrontLimits,
  refuse,
  retireConnection,
} from "./connection.ts";
import { createDeadline } from "./deadline.ts";
import { guard } from "./guard.ts";
import type { Refusal } from "./refusal.ts";
import { createHeadReader, headerOf, type RequestHead } from "./request-head.ts";
import type { TakeoverHandler } from "./takeover.ts";
import { createBufferedSocket } from "./buffered-socket.ts";

export function openConnection(socket: Bun.Socket<Connection | undefined>, context: ConnectionContext): Connection {
  const connection: Connection = {
    context,
    peer: socket.remoteAddress ?? "",
    stage: "head",
    socket: createBufferedSocket(socket),
    deadline: createDeadline(() => deadlinePassed(connection)),
    answer: undefined,
    reader: createHeadReader(context.limits),
    head: undefined,
    boundary: undefined,
    body: undefined,
    held: [],
    heldBytes: 0,
    answerBegun: false,
    late: undefined,
    clientFinished: false,
    retiring: false,
    takeover: undefined,
    session: undefined,
  };
  connection.deadline.set(context.limits.headReadMs);
  return connection;
}

export function clientData(connection: Connection, chunk: Uint8Array): void {
  if (connection.stage === "taken") connection.session?.data(chunk);
  else if (connection.stage === "answering" || connection.stage === "asking") hold(connection, chunk);
  else consume(connection, chunk);
}

/** Nothing of the client is looked at until `letIn` or `turnOut` is called. */
export function keepWaiting(connection: Connection): void {
  connection.stage = "asking";
}

export function letIn(connection: Connection): void {
  if (connection.stage !== "asking") return;
  connection.stage = "head";
  connection.deadline.set(connection.context.limits.headReadMs);
  readOn(connection);
  if (connection.retiring) retireConnection(connection);
}

export function turnOut(connection: Connection, refusal: Refusal): void {
  if (connection.stage === "asking") refuse(connection, refusal);
}

export function clientDrain(connection: Connection): void {
  if (!connection.socket.flush()) return;
  if (connection.stage === "taken") connection.session?.drain();
  else connection.answer?.clientDrained();
}

/** FIN: no more requests come, but the answer is still wanted. */
export function clientEnd(connection: Connection): void {
  connection.clientFinished = true;
  connection.socket.peerFinished();
  tellEnd(connection);
}

function tellEnd(connection: Connection): void {
  if (connection.stage === "taken") connection.session?.end();
  else if (connection.stage !== "answering" && connection.stage !== "asking") endOfRequests(connection);
}

export function clientClosed(connection: Connection): void {
  connection.deadline.cancel();
  connection.answer?.abandon();
  connection.answer = undefined;
  connection.stage = "closing";
  connection.session?.close();
  connection.session = undefined;
}

/** Requests from a run of bytes. Returns when the bytes are used up or an answer must come first. */
function consume(connection: Connection, chunk: Uint8Array): void {
  let rest = chunk;
  while (rest.length > 0) {
    if (connection.stage === "head") rest = consumeHead(connection, rest);
    else if (connection.stage === "body") rest = consumeBody(connection, rest);
    else {
      if (connection.stage === "answering") hold(connection, rest);
      if (connection.stage === "taken") connection.session?.data(rest);
      return;
    }
  }
}

const nothing = new Uint8Array(0);

function consumeHead(connection: Connection, chunk: Uint8Array): Uint8Array {
  const { limits } = connection.context;
  const begins = connection.reader.pendingBytes === 0;
  const step = connection.reader.push(chunk);
  if (step.kind === "more") {
    if (begins) connection.deadline.set(limits.headReadMs);
    return nothing;
  }
  if (step.kind === "refused") {
    refuse(connection, step.refusal);
    return nothing;
  }
  const { head, refusal } = vetted(step.head, connection);
  connection.head = head;
  if (refusal === undefined) return beginRequest(connection, head, step.rest);
  refuse(connection, refusal);
  return nothing;
}

function beginRequest(connection: Connection, head: RequestHead, rest: Uint8Array): Uint8Array {
  connection.takeover = connection.context.takeover?.(head);
  connection.body = createByteParts();
  connection.boundary = createBodyBoundary(head.framing);
  if (head.framing.kind === "none" || (head.framing.kind === "length" && head.framing.bytes === 0)) {
    complete(connection, head);
    return rest;
  }
  connection.stage = "body";
  connection.deadline.set(connection.context.limits.bodyReadMs);
  if (head.expectsContinue && rest.length === 0) connection.socket.write(Buffer.from("HTTP/1.1 100 Continue\r\n\r\n"));
  return rest;
}

function vetted(head: RequestHead, { context, peer }: Connection): Vetted {
  const refusal = refusalOf(head, context);
  if (refusal !== undefined) return { head, refusal };
  return context.vet?.(head, peer) ?? { head };
}

function refusalOf(head: RequestHead, context: ConnectionContext): Refusal | undefined {
  if (!knownMethods.includes(head.method)) {
    return { status: 501, message: `method ${JSON.stringify(head.method)} is not known, use GET, POST or DELETE` };
  }
  const forbidden = guard(head, context);
  if (forbidden !== undefined) return forbidden;
  if (isRewrittenPath(head.path) || head.target.includes("#")) {
    return { status: 400, message: `path ${JSON.stringify(head.path)} must not hold "." or ".." segments, \\ or #` };
  }
  const coding = headerOf(head, "content-encoding")?.toLowerCase() ?? "identity";
  if (!context.encodedBodies && coding !== "identity" && head.framing.kind !== "none") {
    return {
      status: failureStatus.unsupported_media_type,
      message: encodedBodyText(coding),
      headers: { "Accept-Encoding": "identity" },
    };
  }
  return head.framing.kind === "length" && head.framing.bytes > context.limits.bodyBytesMax
    ? tooLarge(context.limits)
    : undefined;
}

function consumeBody(connection: Connection, chunk: Uint8Array): Uint8Array {
  const { head, boundary } = connection;
  const { limits } = connection.context;
  if (head === undefined || boundary === undefined) return nothing;
  const step = boundary.take(chunk, (part) => connection.body?.add(part));
  if (step.fault !== undefined) refuse(connection, { status: 400, message: step.fault });
  else if (boundary.payloadBytes > limits.bodyBytesMax) refuse(connection, tooLarge(limits));
  else if (step.done) complete(connection, head);
  return chunk.subarray(step.used);
}

function complete(connection: Connection, head: RequestHead): void {
  const { takeover } = connection;
  connection.takeover = undefined;
  connection.deadline.clear();
  if (takeover === undefined) forward(connection, head);
  else handOver(connection, head, takeover);
}

function forward(connection: Connection, head: RequestHead): void {
  const closing = !head.keepAlive || connection.retiring;
  if (closing) connection.retiring = true;
  connection.stage = "answering";
  connection.answerBegun = false;
  const { peerHeader, app, log } = connection.context;
  const body = takeBody(connection);
  connection.answer = beginAnswer({
    handler: app,
    head,
    body,
    added: peerHeader === undefined ? undefined : { name: peerHeader, value: connection.peer },
    closing,
    sink: {
      pass: (bytes) => passAnswer(connection, bytes),
      answered: () => answered(connection),
      threw: (error) => log.error("handler threw", { error }),
      broken: (why) => answerBroken(connection, why),
    },
  });
}

function takeBody(connection: Connection): Uint8Array[] {
  const parts = connection.body?.take() ?? [];
  connection.body = undefined;
  return parts;
}

/** A client that pipelines more than a head's worth is not read until its first request is answered. */
function hold(connection: Connection, chunk: Uint8Array): void {
  connection.held.push(chunk);
  connection.heldBytes += chunk.length;
  if (connection.heldBytes > connection.context.limits.headBytesMax) connection.socket.pause();
}

function passAnswer(connection: Connection, bytes: Uint8Array): boolean {
  connection.answerBegun = true;
  return connection.socket.write(bytes);
}

function answered(connection: Connection): void {
  connection.head = undefined;
  connection.answer = undefined;
  if (connection.retiring) {
    close(connection);
    return;
  }
  connection.stage = "head";
  connection.deadline.set(connection.context.limits.idleMs);
  readOn(connection);
}

/** Takes up what arrived while there was something else to do first. */
function readOn(connection: Connection): void {
  const { held } = connection;
  if (held.length > 0) {
    connection.held = [];
    connection.heldBytes = 0;
    connection.socket.resume();
    consume(connection, held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held));
  }
  if (connection.clientFinished) tellEnd(connection);
}

function answerBroken(connection: Connection, why: unknown): void {
  const { log } = connection.context;
  log.error("answer broke off", { method: connection.head?.method, path: connection.head?.path, error: why });
  if (connection.answerBegun) connection.socket.terminate();
  else refuse(connection, { status: 500, message: "internal error, the log says why" });
}

function handOver(connection: Connection, head: RequestHead, takeover: TakeoverHandler): void {
  const body = Buffer.concat(takeBody(connection));
  connection.stage = "taken";
  const session = takeover({
    request: head,
    body,
    socket: connection.socket,
    refuse: (refusal) => {
      if (isTaken(connection)) refuse(connection, refusal);
    },
    finish: () => {
      if (isTaken(connection)) closeSession(connection);
    },
  });
  if (isTaken(connection)) connection.session = session;
}

/** False once the handler has finished, or the client has gone. */
function isTaken(connection: Connection): boolean {
  return connection.stage === "taken";
}

function tooLarge(limits: FrontLimits): Refusal {
  return { status: 413, message: `the request body is larger than ${limits.bodyBytesMax} bytes` };
}
