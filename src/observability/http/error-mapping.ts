import { errorResponse } from "../../base/http/answers.ts";
import { refusalOf } from "../../base/http/error-mapping.ts";
import { failureStatus } from "../../base/wire/failure.ts";
import type { Log } from "../../base/words/log.ts";

/** The answer for anything a handler threw; see `refusalOf`. */
export function mapError(error: unknown, log: Log): Response {
  const refusal = refusalOf(error, log);
  if (refusal.status !== failureStatus.unauthorized) return errorResponse(refusal);
  return errorResponse({ ...refusal, headers: { ...refusal.headers, "WWW-Authenticate": 'Bearer realm="berth"' } });
}
