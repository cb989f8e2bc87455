import type { Envelope } from "../wire/envelope.ts";
import { errorEnvelope, type Refusal } from "./front/refusal.ts";

/** A JSON answer of the plane: one line, ended by a newline. */
export function jsonResponse(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  const text = `${JSON.stringify(body)}\n`;
  const response = new Response(text, { status, headers: { "Content-Type": "application/json", ...headers } });
  texts.set(response, text);
  return response;
}

const texts = new WeakMap<Response, string>();

/** The whole body of an answer that was made here: reading it as a stream takes longer than making it. */
export function wholeText(response: Response): string | undefined {
  return texts.get(response);
}

export function okResponse(status: number, data: unknown, headers: Record<string, string> = {}): Response {
  const envelope: Envelope<unknown> = { status: "ok", data };
  return jsonResponse(status, envelope, headers);
}

export function errorResponse(refusal: Refusal): Response {
  return jsonResponse(refusal.status, errorEnvelope(refusal), refusal.headers);
}

/** The status with which an answer ends that goes on after its head, where that can be another one than the head has. */
export const endStatus = new WeakMap<Response, Promise<number>>();
