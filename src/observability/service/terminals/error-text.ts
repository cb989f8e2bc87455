import { ApiError } from "../../../base/wire/client.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { Log } from "../../../base/words/log.ts";

/** What a client may read of a failure that comes after the head of the answer. */
export function errorText(error: unknown, log: Log): string {
  if (error instanceof Failure || error instanceof ApiError) return error.message;
  const id = crypto.randomUUID().slice(0, 8);
  log.error("internal error", { id, error });
  return `internal error, id ${id}`;
}
