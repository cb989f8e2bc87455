/** A JSON answer of the identity service: flat, no envelope. */
export function jsonAnswer(status: number, body: unknown, headers?: Record<string, string>): Response {
  return textAnswer(status, JSON.stringify(body), headers);
}

/** Like `jsonAnswer`, for a body that is JSON text already. */
export function textAnswer(status: number, json: string, headers?: Record<string, string>): Response {
  if (headers === undefined) return new Response(json, { status, headers: common });
  const all = new Headers(common);
  for (const [name, value] of Object.entries(headers)) all.set(name, value);
  return new Response(json, { status, headers: all });
}

/** What is said of a user must not stay in a cache on the way. Made once: each answer gets a copy. */
const common = new Headers({ "Content-Type": "application/json", "Cache-Control": "no-store" });

export function errorAnswer(status: number, error: string, headers: Record<string, string> = {}): Response {
  return jsonAnswer(status, { error }, headers);
}

/** Answers of the listener itself. */
export const listenerRefusals = {
  busy: () => errorAnswer(503, "Too many requests at one time", { "Retry-After": "1" }),
  failed: () => errorAnswer(500, "internal error, the log says why"),
};
