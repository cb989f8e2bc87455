import { type Parsed, parsed, unreadable } from "../../base/pure/parsed.ts";
import { didYouMean } from "../../base/pure/suggest.ts";

export interface Ulimit {
  name: string;
  /** -1: no limit. */
  soft: number;
  hard: number;
}

const names = [
  ...["core", "cpu", "data", "fsize", "locks", "memlock", "msgqueue", "nice"],
  ...["nofile", "nproc", "rss", "rtprio", "rttime", "sigpending", "stack"],
];

/** `soft[:hard]`; -1 or `unlimited` lifts a limit. */
export function parseUlimit(name: string, text: string): Parsed<Ulimit> {
  if (!names.includes(name)) return unreadable(`"${name}" is not a limit${didYouMean(name, names)}`);
  const [softText, hardText = softText, ...more] = text.split(":");
  const soft = readLimit(softText);
  const hard = readLimit(hardText);
  if (soft === undefined || hard === undefined || more.length > 0) {
    return unreadable(`"${text}" is not a limit; write "65536" or "1024:65536"`);
  }
  if (hard !== -1 && (soft > hard || soft === -1)) {
    return unreadable(`"${text}" has a soft limit above the hard one`);
  }
  return parsed({ name, soft, hard });
}

function readLimit(text: string | undefined): number | undefined {
  if (text === "-1" || text === "unlimited") return -1;
  if (text === undefined || !/^\d{1,15}$/.test(text)) return undefined;
  return Number(text);
}
