import { isFields } from "../pure/fields.ts";
import type { ErrorData, ErrorProblem, FailureFields } from "./envelope.ts";
import type { BodyOf, DataOf, Endpoint, ParamsOf, QueryOf } from "./endpoint.ts";

/** An answer that says no: the server's own text, or what came where it was not an envelope. */
export class ApiError extends Error {
  readonly status: number;
  /** What a program decides by; the message is for people. Empty where the server is older. */
  readonly data: ErrorData;

  constructor(status: number, message: string, data: ErrorData = {}) {
    super(message);
    this.name = "ApiError";
    this.status = status;
    this.data = data;
  }
}

/**
 * Who the event log names. Of the protocol and not of an installation: a client does not know the prefix of the server
 * that it talks to.
 */
export const actorHeader = "X-Berth-Actor";

/** A key that the client made up for a request: the server carries out only one with the same key. */
export const idempotencyHeader = "Idempotency-Key";

/** Header of every answer with the version of the server, `0.1.0 (commit: 0123456789ab)`. */
export const versionHeader = "X-Berth-Version";

/** The part of `fetch` that is used; wrap the platform's to add a unix socket or a time-out. */
export type ClientFetch = (url: string, init: ClientInit) => Promise<Response>;

export interface ClientInit {
  method: string;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
  signal?: AbortSignal;
}

interface ClientOptions {
  fetch: ClientFetch;
  /** Without a slash at the end; `http://localhost` for unix sockets. */
  baseUrl: string;
  /** Sent with every request. */
  headers?: Record<string, string>;
  /** Where an endpoint is on the server, if not at its own path. */
  pathOf?: (endpoint: Endpoint) => string;
  /** Makes the keys of requests whose endpoint takes one. */
  newKey?: () => string;
}

interface Asked<E extends Endpoint> {
  query?: { [K in keyof QueryOf<E>]?: string | number | boolean | undefined };
  /** Sent as JSON; as it is where the endpoint takes text or bytes. */
  body?: BodyOf<E>;
  /** Beside those of every request. */
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** `params`: values of the `:name` parts of the path, all of them. */
export type CallInput<E extends Endpoint> = Asked<E> &
  (string extends E["path"]
    ? { params?: Record<string, string> }
    : [keyof ParamsOf<E>] extends [never]
      ? { params?: undefined }
      : { params: ParamsOf<E> });

/** The input may be left out where the path has no parameters. */
type Input<E extends Endpoint> =
  Record<never, never> extends CallInput<E> ? [input?: CallInput<E>] : [input: CallInput<E>];

export interface Client {
  /** The `data` of the answer, also where its status is not 200. Fails with `ApiError`, or with what `fetch` throws. */
  call<E extends Endpoint>(endpoint: E, ...input: Input<E>): Promise<DataOf<E>>;
  /** The answer as it is, whatever its status: for streams. */
  raw<E extends Endpoint>(endpoint: E, ...input: Input<E>): Promise<Response>;
}

/** Calls endpoint values over HTTP: nothing about a route is written twice. */
export function createClient(options: ClientOptions): Client {
  const raw: Client["raw"] = (endpoint, ...given) => {
    const input: Sent = given[0] ?? {};
    const hasBody = input.body !== undefined;
    const type = endpoint.bodyType;
    return options.fetch(`${options.baseUrl}${targetOf(options.pathOf?.(endpoint) ?? endpoint.path, input)}`, {
      method: endpoint.method,
      headers: {
        ...options.headers,
        ...(endpoint.once && options.newKey !== undefined ? { [idempotencyHeader]: options.newKey() } : {}),
        ...input.headers,
        ...(hasBody ? { "Content-Type": type ?? "application/json" } : {}),
      },
      ...(hasBody ? { body: bodyOf(input.body, type) } : {}),
      ...(input.signal === undefined ? {} : { signal: input.signal }),
    });
  };
  return {
    raw,
    async call(endpoint, ...input) {
      const response = await raw(endpoint, ...input);
      return readAnswer(endpoint, response.status, await response.text());
    },
  };
}

/** An input as it is sent, whatever its endpoint. */
interface Sent extends Omit<Asked<Endpoint>, "body"> {
  params?: Readonly<Record<string, string>>;
  body?: unknown;
}

function bodyOf(body: unknown, type: string | undefined): string | Uint8Array<ArrayBuffer> {
  if (type === undefined) return JSON.stringify(body);
  return body instanceof Uint8Array ? (body as Uint8Array<ArrayBuffer>) : String(body);
}

/** Path and query of a request, as sent. */
export function targetOf(path: string, input: Pick<Sent, "params" | "query">): string {
  const filled = path.replaceAll(/:([^/]+)/g, (_, name: string) => encodeURIComponent(input.params?.[name] ?? ""));
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(input.query ?? {})) {
    if (value !== undefined) query.set(name, String(value));
  }
  return query.size === 0 ? filled : `${filled}?${query}`;
}

/** The `data` of an answer; fails with `ApiError`. */
export function readAnswer<E extends Endpoint>(endpoint: E, status: number, text: string): DataOf<E> {
  const answer = parseObject(text);
  if (answer?.status === "error" && typeof answer.error === "string")
    throw new ApiError(status, answer.error, readErrorData(answer));
  if (endpoint.flat === true && answer !== undefined && status < 400) return answer as DataOf<E>;
  if (answer?.status === "ok") return answer.data as DataOf<E>;
  const shown = text.trim().slice(0, textShownMax) || "empty answer";
  throw new ApiError(status, `status ${status}: ${shown}\nis this the orchestration API of a berth server?`);
}

/** What an error envelope carries beside its text; a field of another shape is left out. */
function readErrorData({ code, reason, fields, problems }: Record<string, unknown>): ErrorData {
  return {
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof reason === "string" ? { reason } : {}),
    ...(isFields(fields) ? { fields: { ...fields } as FailureFields } : {}),
    ...(Array.isArray(problems) ? { problems: problems.filter(isProblem) } : {}),
  };
}

function isProblem(value: unknown): value is ErrorProblem {
  return isFields(value) && "path" in value && typeof value.path === "string" && "message" in value;
}

/** How much of an answer that is not an envelope goes into the error text. */
const textShownMax = 500;

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
