import type { Client } from "acme-client";
import { failureText } from "../../../base/deliver/failure-text.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { readBounded } from "../../../base/words/read-bounded.ts";

export type Fetch = (url: string, init: RequestInit & { tls?: { ca: string } }) => Promise<Response>;

export interface TransportOptions {
  fetch: Fetch;
  /** PEM that the CA's own address is checked against; undefined: the roots of the machine. */
  root: string | undefined;
  userAgent: string;
  /** Time limit of one request. */
  timeoutMs: number;
  bodyBytesMax: number;
  signal: AbortSignal;
  /** Called with the time of each answer of the CA, epoch milliseconds. */
  onDate: (at: number) => void;
}

interface Answer {
  status: number;
  headers: Record<string, string>;
  data: unknown;
}

/** Problem document of a CA (RFC 8555, section 6.7), as the cause of a `Failure`. */
interface CaProblem {
  status: number;
  /** Without its prefix: `rateLimited`. */
  type: string;
}

/**
 * Has a client send its requests through our own `fetch`: with a deadline, bounded answers, the root of a private CA,
 * and without the retries inside of the package, which know nothing of our budget. Every refusal is a `Failure` whose
 * text begins with `ca:`, with the pause that the CA asks for.
 */
export function attachTransport(client: Client, options: TransportOptions): void {
  // The field is not part of the package's types; its version is pinned, and a test fails when it moves.
  const http: unknown = Reflect.get(client, "http");
  if (typeof http !== "object" || http === null || !("request" in http)) {
    throw new TypeError("acme-client has changed: its requests cannot be led through ours");
  }
  Reflect.set(http, "request", (url: string, method: string, init: { data?: unknown } = {}) =>
    send({ url, method: method.toUpperCase(), data: init.data }, options),
  );
}

interface Sent {
  url: string;
  method: string;
  data?: unknown;
}

/** One request to a CA. Fails as `attachTransport` says. */
export async function send({ url, method, data }: Sent, options: TransportOptions): Promise<Answer> {
  const answer = await exchange({ url, method, data }, options);
  const problem = problemOf(answer);
  // The package itself repeats a request whose nonce was too old.
  if (answer.status < 400 || problem.type === "badNonce") return answer;
  throw refusal(answer, problem);
}

async function exchange({ url, method, data }: Sent, options: TransportOptions): Promise<Answer> {
  const { root, userAgent, timeoutMs, bodyBytesMax, signal } = options;
  const late = AbortSignal.timeout(timeoutMs);
  try {
    const response = await options.fetch(url, {
      method,
      headers: { "Content-Type": "application/jose+json", "User-Agent": userAgent },
      redirect: "manual",
      signal: AbortSignal.any([signal, late]),
      ...(data === undefined ? {} : { body: JSON.stringify(data) }),
      ...(root === undefined ? {} : { tls: { ca: root } }),
    });
    const at = Date.parse(response.headers.get("date") ?? "");
    if (!Number.isNaN(at)) options.onDate(at);
    const tooLong = () => new Failure("unavailable", `ca: an answer is longer than ${bodyBytesMax} bytes`);
    const text = (await readBounded(response, bodyBytesMax, tooLong)).toString("utf8");
    return { status: response.status, headers: Object.fromEntries(response.headers), data: parsed(response, text) };
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure("unavailable", `ca: ${hostOf(url)}: ${failureText(error, timeoutMs)}`, { cause: error });
  }
}

function parsed(response: Response, text: string): unknown {
  if (!/\bjson\b/.test(response.headers.get("content-type") ?? "")) return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure("unavailable", `ca: ${hostOf(response.url)} answers with broken JSON`, { cause: error });
  }
}

function problemOf({ status, data }: Answer): CaProblem & { detail: string } {
  const text = (name: string) => {
    const value: unknown = typeof data === "object" && data !== null ? Reflect.get(data, name) : undefined;
    return typeof value === "string" ? value : "";
  };
  return { status, type: text("type").replace(/^urn:ietf:params:acme:error:/, ""), detail: text("detail") };
}

function refusal({ headers }: Answer, { status, type, detail }: ReturnType<typeof problemOf>): Failure {
  const isLimit = status === 429 || type === "rateLimited";
  const words = oneLine(detail) || `refused with status ${status}`;
  const retryAfterSeconds = pauseOf(headers["retry-after"]);
  const cause: CaProblem = { status, type };
  const code = isLimit ? "too_many" : status >= 500 ? "unavailable" : "unprocessable";
  const text = isLimit ? `ca: rate limit: ${words}` : `ca: ${words}`;
  return new Failure(code, text, { cause, ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }) });
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function pauseOf(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header);
  const seconds = Math.ceil((Date.parse(header) - Date.now()) / 1_000);
  return seconds > 0 ? seconds : undefined;
}

const textMax = 500;

/** Texts of a CA go to terminals: no control characters, and not without end. */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]+/gu, " ")
    .trim()
    .slice(0, textMax);
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : "an address that is not a URL";
}

export function problemTypeOf(error: unknown): string | undefined {
  if (!(error instanceof Failure)) return undefined;
  const { cause } = error;
  return typeof cause === "object" && cause !== null && "type" in cause ? String(cause.type) : undefined;
}
