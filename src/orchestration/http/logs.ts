import { podLogs, scopeLogs } from "../api/logs.ts";
import { readFlag } from "../../base/wire/query.ts";
import { batched } from "../../base/words/batched.ts";
import { withPings } from "../../base/words/pings.ts";
import { createOutlet, type Outlet } from "../../base/http/front/outlet.ts";
import type { TakeoverSession } from "../../base/http/front/takeover.ts";
import { readCount, readPodName, readSince } from "../../base/http/request.ts";
import { takeoverRoute, type TakenCall } from "./takeovers.ts";

/** Engines hand out line by line; writing each by itself would cost more than reading it. */
const batchBytesMax = 64 * 1024;

type Call = TakenCall<typeof podLogs | typeof scopeLogs>;

interface Opened {
  headers: Record<string, string>;
  bytes: AsyncIterable<Uint8Array>;
}

type Options = ReturnType<typeof readOptions> & { signal: AbortSignal };

/** `GET /pods/{name}/logs`. */
export const podLogsRoute = takeoverRoute(podLogs, (call) =>
  logSession(call, async (options) => {
    const name = readPodName(call.params);
    const bytes = await call.parts.controller.podLogs(name, options);
    return { headers: { [`${call.parts.names.headerPrefix}-Container`]: name }, bytes: batched(bytes, batchBytesMax) };
  }),
);

/** `GET /logs`. Its parts are whole lines, so an empty line between them tears none. */
export const scopeLogsRoute = takeoverRoute(scopeLogs, (call) =>
  logSession(call, async (options) => {
    const { kind, scope, name } = call.query();
    const { controller, names, limits } = call.parts;
    const merged = await controller.scopeLogs({ kind, scope, name }, options);
    const bytes = batched(merged.bytes, batchBytesMax);
    return {
      headers: { [`${names.headerPrefix}-Containers`]: merged.names.join(",") },
      bytes: options.follow ? withPings(bytes, { ping: emptyLine, everyMs: limits.logPingMs }) : bytes,
    };
  }),
);

const emptyLine = Buffer.from("\n");

/**
 * Not through the app: the head of the answer must go out before a silent pod has said anything, and a client that
 * leaves must be noticed while it stays silent.
 */
function logSession(call: Call, open: (options: Options) => Promise<Opened>): TakeoverSession {
  const outlet = createOutlet(call.takeover.socket);
  const left = new AbortController();
  // A half-close may come from a client that still reads to the end, but no client reads for ever.
  const follower = { follows: false, finished: false };
  const endFollower = () => {
    if (follower.follows && follower.finished) call.takeover.socket.terminate();
  };
  const finish = () => {
    follower.finished = true;
    endFollower();
  };
  const leave = () => {
    left.abort();
    outlet.close();
  };
  const answer = respond(call, outlet, {
    open,
    signal: left.signal,
    onFollow: () => {
      follower.follows = true;
      endFollower();
    },
  });
  // A session that has finished does not hear when its connection goes, and after a HEAD what was opened is unread.
  void answer.finally(() => left.abort());
  return {
    data: () => undefined,
    drain: outlet.drain,
    end: finish,
    close: leave,
    retire: finish,
  };
}

interface Reading {
  open: (options: Options) => Promise<Opened>;
  signal: AbortSignal;
  onFollow: () => void;
}

async function respond(call: Call, outlet: Outlet, { open, signal, onFollow }: Reading): Promise<void> {
  const { takeover } = call;
  let begun = false;
  try {
    const options = readOptions(call, Date.now());
    const { headers, bytes } = await open({ ...options, signal });
    if (options.follow) onFollow();
    begun = true;
    call.answered(200);
    const chunked = takeover.request.version === "1.1";
    await outlet.write(head(headers, chunked));
    if (takeover.request.method === "HEAD") return takeover.finish();
    for await (const part of bytes) {
      if (part.length > 0 && !(await outlet.write(chunked ? chunkOf(part) : part))) return;
    }
    if (chunked) await outlet.write(lastChunk);
    takeover.finish();
  } catch (error) {
    if (signal.aborted) return;
    if (!begun) return call.refuse(error);
    // Without the last chunk the client knows that something is missing.
    call.parts.log.warn("log stream broke off", { path: takeover.request.path, error });
    takeover.socket.terminate();
  }
}

function readOptions(call: Call, now: number) {
  const { follow, tail, since, timestamps } = call.query();
  return {
    follow: readFlag(follow, false),
    tail: readCount("tail", tail, Number.MAX_SAFE_INTEGER),
    since: readSince(since, now),
    timestamps: readFlag(timestamps, false),
  };
}

function head(own: Record<string, string>, chunked: boolean): Uint8Array {
  const headers = {
    "Content-Type": podLogs.stream,
    ...own,
    // Log times are by this clock.
    Date: new Date().toUTCString(),
    ...(chunked ? { "Transfer-Encoding": "chunked" } : {}),
    Connection: "close",
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return Buffer.from(`HTTP/1.1 200 OK\r\n${lines.join("")}\r\n`);
}

const lineEnd = Buffer.from("\r\n");
const lastChunk = Buffer.from("0\r\n\r\n");

function chunkOf(bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, lineEnd]);
}
