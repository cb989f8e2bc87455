import { groupAdvice, socketGroup } from "./socket-group.ts";
import { idempotencyHeader } from "../../base/wire/client.ts";
import { CommandFailure, exitCodes, usageFailure } from "./failures.ts";

export interface Address {
  baseUrl: string;
  /** Path of a unix socket. */
  socket?: string;
}

/** The way to a server. */
export interface Route {
  /** For messages. */
  shown: string;
  address: Address;
  /**
   * Makes the address answer, where that is up to the client: opens a tunnel that is not open or broke. Fails with what
   * is wrong. Without it the address is all there is.
   */
  open?: () => Promise<void>;
}

/** `http://host:port`, `https://…` or `unix:/path`. */
export function parseEndpoint(text: string): Address {
  const socket = /^unix:(?:\/\/)?(\/.+)$/.exec(text)?.[1];
  if (socket !== undefined) return { baseUrl: "http://localhost", socket };
  if (/^https?:\/\/[^/?#\s]+\/?$/.test(text) && URL.canParse(text)) return { baseUrl: new URL(text).origin };
  throw usageFailure(`not an endpoint: "${text}"; write http://host:port or unix:/path`);
}

/** The way to a server at an address that the operator wrote. */
export function endpointRoute(endpoint: string): Route {
  return { shown: endpoint, address: parseEndpoint(endpoint) };
}

/** `fetch` as the client uses it. */
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The platform's `fetch`, with its own options for unix sockets and time limits. */
export type PlatformFetch = (url: string, init: BunFetchRequestInit) => Promise<Response>;

interface ConnectionSetup {
  route: Route;
  fetch: PlatformFetch;
  signal: AbortSignal;
  /** Limit of reads. */
  answerMs: number;
  /** Told once, where a read through a way that the client can open has no answer for so long: the way may be dead. */
  late?: { afterMs: number; tell: () => void };
}

interface Connection {
  baseUrl: string;
  /** Only JSON answers come through; reads have a limit. */
  fetch: Fetch;
  /** Text comes through too, and only the head of an answer has a limit. */
  stream: Fetch;
}

/** A way to the server whose failures say what to check. */
export function connect(setup: ConnectionSetup): Connection {
  const { route } = setup;
  const { baseUrl, socket } = route.address;
  let told = false;
  const tellLate = () => {
    if (!told) setup.late?.tell();
    told = true;
  };
  const ask = (url: string, init: RequestInit, limit: Limit) => {
    const isWatched = setup.late !== undefined && route.open !== undefined && limit !== "none";
    const once = async () => {
      const late = isWatched ? setTimeout(tellLate, setup.late?.afterMs) : undefined;
      const { signal, headDone } = limitOf(limit, setup.answerMs);
      const given = init.signal instanceof AbortSignal ? [init.signal] : [];
      const options = {
        ...init,
        signal: AbortSignal.any([setup.signal, ...given, ...signal]),
        timeout: false,
        ...(socket === undefined ? {} : { unix: socket }),
      };
      const answer = await setup.fetch(url, options).finally(() => {
        headDone();
        clearTimeout(late);
      });
      return limit === "head" ? answer : await whole(answer);
    };
    return throughRoute(route, once, mayRepeat(url, init)).catch((error: unknown) => {
      if (setup.signal.aborted && mayChange(url, init)) throw interruptedChange();
      throw unreachable(error, { ...setup, endpoint: route.shown });
    });
  };
  return {
    baseUrl,
    async fetch(url, init) {
      const limit = init.method === "GET" ? "all" : "none";
      return requireType(await ask(url, init, limit), ["json"], route.shown);
    },
    async stream(url, init) {
      const types = ["json", "text/plain", "application/octet-stream"];
      return requireType(await ask(url, init, "head"), types, route.shown);
    },
  };
}

/** JSON that breaks off is not an answer. */
async function whole(answer: Response): Promise<Response> {
  const { status, headers } = answer;
  if (headers.get("content-type") !== "application/json") return answer;
  return new Response(await answer.arrayBuffer(), { status, headers });
}

/** What of an answer must come in time. */
type Limit = "all" | "head" | "none";

function limitOf(limit: Limit, answerMs: number): { signal: AbortSignal[]; headDone: () => void } {
  if (limit === "none") return { signal: [], headDone: () => undefined };
  if (limit === "all") return { signal: [AbortSignal.timeout(answerMs)], headDone: () => undefined };
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException("late", "TimeoutError")), answerMs);
  return { signal: [late.signal], headDone: () => clearTimeout(timer) };
}

