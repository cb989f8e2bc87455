import { Failure, failureStatus } from "../../api/failure.ts";
import { JsonError } from "../../lib/json.ts";
import type { Log } from "../../lib/log.ts";
import { errorResponse } from "./answers.ts";

/**
 * The answer for anything a handler threw: expected errors say their text, everything else is a bug, shown as an id
 * that the log explains.
 */
export function mapError(error: unknown, log: Log): Response {
  if (error instanceof Failure) return failureResponse(error);
  if (error instanceof JsonError) {
    return errorResponse(failureStatus.invalid, `body line ${error.line} column ${error.column}: ${error.message}`);
  }
  const id = crypto.randomUUID().slice(0, 8);
  log.error("internal error", { id, error });
  return errorResponse(failureStatus.internal, `internal error, id ${id}`);
}

function failureResponse(failure: Failure): Response {
  const { retryAfterSeconds } = failure;
  const headers: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  return errorResponse(failureStatus[failure.code], failure.message, headers);
}
