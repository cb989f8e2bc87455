import { errorResponse } from "../../base/http/answers.ts";
import { refusalOf } from "../../base/http/error-mapping.ts";
import { Failure, failureStatus } from "../../base/wire/failure.ts";
import type { Log } from "../../base/words/log.ts";

/** The answer for anything a handler threw; see `refusalOf`. */
export function mapError(error: unknown, log: Log): Response {
  const isBrokenOff = error instanceof Error && error.name === "AbortError";
  const refusal = refusalOf(isBrokenOff ? brokenOff() : error, log);
  if (refusal.status !== failureStatus.unauthorized) return errorResponse(refusal);
  return errorResponse({ ...refusal, headers: { ...refusal.headers, "WWW-Authenticate": 'Bearer realm="berth"' } });
}

/** The client broke the request off and reads no answer, or its token ended: not a bug. */
function brokenOff(): Failure {
  return new Failure("unavailable", "the request was broken off, by its client or because its token has ended");
}
