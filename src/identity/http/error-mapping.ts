import { Failure, failureStatus } from "../../base/wire/failure.ts";
import type { Log } from "../../base/words/log.ts";
import { errorAnswer } from "./answers.ts";

/** The answer for anything a handler threw: expected errors say their text, everything else is a bug, shown as an id. */
export function mapError(error: unknown, log: Log): Response {
  if (error instanceof Failure && error.code !== "internal") return failureAnswer(error);
  const id = crypto.randomUUID().slice(0, 8);
  log.error("internal error", { id, error });
  return errorAnswer(failureStatus.internal, `internal error, id ${id}`);
}

function failureAnswer({ code, message, retryAfterSeconds }: Failure): Response {
  const wait: Record<string, string> =
    retryAfterSeconds === undefined ? {} : { "Retry-After": String(retryAfterSeconds) };
  return errorAnswer(failureStatus[code], message, wait);
}
