import type { DrainTarget } from "../../api/log-drains.ts";
import type { FoundLine } from "../logs/line.ts";
import { jsonLine, syslogFrame } from "./formats.ts";

/** Lines with what is sent of each. */
export interface Batch {
  lines: readonly FoundLine[];
  texts: readonly string[];
}

/** The first lines of a page that fit into one sending, at least one: as many bytes as they are sent as. */
export function batchOf(
  lines: readonly FoundLine[],
  { target, hostname, bytesMax }: { target: DrainTarget; hostname: string; bytesMax: number },
): Batch {
  const texts: string[] = [];
  let bytes = 0;
  for (const line of lines) {
    const text = target.type === "syslog" ? syslogFrame(line, hostname) : jsonLine(line, hostname);
    bytes += Buffer.byteLength(text);
    if (bytes > bytesMax && texts.length > 0) break;
    texts.push(text);
  }
  return { lines: lines.slice(0, texts.length), texts };
}

/** Why a batch was not taken. */
export interface Declined {
  /**
   * `content`: these lines, or one of them, are the reason. `size`: there are too many of them. `cut`: the connection
   * broke, for whatever reason. `trouble`: anything else, which waiting or an operator fixes.
   */
  why: "content" | "size" | "cut" | "trouble";
  text: string;
  /** How long the other side asks to wait. */
  waitMs?: number | undefined;
}

const hints: Readonly<Record<number, string>> = {
  401: "check the password or token of the drain",
  403: "check the password or token of the drain, and what it may write",
  404: "check the address of the drain",
  405: "check the address of the drain",
};

/** What a status says about a batch. Storage of objects looks at no line, so its 400 is about the drain. */
export function declinedBy(status: number, type: DrainTarget["type"], text: string): Declined {
  if (status === 413) return { why: "size", text };
  if ((status === 400 || status === 422) && type === "http") return { why: "content", text };
  const hint = hints[status];
  return { why: "trouble", text: hint === undefined ? text : `${text}: ${hint}` };
}

/** How many lines the next batch may have, from what became of the last ones. */
export interface Pace {
  linesMax: number;
  /** What the number of lines is multiplied with after each batch that was taken. */
  growth: number;
  /** Connections in a row that broke. */
  cuts: number;
}

/** A connection that breaks as often may break because of what it carries. */
const cutsMax = 3;
const growthAfterContent = 2;
/** Slower: the limit of the other side is where it is. */
const growthAfterSize = 1.125;

export function paceAfterTaken(pace: Pace, mostLines: number): Pace {
  return { ...pace, linesMax: Math.min(mostLines, Math.ceil(pace.linesMax * pace.growth)), cuts: 0 };
}

/** What to do about a batch that was not taken: send half of it, set its only line aside, or wait. */
export function paceAfterDeclined(
  pace: Pace,
  why: Declined["why"],
  lines: number,
): { pace: Pace; next: "half" | "aside" | "wait" } {
  if (why === "trouble") return { pace, next: "wait" };
  const cuts = why === "cut" ? pace.cuts + 1 : pace.cuts;
  if (why === "cut" && cuts < cutsMax) return { pace: { ...pace, cuts }, next: "wait" };
  const growth = why === "size" ? growthAfterSize : growthAfterContent;
  if (lines <= 1) return { pace: { linesMax: 1, growth, cuts }, next: "aside" };
  return { pace: { linesMax: Math.floor(lines / 2), growth, cuts }, next: "half" };
}