/**
 * Asks, and asks again after the way was opened: once where nothing had been sent, and once where the way broke and
 * asking twice does no more than asking once. Fails with what `ask` throws, or with why the way cannot be opened.
 */
export async function throughRoute<T>(route: Route, ask: () => Promise<T>, repeat: boolean): Promise<T> {
  const { open } = route;
  const met = new Set<string>();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      const fault = faultOf(error);
      if (open === undefined || fault === undefined || met.has(fault)) throw error;
      met.add(fault);
      await open();
      if (fault === "broke" && !repeat) throw cutOff(route);
    }
  }
}

function faultOf(error: unknown): "not sent" | "broke" | undefined {
  const code = codeOf(error);
  if (code === "ENOENT" || code === "ECONNREFUSED") return "not sent";
  return code === "ECONNRESET" ? "broke" : undefined;
}

/** With a key of its own a request is carried out once, however often it is sent; a PUT says what is to be there. */
function mayRepeat(url: string, { method = "GET", headers }: RequestInit): boolean {
  return method === "GET" || method === "PUT" || new Headers(headers).has(idempotencyHeader) || isDryRun(url);
}

function mayChange(url: string, { method = "GET" }: RequestInit): boolean {
  return method !== "GET" && !isDryRun(url);
}

function interruptedChange(): CommandFailure {
  const text = "interrupted before the server answered: what you asked for may or may not be done";
  return new CommandFailure(`${text}\n  look with berth events or berth get`, exitCodes.interrupted);
}

function isDryRun(url: string): boolean {
  return new URL(url).searchParams.get("dry_run") === "true";
}

function cutOff({ shown }: Route): CommandFailure {
  return unreachableFailure(`the connection to ${shown} broke before the server answered`, [
    "it works again, but what you asked for may or may not be done:",
    "look with berth events or berth get before you run the command again",
  ]);
}

function requireType(response: Response, types: readonly string[], endpoint: string): Response {
  const type = response.headers.get("content-type") ?? "no content type";
  if (types.some((known) => type.includes(known))) return response;
  const told = `HTTP ${response.status}, ${type}`;
  throw unreachableFailure(`what answers at ${endpoint} is not a berth server (${told})`, [
    "check --endpoint and BERTH_ENDPOINT: they must name the orchestration address",
  ]);
}

/** What to say and advise when the server could not be asked. */
export function unreachable(
  error: unknown,
  setup: Pick<ConnectionSetup, "signal" | "answerMs"> & { endpoint: string },
): CommandFailure {
  const { endpoint, signal, answerMs } = setup;
  if (error instanceof CommandFailure) return error;
  if (signal.aborted) return new CommandFailure("interrupted", exitCodes.interrupted);
  if (error instanceof Error && error.name === "TimeoutError") {
    return unreachableFailure(`no answer from ${endpoint} within ${answerMs / 1_000} seconds`, [
      "on the server, look at its log: journalctl -u berth",
    ]);
  }
  const code = codeOf(error);
  if (code === "EACCES") {
    const advice = groupAdvice(socketGroup(endpoint.replace(/^unix:(?:\/\/)?/, "")));
    return unreachableFailure(`cannot reach the server at ${endpoint}: no permission`, advice);
  }
  const [cause, advice] = causes[code] ?? [errorText(error), elsewhere];
  return unreachableFailure(`cannot reach the server at ${endpoint}: ${cause}`, advice);
}

const elsewhere = [
  "does it run?           on the server: berth serve, or: systemctl status berth",
  "is it another machine? berth remote add NAME user@host, or -r user@host",
  "                       --endpoint URL or BERTH_ENDPOINT for another address of this machine",
];

const causes: Record<string, [string, string[]]> = {
  ECONNREFUSED: ["nothing listens there", elsewhere],
  ENOENT: ["no such socket", elsewhere],
  ENOTFOUND: ["the name cannot be resolved", ["check the host in --endpoint or BERTH_ENDPOINT"]],
  EAI_AGAIN: [
    "the name cannot be resolved",
    ["check the host in --endpoint or BERTH_ENDPOINT, and whether this machine has a name server"],
  ],
  ECONNRESET: ["the connection broke", ["try again; if it stays, look at the server's log: journalctl -u berth"]],
};

function unreachableFailure(message: string, advice: readonly string[]): CommandFailure {
  const lines = advice.map((line) => `  ${line}`);
  return new CommandFailure([message, ...lines].join("\n"), exitCodes.unreachable);
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
