import { levelNamed } from "./level-scales.ts";
import type { Level } from "./line.ts";

/** Words in capitals that are a level. The short ones only behind a time, as zerolog and Serilog write them. */
const capitals = new Set(
  "TRACE DEBUG INFO NOTICE WARN WARNING ERROR ERR SEVERE CRIT CRITICAL ALERT EMERG EMERGENCY FATAL PANIC SUCCESS LOG".split(
    " ",
  ),
);
const short = new Set("TRC DBG INF WRN FTL PNC VRB".split(" "));
const [shortest, longest] = [3, 9];

/** `[error]`, `[Note]` of MariaDB, and `[core:error]` of Apache. */
const bracketed = /\[(?:[\w.]+:)?([A-Za-z]+)\]/y;
const notInBrackets = new Set("log config fine finer finest http success all fail note LOG CONFIG ALL".split(" "));
/** `level=warn` within other text. */
const pair = /\b(?:level|lvl|severity|loglevel)=["']?([A-Za-z]+(?:[+-]\d+)?)/y;
const pairNames = ["level", "lvl", "severity"];

const [bracket, equals] = [0x5b, 0x3d];

/** The level by the first word that names one: in capitals, in brackets, or behind `level=`. */
export function levelOfWords(head: string): Level {
  for (let at = 0; at < head.length; at++) {
    const code = head.charCodeAt(at);
    let level: Level | undefined;
    if (isCapital(code)) {
      const end = endOfWord(head, at);
      level = ofCapitals(head, at, end);
      at = end - 1;
    } else if (code === bracket) level = ofBrackets(head, at);
    else if (code === equals) level = ofPair(head, at);
    else if (isWordPart(code)) at = endOfWord(head, at) - 1;
    if (level !== undefined) return level;
  }
  return "none";
}

function isCapital(code: number): boolean {
  return code >= 0x41 && code <= 0x5a;
}

function isWordPart(code: number): boolean {
  return isCapital(code) || (code >= 0x61 && code <= 0x7a) || (code >= 0x30 && code <= 0x39) || code === 0x5f;
}

function endOfWord(head: string, from: number): number {
  let end = from;
  while (end < head.length && isWordPart(head.charCodeAt(end))) end += 1;
  return end;
}

/** A word in capitals, where its neighbours do not make it a part of a path, a name or a quotation. */
function ofCapitals(head: string, at: number, end: number): Level | undefined {
  if (end - at < shortest || end - at > longest || !isCapital(head.charCodeAt(at + 1))) return undefined;
  const name = head.slice(at, end);
  const isShort = short.has(name);
  if (!isShort && !capitals.has(name)) return undefined;
  const before = head.charAt(at - 1);
  const behind = head.charAt(end);
  // Monolog writes the channel in front: `app.ERROR: `.
  if (before === "." ? behind !== ":" : before !== "" && "/\"'=-$@\\".includes(before)) return undefined;
  if (behind !== "" && "\"'=.\\".includes(behind)) return undefined;
  if (name === "LOG" && behind !== ":") return undefined;
  if (name === "SUCCESS" && !/^\s+\|/.test(head.slice(end))) return undefined;
  return isShort && !/^\[?\d/.test(head) ? undefined : levelNamed(name);
}

function ofBrackets(head: string, at: number): Level | undefined {
  bracketed.lastIndex = at;
  const name = bracketed.exec(head)?.[1];
  return name === undefined || notInBrackets.has(name) ? undefined : levelNamed(name);
}

function ofPair(head: string, equalsAt: number): Level | undefined {
  const name = pairNames.find((one) => head.endsWith(one, equalsAt));
  if (name === undefined) return undefined;
  const from = head.endsWith("loglevel", equalsAt) ? equalsAt - "loglevel".length : equalsAt - name.length;
  if (from > 0 && !/\s/.test(head.charAt(from - 1))) return undefined;
  pair.lastIndex = from;
  const value = pair.exec(head)?.[1];
  return value === undefined ? undefined : levelNamed(value);
}
