import type { Endpoint } from "../wire/endpoint.ts";
import { failureStatus } from "../wire/failure.ts";
import { createAllowedMethods } from "./allowed-methods.ts";
import { errorResponse } from "./answers.ts";

/** Answers what no endpoint matches: 405 with `Allow` where the path exists under another method, else 404. */
export function createUnknownRoute(endpoints: readonly Endpoint[]): (method: string, path: string) => Response {
  const allowedOn = createAllowedMethods(endpoints);
  return (method, path) => {
    const allow = allowedOn(path).join(", ");
    if (allow === "") {
      const text = `path ${JSON.stringify(path)} does not exist, GET /openapi.json lists those that do`;
      return errorResponse({ status: failureStatus.not_found, message: text });
    }
    const text = `method ${method} is not allowed on ${JSON.stringify(path)}, use ${allow}`;
    return errorResponse({ status: failureStatus.method_not_allowed, message: text, headers: { Allow: allow } });
  };
}
