import type { Envelope } from "../wire/envelope.ts";
import { errorEnvelope, type Refusal } from "./front/refusal.ts";

/** A JSON answer of the plane: one line, ended by a newline. */
export function jsonResponse(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(`${JSON.stringify(body)}\n`, {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

export function okResponse(status: number, data: unknown, headers: Record<string, string> = {}): Response {
  const envelope: Envelope<unknown> = { status: "ok", data };
  return jsonResponse(status, envelope, headers);
}

export function errorResponse(refusal: Refusal): Response {
  return jsonResponse(refusal.status, errorEnvelope(refusal), refusal.headers);
}
