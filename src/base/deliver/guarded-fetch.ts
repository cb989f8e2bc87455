import { basicLogin } from "../pure/user-info.ts";
import { Failure } from "../wire/failure.ts";
import { unlessAborted } from "../words/abort.ts";
import { readBounded } from "../words/read-bounded.ts";
import { allowedAddresses, type GuardOptions } from "./address-guard.ts";
import { failureText } from "./failure-text.ts";
import { type PinnedFetch, pinnedTls, pinnedUrl } from "./pinned.ts";

interface GuardedRequest {
  method: "GET" | "POST" | "PUT";
  /** https; http only where private addresses are allowed. A login in it is sent as basic authentication. */
  url: string;
  headers: Record<string, string>;
  body?: string | Uint8Array<ArrayBuffer>;
}

export interface GuardedAnswer {
  status: number;
  /** Read to its end. */
  body: string;
  /** The header `Retry-After`, where there is one. */
  retryAfter?: string;
}

export interface GuardedHeadOptions extends GuardOptions {
  fetch: PinnedFetch;
  /** Until the head of the answer is there. */
  headMs: number;
}

export interface GuardedFetchOptions extends GuardedHeadOptions {
  /** More is a failure. */
  bodyBytesMax: number;
}

/**
 * One request to an address that somebody else has chosen: checked address, no redirect followed, bounded in time and
 * bytes. Fails `forbidden` for an address that is closed, `too_large` for an answer without end, and `unavailable` for
 * everything that another attempt could fix; the texts hold nothing of what was sent or received.
 */
export type GuardedFetch = (request: GuardedRequest, signal: AbortSignal) => Promise<GuardedAnswer>;

export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  return async function guardedFetch(request, signal) {
    const response = await guardedHead(options, request, signal);
    const retryAfter = response.headers.get("retry-after");
    const body = (await guardedBytes(response, options)).toString("utf8");
    return { status: response.status, body, ...(retryAfter === null ? {} : { retryAfter }) };
  };
}

/** The bytes of an answer to `guardedHead`. Fails as a guarded request does. */
export async function guardedBytes(
  response: Response,
  { bodyBytesMax, headMs }: Pick<GuardedFetchOptions, "bodyBytesMax" | "headMs">,
): Promise<Buffer> {
  const tooLong = () => new Failure("too_large", `the answer is longer than ${bodyBytesMax} bytes`);
  try {
    return await readBounded(response, bodyBytesMax, tooLong);
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure("unavailable", `the answer broke off: ${failureText(error, headMs)}`, { cause: error });
  }
}

/** Like `guardedBytes`, but the caller reads the answer, bounds it and ends it: resolves with its head. */
export async function guardedHead(
  options: GuardedHeadOptions,
  request: GuardedRequest,
  signal: AbortSignal,
): Promise<Response> {
  const url = URL.canParse(request.url) ? new URL(request.url) : undefined;
  const isPlain = url?.protocol === "http:" && options.allowPrivate;
  if (url === undefined || (url.protocol !== "https:" && !isPlain)) {
    throw new Failure("forbidden", "the address is not https");
  }
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException("too late", "TimeoutError")), options.headMs);
  try {
    const head = AbortSignal.any([signal, late.signal]);
    const addresses = await unlessAborted(allowedAddresses(url.hostname, options), head);
    if (addresses === undefined) throw head.reason;
    return await firstThatOpens(addresses, (address) =>
      options.fetch(pinnedUrl(url, address), initOf(request, url, head), url),
    );
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure("unavailable", `${url.host}: ${failureText(error, options.headMs)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

const addressesMax = 4;
/** Nothing was sent yet. */
const notOpened = new Set(["ConnectionRefused", "FailedToOpenSocket", "ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH"]);

/** A name often has addresses of a family that this machine has not. */
async function firstThatOpens(
  addresses: readonly string[],
  open: (address: string) => Promise<Response>,
): Promise<Response> {
  const some = addresses.slice(0, addressesMax);
  for (const [index, address] of some.entries()) {
    try {
      return await open(address);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? String(error.code) : "";
      if (index === some.length - 1 || !notOpened.has(code)) throw error;
    }
  }
  throw new Failure("unavailable", "no address");
}

function initOf(request: GuardedRequest, url: URL, signal: AbortSignal): RequestInit {
  const login = basicLogin(url);
  const hasOwn = Object.keys(request.headers).some((name) => name.toLowerCase() === "authorization");
  const init = {
    method: request.method,
    headers: {
      ...(login === undefined || hasOwn ? {} : { Authorization: login }),
      ...request.headers,
      Host: url.host,
    },
    redirect: "manual" as const,
    // A connection that is kept would be taken again for another host of the same address.
    keepalive: false,
    signal,
    ...pinnedTls(url),
  };
  return request.body === undefined ? init : { ...init, body: request.body };
}
