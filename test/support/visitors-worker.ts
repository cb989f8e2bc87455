import { percentile } from "../bench/raw-load.ts";
import type { VisitorsAnswer, VisitorsMessage, VisitorsOrder, VisitorsReport } from "./visitors.ts";
import { type Visitor, visitor } from "./visitor.ts";

/** The thread of `visitors`. */
declare const self: Worker;

const tickMs = 5;
const answerMs = 20_000;
const failuresMax = 50;
/** One request in so many is slow: some are always under way, whatever happens. */
const slowEvery = 20;
/** One request in so many is the last one on its connection. */
const lastEvery = 10;
const pingMs = 1_000;

let seen = nothing();
let times: number[] = [];
const idle: Visitor[] = [];
const sockets = new Set<WebSocket>();

self.onmessage = ({ data }: MessageEvent<VisitorsMessage>) => {
  if ("order" in data) void start(data.order);
  else self.postMessage({ report: data.report, seen: summary() } satisfies VisitorsAnswer);
};

async function start(order: VisitorsOrder): Promise<void> {
  await Promise.all(Array.from({ length: order.sockets }, () => openSocket(order)));
  setInterval(() => {
    for (const socket of sockets) socket.send("ping");
  }, pingMs);
  seen = nothing();
  self.postMessage({ ready: true } satisfies VisitorsAnswer);
  const began = performance.now();
  let sent = 0;
  setInterval(() => {
    for (; sent < ((performance.now() - began) * order.perSecond) / 1_000; sent += 1) {
      void ask(order, sent, began + (sent * 1_000) / order.perSecond);
    }
  }, tickMs);
}

async function ask(order: VisitorsOrder, number: number, dueAt: number): Promise<void> {
  const isSlow = number % slowEvery === 0;
  const isLast = number % lastEvery === 0;
  let used: Visitor | undefined;
  let fault = "";
  seen.requests += 1;
  try {
    used = takeIdle() ?? (await visitor(order.port));
    const path = isSlow ? "/slow" : "/";
    const connection = isLast ? "close" : "keep-alive";
    const text = `GET ${path} HTTP/1.1\r\nHost: ${order.host}\r\nConnection: ${connection}\r\n\r\n`;
    const { status, head } = await used.ask(text, answerMs);
    if (status !== 200) fault = head.replaceAll("\r\n", "; ").slice(0, 300);
  } catch (error) {
    fault = String(error);
  }
  if (fault === "") {
    if (!isSlow) times.push(performance.now() - dueAt);
    if (!isLast && used?.isOpen === true) idle.push(used);
    return;
  }
  used?.close();
  const place = `${new Date().toISOString()} request ${used?.asked ?? 0} on its connection`;
  if (seen.failed.length < failuresMax) seen.failed.push(`${place}: ${fault}`);
}

function takeIdle(): Visitor | undefined {
  let found = idle.shift();
  while (found !== undefined && !found.isOpen) found = idle.shift();
  return found;
}

/** Opens another one when it ends. */
function openSocket(order: VisitorsOrder): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const socket = new WebSocket(`ws://127.0.0.1:${order.port}/socket`, { headers: { Host: order.host } });
  let wasOpen = false;
  socket.onopen = () => {
    wasOpen = true;
    sockets.add(socket);
    resolve();
  };
  socket.onclose = ({ code, reason }) => {
    sockets.delete(socket);
    if (wasOpen && code === 1001) seen.socketsTold += 1;
    else seen.socketsLost.push(`${new Date().toISOString()} ${wasOpen ? "cut" : "not accepted"}: ${code} ${reason}`);
    setTimeout(() => void openSocket(order).then(resolve), 50);
  };
  return promise;
}

function summary(): VisitorsReport {
  const found = {
    ...seen,
    p50Ms: percentile(times, 0.5),
    p99Ms: percentile(times, 0.99),
    maxMs: percentile(times, 1),
  };
  seen = nothing();
  times = [];
  return found;
}

function nothing(): VisitorsReport {
  return { requests: 0, failed: [], p50Ms: 0, p99Ms: 0, maxMs: 0, socketsTold: 0, socketsLost: [] };
}
