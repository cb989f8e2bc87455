import { ApiError, createClient } from "../../base/wire/client.ts";
import { planePath } from "../../observability/api/plane-endpoint.ts";
import { uiHeader } from "../../observability/api/sessions.ts";
import { connection } from "./connection.ts";

/** Calls endpoint values with the cookie of the session. */
export const api = createClient({
  baseUrl: "",
  headers: { [uiHeader]: "1" },
  // The endpoints of the session itself are beside the API.
  pathOf: (endpoint) => (endpoint.scope === undefined ? endpoint.path : planePath(endpoint)),
  newKey: () => crypto.randomUUID(),
  fetch: async (url, init) => {
    const response = await fetch(url, { ...init, credentials: "same-origin" });
    if (response.status === 401) connection.value = "ended";
    return response;
  },
});

/** A text for people, whatever was thrown. */
export function faultText(error: unknown): string {
  if (error instanceof ApiError) return error.message;
  // Browsers say only "Failed to fetch" of a server that is not there.
  if (error instanceof TypeError) return "The server does not answer. It may be restarting; this page tries again.";
  return error instanceof Error ? error.message : String(error);
}
