import { readBounded } from "../../base/words/read-bounded.ts";
import { encodedBodyText, Failure } from "../../base/wire/failure.ts";

/**
 * The same request under `http:`. Elysia looks for the path at a fixed place of the address, and with short host names
 * allowed that place is right for `http:` alone.
 */
export function underHttp(request: Request): Request {
  const { url, method, headers, signal, body } = request;
  if (!url.startsWith("https:")) return request;
  return new Request(`http:${url.slice("https:".length)}`, { method, headers, signal, body });
}

/** Fails `unsupported_media_type` for a body that is compressed. */
export function requirePlainBody({ headers, body }: Request): void {
  const coding = headers.get("content-encoding")?.toLowerCase() ?? "identity";
  if (body !== null && coding !== "identity") throw new Failure("unsupported_media_type", encodedBodyText(coding));
}

/** The same request with a body that is read and no larger than `max` bytes. Fails `too_large`. */
export async function withBoundedBody(request: Request, max: number): Promise<Request> {
  if (request.body === null) return request;
  const declared = Number(request.headers.get("content-length") ?? "0");
  if (declared > max) throw tooLarge(max);
  const body = await readBounded(request, max, () => tooLarge(max));
  const { url, method, headers, signal } = request;
  return new Request(url, { method, headers, signal, body });
}

function tooLarge(max: number): Failure {
  return new Failure("too_large", `the body is larger than ${max} bytes, which is the most that this plane takes`);
}
