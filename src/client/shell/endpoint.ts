import { CommandFailure, exitCodes, usageFailure } from "./failures.ts";

export interface Address {
  baseUrl: string;
  /** Path of a unix socket. */
  socket?: string;
}

/** `http://host:port`, `https://…` or `unix:/path`. */
export function parseEndpoint(text: string): Address {
  const socket = /^unix:(?:\/\/)?(\/.+)$/.exec(text)?.[1];
  if (socket !== undefined) return { baseUrl: "http://localhost", socket };
  if (/^https?:\/\/[^/?#\s]+\/?$/.test(text) && URL.canParse(text)) return { baseUrl: new URL(text).origin };
  throw usageFailure(`not an endpoint: "${text}"; write http://host:port or unix:/path`);
}

/** `fetch` as the client uses it. */
type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The platform's `fetch`, with its own options for unix sockets and time limits. */
export type PlatformFetch = (url: string, init: BunFetchRequestInit) => Promise<Response>;

interface ConnectionSetup {
  /** As the operator wrote it. */
  endpoint: string;
  fetch: PlatformFetch;
  signal: AbortSignal;
  /** Limit of reads. */
  answerMs: number;
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
  const { baseUrl, socket } = parseEndpoint(setup.endpoint);
  const ask = (url: string, init: RequestInit, signals: AbortSignal[]) => {
    const given = init.signal instanceof AbortSignal ? [init.signal] : [];
    const options = {
      ...init,
      signal: AbortSignal.any([setup.signal, ...given, ...signals]),
      timeout: false,
      ...(socket === undefined ? {} : { unix: socket }),
    };
    return setup.fetch(url, options).catch((error: unknown) => {
      throw unreachable(error, setup);
    });
  };
  return {
    baseUrl,
    async fetch(url, init) {
      const limit = init.method === "GET" ? [AbortSignal.timeout(setup.answerMs)] : [];
      return requireType(await ask(url, init, limit), ["json"], setup.endpoint);
    },
    async stream(url, init) {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(new DOMException("late", "TimeoutError")), setup.answerMs);
      try {
        return requireType(
          await ask(url, init, [late.signal]),
          ["json", "text/plain", "application/octet-stream"],
          setup.endpoint,
        );
      } finally {
        clearTimeout(timer);
      }
    },
  };
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
  setup: Pick<ConnectionSetup, "endpoint" | "signal" | "answerMs">,
): CommandFailure {
  const { endpoint, signal, answerMs } = setup;
  if (signal.aborted) return new CommandFailure("interrupted", exitCodes.interrupted);
  if (error instanceof Error && error.name === "TimeoutError") {
    return unreachableFailure(`no answer from ${endpoint} within ${answerMs / 1_000} seconds`, [
      "on the server, look at its log: journalctl -u berth",
    ]);
  }
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const [cause, advice] = causes[code] ?? [errorText(error), elsewhere];
  return unreachableFailure(`cannot reach the server at ${endpoint}: ${cause}`, advice);
}

const elsewhere = [
  "does it run?           on the server: berth serve, or: systemctl status berth",
  "does it run elsewhere? --endpoint URL or BERTH_ENDPOINT, for example",
  "                       unix:/opt/berth/run/berth.sock, or http://127.0.0.1:8686 through an SSH tunnel:",
  "                       ssh -N -L 8686:127.0.0.1:8686 user@server",
];

const causes: Record<string, [string, string[]]> = {
  ECONNREFUSED: ["nothing listens there", elsewhere],
  ENOENT: ["no such socket", elsewhere],
  ENOTFOUND: ["the name cannot be resolved", ["check the host in --endpoint or BERTH_ENDPOINT"]],
  EACCES: [
    "no permission",
    [
      "the socket is for root and, where it existed when the server started, the group berth: try sudo, or",
      "sudo usermod -aG berth $USER     and sign in again, so that the session has the group",
    ],
  ],
  ECONNRESET: ["the connection broke", ["try again; if it stays, look at the server's log: journalctl -u berth"]],
};

function unreachableFailure(message: string, advice: readonly string[]): CommandFailure {
  const lines = advice.map((line) => `  ${line}`);
  return new CommandFailure([message, ...lines].join("\n"), exitCodes.unreachable);
}

function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
