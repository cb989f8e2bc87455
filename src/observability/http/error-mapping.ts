import { errorResponse } from "../../base/http/answers.ts";
import { refusalOf } from "../../base/http/error-mapping.ts";
import { ApiError } from "../../base/wire/client.ts";
import { failureStatus } from "../../base/wire/failure.ts";
import type { Log } from "../../base/words/log.ts";

/** The answer for anything a handler threw; what the platform refused in process is answered as it came. */
export function mapError(error: unknown, log: Log): Response {
  if (error instanceof ApiError && error.status >= 400) {
    return errorResponse({ status: error.status, message: error.message, data: error.data });
  }
  const refusal = refusalOf(error, log);
  if (refusal.status !== failureStatus.unauthorized) return errorResponse(refusal);
  return errorResponse({ ...refusal, headers: { ...refusal.headers, "WWW-Authenticate": 'Bearer realm="berth"' } });
}
