import { basicLogin } from "../pure/user-info.ts";
import { Failure } from "../wire/failure.ts";
import { unlessAborted } from "../words/abort.ts";
import type { Secret } from "../words/secret.ts";
import { allowedAddresses, type GuardOptions } from "./address-guard.ts";
import { failureText, isUnsent } from "./failure-text.ts";
import { type PinnedFetch, pinnedTls, pinnedUrl } from "./pinned.ts";
import { signature } from "./signature.ts";

/** One request to be made. */
export interface WebhookCall {
  /** The same for every attempt: receivers know a repetition by it. */
  id: string;
  event: string;
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string;
  /** Attempts before this one. */
  attempts: number;
  /** What it is signed with; left out: what the sender signs with. */
  signing?: Secret<string>;
}

/** What came of one attempt; `result` is a status or a short reason, never anything that was sent or received. */
export interface Attempt {
  /** `refused`: another attempt would come to the same. */
  outcome: "delivered" | "failed" | "refused";
  result: string;
  /** The receiver certainly did not take it. Left out of a failure: it may have, as with an answer that got lost. */
  unheard?: true;
}

export interface WebhookOptions extends GuardOptions {
  fetch: PinnedFetch;
  signing: Secret<string>;
  /** `X-Berth`. */
  headerPrefix: string;
  userAgent: string;
  /** Epoch milliseconds. */
  now: () => number;
  /** Time limit of one attempt, the answer's body included. */
  timeoutMs: number;
  /** An answer is read this far, so that its sender is not cut off, and thrown away. */
  responseBytesMax: number;
}

export type SendWebhook = (call: WebhookCall, signal: AbortSignal) => Promise<Attempt>;

/** Makes single attempts: checked address, signed, no redirect followed. Only `signal` of the caller lets it reject. */
export function createWebhookSender(options: WebhookOptions): SendWebhook {
  return async function sendWebhook(call, signal) {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(options.timeoutMs)]);
    try {
      const response = await request(call, options, limit);
      await drain(response, options.responseBytesMax).catch(() => undefined);
      const { ok, status } = response;
      const heard = isDeclined(status) ? ({ unheard: true } as const) : {};
      return { outcome: ok ? "delivered" : "failed", result: `status ${status}`, ...heard };
    } catch (error) {
      if (signal.aborted) throw error;
      const refused = error instanceof Failure && error.code === "forbidden";
      const heard = isUnsent(error) ? ({ unheard: true } as const) : {};
      return { outcome: refused ? "refused" : "failed", result: failureText(error, options.timeoutMs), ...heard };
    }
  };
}

/** A redirect or an error of the request. 408 can follow a request that was read, 409 one that was taken before. */
function isDeclined(status: number): boolean {
  return status >= 300 && status < 500 && status !== 408 && status !== 409;
}

async function request(call: WebhookCall, options: WebhookOptions, signal: AbortSignal): Promise<Response> {
  const url = new URL(call.url);
  // A look-up of a name has no way to be called off: it is left to itself.
  const addresses = await unlessAborted(allowedAddresses(url.hostname, options), signal);
  if (addresses === undefined) throw signal.reason;
  const address = addresses[call.attempts % addresses.length] ?? "";
  const init = {
    method: call.method,
    headers: headersOf(call, url, options),
    body: call.body,
    redirect: "manual" as const,
    // A connection that is kept would be taken again for another host of the same address.
    keepalive: false,
    decompress: false,
    signal,
    ...pinnedTls(url),
  };
  return options.fetch(pinnedUrl(url, address), init, url);
}

/** Headers of the connection, which only the sender sets. */
const hopHeaders = new Set(["host", "content-length", "connection", "transfer-encoding"]);

function headersOf(call: WebhookCall, url: URL, options: WebhookOptions): Record<string, string> {
  const timestamp = Math.floor(options.now() / 1_000);
  const given = Object.entries(call.headers).filter(([name]) => {
    const lower = name.toLowerCase();
    return !hopHeaders.has(lower) && !lower.startsWith(`${options.headerPrefix.toLowerCase()}-`);
  });
  const login = basicLogin(url);
  const has = (wanted: string) => given.some(([name]) => name.toLowerCase() === wanted);
  return {
    ...Object.fromEntries(given),
    ...(has("user-agent") ? {} : { "User-Agent": options.userAgent }),
    ...(login === undefined || has("authorization") ? {} : { Authorization: login }),
    Host: url.host,
    [`${options.headerPrefix}-Delivery`]: call.id,
    [`${options.headerPrefix}-Event`]: call.event,
    [`${options.headerPrefix}-Timestamp`]: String(timestamp),
    [`${options.headerPrefix}-Signature`]: signature(call.signing ?? options.signing, timestamp, call.body),
  };
}

async function drain(response: Response, bytesMax: number): Promise<void> {
  const reader = response.body?.getReader();
  for (let seen = 0; reader !== undefined;) {
    const { value, done } = await reader.read();
    if (done) return;
    seen += value.byteLength;
    if (seen > bytesMax) return reader.cancel();
  }
}
