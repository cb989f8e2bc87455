import { readBounded } from "../../base/words/read-bounded.ts";
import { parseBody } from "../../base/http/request.ts";
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

/**
 * The JSON body of a request, which is no larger than `bytesMax`. Call it once the caller is known and may ask: an
 * unread body costs nothing. Fails `too_large`, `invalid` for an empty body, and `JsonError` for bad syntax.
 */
export async function readBoundedBody(
  request: Request,
  { bytesMax, depthMax }: { bytesMax: number; depthMax: number },
): Promise<unknown> {
  refuseLength(request, bytesMax);
  return parseBody(await readBounded(request, bytesMax, () => tooLarge(bytesMax)), { depthMax });
}

/** Fails `too_large` for a request that says itself that its body is too large. */
export function refuseLength({ headers }: Request, bytesMax: number): void {
  if (Number(headers.get("content-length") ?? "0") > bytesMax) throw tooLarge(bytesMax);
}

function tooLarge(max: number): Failure {
  return new Failure("too_large", `the body is larger than ${max} bytes, which is the most that this request may have`);
}
