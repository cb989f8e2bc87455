import { Failure } from "../wire/failure.ts";
import { guardedBytes, guardedHead, type GuardedHeadOptions } from "./guarded-fetch.ts";

interface Bounds {
  /** Time limit of the whole answer. */
  timeoutMs: number;
  bytesMax: number;
}

/** The bytes of a file at an address that a manifest names. Fails as a guarded request does, and for any status but 2xx. */
export type Download = (url: string, bounds: Bounds) => Promise<Buffer>;

export function createDownload(options: Omit<GuardedHeadOptions, "headMs">): Download {
  return async (url, { timeoutMs, bytesMax }) => {
    const bounds = { headMs: timeoutMs, bodyBytesMax: bytesMax };
    const asked = { method: "GET" as const, url, headers: {} };
    const response = await guardedHead({ ...options, ...bounds }, asked, AbortSignal.timeout(timeoutMs));
    if (response.ok) return guardedBytes(response, bounds);
    await response.body?.cancel().catch(() => undefined);
    const isMoved = response.status >= 300 && response.status < 400;
    if (!isMoved) throw new Failure("unavailable", `the server answered ${response.status}`);
    throw new Failure("invalid", "the server redirects to another address, which is not followed; write that address");
  };
}
