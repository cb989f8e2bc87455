import { reasonPhrase } from "./refusal.ts";

/** How the client finds the end of the answer's body; `none`: there is no body, whatever the headers say. */
export type AnswerFraming =
  { kind: "none" } | { kind: "length"; bytes: number } | { kind: "chunked" } | { kind: "close" };

/** Written by the front alone. */
const own = new Set(["connection", "content-length", "date", "keep-alive", "transfer-encoding"]);

/** Head of an answer as bytes. `closing`: the connection ends after this answer, and the head says so. */
export function answerHead(
  response: Response,
  { framing, closing, now }: { framing: AnswerFraming; closing: boolean; now: number },
): string {
  let text = `HTTP/1.1 ${response.status} ${reasonPhrase(response.status)}\r\n`;
  for (const [name, value] of response.headers) if (!own.has(name)) text += `${name}: ${value}\r\n`;
  text += `Date: ${httpDate(now)}\r\n`;
  if (framing.kind === "length") text += `Content-Length: ${framing.bytes}\r\n`;
  if (framing.kind === "chunked") text += "Transfer-Encoding: chunked\r\n";
  if (closing) text += "Connection: close\r\n";
  return `${text}\r\n`;
}

let dateSecond = 0;
let dateText = "";

/** The text changes once a second, and every answer needs it. */
function httpDate(now: number): string {
  const second = Math.floor(now / 1_000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(second * 1_000).toUTCString();
  }
  return dateText;
}
