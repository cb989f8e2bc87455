import { ApiError } from "../wire/client.ts";
import { errorData, Failure, failureStatus } from "../wire/failure.ts";
import { JsonError } from "../words/json.ts";
import type { Log } from "../words/log.ts";
import type { Refusal } from "./front/refusal.ts";
import { errorResponse } from "./answers.ts";

/** The answer for anything a handler threw; see `refusalOf`. */
export function mapError(error: unknown, log: Log): Response {
  return errorResponse(refusalOf(error, log));
}

/**
 * Status and text for anything that was thrown: expected errors say their text, what another plane refused in process is
 * answered as it came, everything else is a bug, shown as an id that the log explains.
 */
export function refusalOf(error: unknown, log: Log): Refusal {
  if (error instanceof Failure) return failureRefusal(error);
  if (error instanceof ApiError && error.status >= 400) {
    return { status: error.status, message: error.message, data: error.data };
  }
  if (error instanceof JsonError) {
    const message = `body line ${error.line} column ${error.column}: ${error.message}`;
    return { status: failureStatus.invalid, message, data: { fields: { line: error.line, column: error.column } } };
  }
  const id = crypto.randomUUID().slice(0, 8);
  log.error("internal error", { id, error });
  return { status: failureStatus.internal, message: `internal error, id ${id}` };
}

function failureRefusal(failure: Failure): Refusal {
  const { code, message, retryAfterSeconds } = failure;
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  return { status: failureStatus[code], message, headers, data: errorData(failure) };
}
