import type { ErrorEnvelope } from "../../wire/envelope.ts";

/** A request that the front answers itself: the connection closes after it. */
export interface Refusal {
  status: number;
  message: string;
  /** Added to the answer's head. */
  headers?: Record<string, string>;
}

const reasons: Record<number, string> = {
  400: "Bad Request",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  413: "Content Too Large",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
  507: "Insufficient Storage",
};

/** The whole answer as bytes; without the body where the request was a HEAD. */
export function refusalBytes(refusal: Refusal, method?: string): Uint8Array {
  const envelope: ErrorEnvelope = { status: "error", error: refusal.message };
  const body = Buffer.from(`${JSON.stringify(envelope)}\n`);
  const extra = Object.entries(refusal.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  const head =
    `HTTP/1.1 ${refusal.status} ${reasons[refusal.status] ?? "Error"}\r\n` +
    `Content-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n${extra.join("")}\r\n`;
  return method === "HEAD" ? Buffer.from(head) : Buffer.concat([Buffer.from(head), body]);
}
