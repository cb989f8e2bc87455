import type { AccessEntry } from "../../ingress/api/access-log.ts";
import { printable, type Style } from "../basics/style.ts";
import { timeText } from "./time-text.ts";

/** One request on one line: when, what became of it, who asked for what, and who answered. */
export function accessText(entry: AccessEntry, style: Style): string {
  const { time, status, method, host, path, ms, held_ms, retries, ingress, replica, client, request_id } = entry;
  const notes = [
    `${ms} ms`,
    held_ms > 0 ? `held ${held_ms} ms` : "",
    retries > 0 ? `${retries} retries` : "",
    replica === undefined ? ingress : `${ingress}.${replica}`,
    client,
    request_id,
  ];
  const words = [timeText(time), statusText(status, style), method, `${host}${path}`, ...notes.filter(Boolean)];
  return words.map((word, index) => (index === 1 ? word : printable(word))).join("  ");
}

function statusText(status: number | undefined, style: Style): string {
  if (status === undefined) return style.yellow("---");
  if (status >= 500) return style.red(String(status));
  return status >= 400 ? style.yellow(String(status)) : String(status);
}
