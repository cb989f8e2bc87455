import type { ErrorData, ErrorEnvelope } from "../../wire/envelope.ts";
import { codeOfStatus } from "../../wire/failure.ts";

/** An answer that says no. Where the front gives it itself, the connection closes after it. */
export interface Refusal {
  status: number;
  message: string;
  /** Added to the answer's head. */
  headers?: Record<string, string>;
  /** What programs read of it. */
  data?: ErrorData;
  /** In place of the envelope. */
  content?: { type: string; bytes: Uint8Array<ArrayBuffer> };
  /** The front answers so many milliseconds later, and writes no line about it: who asks again and again is slowed down. */
  holdMs?: number;
}

/** The body of the answer; its code follows from the status. */
export function errorEnvelope({ status, message, data }: Refusal): ErrorEnvelope {
  const code = codeOfStatus(status);
  return { status: "error", error: message, ...(code === undefined ? {} : { code }), ...data };
}

const reasons: Record<number, string> = {
  200: "OK",
  201: "Created",
  202: "Accepted",
  204: "No Content",
  301: "Moved Permanently",
  302: "Found",
  303: "See Other",
  304: "Not Modified",
  307: "Temporary Redirect",
  308: "Permanent Redirect",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  405: "Method Not Allowed",
  408: "Request Timeout",
  409: "Conflict",
  410: "Gone",
  412: "Precondition Failed",
  413: "Content Too Large",
  415: "Unsupported Media Type",
  422: "Unprocessable Content",
  429: "Too Many Requests",
  431: "Request Header Fields Too Large",
  500: "Internal Server Error",
  501: "Not Implemented",
  502: "Bad Gateway",
  503: "Service Unavailable",
  504: "Gateway Timeout",
  505: "HTTP Version Not Supported",
  507: "Insufficient Storage",
};

/** The text after the status number in a status line. */
export function reasonPhrase(status: number): string {
  return reasons[status] ?? (status < 400 ? "OK" : "Error");
}

/** The whole answer as bytes; without the body where the request was a HEAD. */
export function refusalBytes(refusal: Refusal, method?: string): Uint8Array {
  const type = refusal.content?.type ?? "application/json";
  const body = refusal.content?.bytes ?? Buffer.from(`${JSON.stringify(errorEnvelope(refusal))}\n`);
  const extra = Object.entries(refusal.headers ?? {}).map(([name, value]) => `${name}: ${value}\r\n`);
  const head =
    `HTTP/1.1 ${refusal.status} ${reasonPhrase(refusal.status)}\r\n` +
    `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\nConnection: close\r\n${extra.join("")}\r\n`;
  return method === "HEAD" ? Buffer.from(head) : Buffer.concat([Buffer.from(head), body]);
}
