import type { ErrorData } from "../../src/base/wire/envelope.ts";
import type { Clock } from "../../src/base/words/clock.ts";
import { clientLimits, limits } from "../../src/config/config.ts";
import type { Network } from "../../src/client/domains/network.ts";
import type { RunLocal } from "../../src/client/basics/local-run.ts";
import { run } from "../../src/client/entry/run.ts";

export interface Call {
  method: string;
  path: string;
  query: Record<string, string>;
  body: unknown;
  /** What the client would rather have than an envelope. */
  accept?: string;
}

/** Plays the server: the `data` of the answer, an `Answer`, a `Response` as it is, or undefined for a 404; or promises it. */
export type Server = (call: Call) => unknown;

export class Answer {
  readonly status: number;
  readonly envelope: unknown;

  constructor(status: number, envelope: unknown) {
    this.status = status;
    this.envelope = envelope;
  }
}

export function refusal(status: number, error: string, data: ErrorData = {}): Answer {
  return new Answer(status, { status: "error", error, ...data });
}

export interface Scene {
  server?: Server;
  /** Lines typed by the operator; with them stdin and stdout are terminals. */
  typed?: string[];
  /** stderr is a terminal: progress is drawn in place. */
  live?: boolean;
  stdin?: string;
  cwd?: string;
  variables?: Record<string, string>;
  /** Of the terminal. */
  size?: { cols: number; rows: number };
  endpoint?: string;
  /** BERTH_ENDPOINT */
  endpointVariable?: string;
  remotesFile?: string;
  color?: boolean;
  /** BERTH_AUTO_APPROVE; by default for everyday commands where nobody types: tests of other things need no -y then. */
  autoApprove?: boolean;
  /** What a program on the operator's terminal ends with; 0 where left out. */
  runLocal?: RunLocal;
  /** Names and addresses; nothing resolves where left out. */
  network?: Network;
  /** Plugins of the executable; none where left out. */
  bundled?: Awaited<ReturnType<Parameters<typeof run>[1]["bundled"]>>;
  /** Of the terminal, in columns. */
  columns?: number;
  /** Called at each sleep of the client with the time that has passed, in milliseconds. */
  onSleep?: (passedMs: number, interrupt: () => void) => void;
}

export interface Outcome {
  code: number;
  out: string;
  err: string;
  calls: Call[];
}

