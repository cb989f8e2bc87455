import { levelNamed, levelNumbered } from "./level-scales.ts";
import { levelOfTrace } from "./level-traces.ts";
import { levelOfWords } from "./level-words.ts";
import type { Level } from "./line.ts";

/** A level is looked for in this much of a line: a text further on speaks of something else. */
const headCharacters = 160;
/** In `key=value` pairs a level has a name, wherever it stands. */
const pairCharacters = 2_048;

const color = /\x1b\[[\d;]*m/g;
/** klog and glog: `E0131 13:05:00.000000`. */
const klog = /^([IWEF])\d{4} \d{2}:\d{2}:/;
/** syslog and the kernel: `<3>`. */
const priority = /^<(\d{1,3})>/;
/** Redis marks its lines: `1:M 31 Jan 2026 13:05:00.123 # text`. */
const redis = /^\d+:[XCSM] \d{1,2} \w{3} (?:\d{4} )?[\d:.]+ ([.*#-]) /;
const redisLevels: Record<string, Level> = { ".": "debug", "-": "debug", "*": "info", "#": "warn" };

/** A first or second word in front of a colon, as of command-line programs and the console of .NET. */
const prefix = /^(?:\S+ )?([A-Za-z]+): /;
/** Names that are a level only where they stand first, as .NET (`fail: `), Java (`FINE: `) and PostgreSQL write them. */
const onlyFirst = /^(?:fail|FINE|FINER|FINEST|CONFIG|LOG)$/;
/** Names of levels that are mostly the name of something else. */
const seldom = /^(?:log|config|fine|finer|finest|http|success|all|fail|note)$/i;

const pairs = /(?:^|[\s,])([A-Za-z_@][\w.@-]*)=(?:"((?:[^"\\]|\\.)*)"|([^\s",]*))/g;
const isPair = /^[A-Za-z_@][\w.@-]*=/;
const levelKey = /^(?:@?level|lvl|severity|log[._]?level|level_?name|at)$/i;
const quotedText = /"(?:[^"\\]|\\.)*"/g;

/** The level of a line that is not JSON: by the form of known loggers, or a word near its beginning. */
export function levelOfText(text: string): Level {
  const cut = text.length > headCharacters ? text.slice(0, headCharacters) : text;
  const head = cut.includes("\x1b") ? cut.replaceAll(color, "") : cut;
  const isTimed = isDigit(head.charCodeAt(0));
  const byForm = isTimed ? redisLevels[redis.exec(head)?.[1] ?? ""] : ofForm(head);
  if (byForm !== undefined) return byForm;
  if (!isTimed && isPair.test(head))
    return ofPairs(text.slice(0, pairCharacters)) ?? levelOfWords(head.replaceAll(quotedText, '""'));
  return levelOfTrace(head) ?? (head.includes(": ") ? ofPrefix(head) : undefined) ?? levelOfWords(head);
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}

function ofForm(head: string): Level | undefined {
  if (head.startsWith("<")) {
    const code = priority.exec(head)?.[1];
    return code === undefined || Number(code) > 191 ? undefined : levelNumbered(Number(code) % 8, "syslog");
  }
  if (!isDigit(head.charCodeAt(1))) return undefined;
  const letter = klog.exec(head)?.[1];
  if (letter === undefined) return undefined;
  return letter === "I" ? "info" : letter === "W" ? "warn" : letter === "E" ? "error" : "fatal";
}

function ofPairs(text: string): Level | undefined {
  for (const [, key = "", quoted, plain] of text.matchAll(pairs)) {
    const level = levelKey.test(key) ? levelNamed(quoted ?? plain ?? "") : undefined;
    if (level !== undefined) return level;
  }
  return undefined;
}

function ofPrefix(head: string): Level | undefined {
  const name = prefix.exec(head)?.[1];
  if (name === undefined) return undefined;
  const isMeant = !seldom.test(name) || (head.startsWith(`${name}: `) && onlyFirst.test(name));
  return isMeant ? levelNamed(name) : undefined;
}
