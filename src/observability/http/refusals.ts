import { errorResponse } from "../../base/http/answers.ts";
import { failureStatus } from "../../base/wire/failure.ts";

/** Answers of the listener itself. */
export const planeRefusals = {
  busy: () =>
    errorResponse({
      status: failureStatus.unavailable,
      message: "too many requests at one time, try again",
      headers: { "Retry-After": "1" },
    }),
  starting: () =>
    errorResponse({
      status: failureStatus.unavailable,
      message: "the server is starting, try again",
      headers: { "Retry-After": "1" },
    }),
  failed: () => errorResponse({ status: failureStatus.internal, message: "internal error, the log says why" }),
};