/** Runs one command line against a server that is a function, on a clock that moves when the client sleeps. */
export async function cli(argv: string[], scene: Scene = {}): Promise<Outcome> {
  const outcome: Outcome = { code: -1, out: "", err: "", calls: [] };
  const interrupt = new AbortController();
  let passedMs = 0;
  const clock: Clock = {
    now: () => Date.UTC(2026, 0, 2) + passedMs,
    sleep: async (ms) => {
      passedMs += ms;
      scene.onSleep?.(passedMs, () => interrupt.abort());
    },
  };
  const typed = [...(scene.typed ?? [])];
  const terminal = scene.typed !== undefined;
  outcome.code = await run(argv, {
    version: "1.2.3 (commit: abc)",
    streams: {
      stdout: (text) => {
        outcome.out += text;
      },
      flushed: () => Promise.resolve(),
      stderr: (text) => {
        outcome.err += text;
      },
      readLine: async () => typed.shift(),
      stdinIsTerminal: terminal,
      stdoutIsTerminal: terminal,
      stderrIsTerminal: scene.live ?? false,
      columns: () => scene.columns ?? 200,
    },
    rawTerminal: {
      inputIsTerminal: terminal,
      stdout: async (bytes) => {
        outcome.out += Buffer.from(bytes).toString();
      },
      stderr: async (bytes) => {
        outcome.err += Buffer.from(bytes).toString();
      },
      input: () => ({ chunks: chunksOf(scene.stdin), stop: () => undefined }),
      size: () => scene.size,
      onResize: () => () => undefined,
      enterRaw: () => () => undefined,
      enterScreen: () => {
        outcome.out += "<screen>";
        return () => {
          outcome.out += "</screen>";
        };
      },
    },
    runLocal: scene.runLocal ?? (async () => 0),
    network: scene.network ?? { resolve: async () => [], ownAddresses: () => [] },
    stdin: async () => scene.stdin ?? "",
    fetch: async (address, init) => {
      const url = new URL(address);
      const body = typeof init.body === "string" ? bodyOf(init.body, init.headers) : undefined;
      const accept = new Headers(init.headers).get("Accept");
      const call = {
        method: init.method ?? "GET",
        path: url.pathname,
        query: Object.fromEntries(url.searchParams),
        body,
        ...(accept === null ? {} : { accept }),
      };
      outcome.calls.push(call);
      return reply(await scene.server?.(call));
    },
    clock,
    limits: clientLimits,
    validation: limits,
    variables: scene.variables ?? {},
    cwd: scene.cwd ?? "/",
    interruptible: () => interrupt.signal,
    options: ({ endpoint = scene.endpointVariable, remote }) => ({
      named: {
        ...(endpoint === undefined ? {} : { endpoint }),
        ...(remote === undefined ? {} : { remote }),
      },
      ownEndpoint: scene.endpoint ?? "http://127.0.0.1:1",
      remotesFile: scene.remotesFile ?? "/nonexistent/remotes.json",
      tunnelsFolder: "/nonexistent/tunnels",
      ssh: {},
      actor: "ana@laptop",
      color: scene.color ?? false,
      autoApprove: scene.autoApprove ?? (!terminal && isEveryday(argv)),
    }),
    bundled: async () => scene.bundled ?? [],
    local: {
      serve: async (args) => args.length,
      doctor: async () => 0,
      backup: async () => 0,
      "receive-pack": async () => 0,
      "read-source": async () => 0,
      "copy-logs": async () => 0,
      "name-server": async () => 0,
      "upload-pack": async () => 0,
      "git-branch": async () => 0,
      "hooks secret": async (args) => args.length,
      "plugins init": async (args) => args.length,
      "plugins lint": async (args) => args.length,
      "plugins test": async (args) => args.length,
      restore: async () => 0,
      server: async () => 0,
      move: async (args) => args.length,
      "self-update": async (args) => args.length,
    },
  });
  return outcome;
}

function isEveryday([verb = "", next = ""]: readonly string[]): boolean {
  return ["apply", "delete"].includes(verb) || (verb === "plugins" && ["install", "remove"].includes(next));
}

/** A body that is no JSON is text. */
function bodyOf(text: string, headers: RequestInit["headers"]): unknown {
  return new Headers(headers).get("Content-Type") === "application/json" ? JSON.parse(text) : text;
}

async function* chunksOf(text: string | undefined): AsyncGenerator<Uint8Array> {
  if (text !== undefined) yield Buffer.from(text);
}

function reply(answer: unknown): Response {
  if (answer instanceof Response) return answer;
  if (answer instanceof Answer) return Response.json(answer.envelope, { status: answer.status });
  if (answer === undefined) return Response.json({ status: "error", error: "no such thing" }, { status: 404 });
  return Response.json({ status: "ok", data: answer });
}

/** A stored manifest as the server shows it. */
export function stored(ref: string, spec: Record<string, unknown> = {}, revision = 7) {
  const parts = ref.split("/");
  const [kind = "", scope = "", name = ""] = parts.length === 2 ? [parts[0], "", parts[1]] : parts;
  const at = "2026-01-01T00:00:00.000Z";
  return { kind, scope, name, spec, metadata: { revision, created_at: at, updated_at: at } };
}

/** A ready replica; `change` overrides. */
export function pod(name: string, change: Record<string, unknown> = {}) {
  const [app = "", replica = ""] = name.split(".");
  const [scope = "", resource = ""] = app.split("-");
  return {
    name,
    kind: "deployment",
    scope,
    resource_name: resource,
    replica_id: replica,
    image: "web:1",
    state: "running",
    status: "Up 2 hours",
    running: true,
    ready: true,
    frozen: false,
    restarts: 0,
    started_at: "2026-01-01T22:00:00.000Z",
    node: "local",
    ...change,
  };
}
