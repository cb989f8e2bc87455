import { levelNamed, levelNumbered } from "./level-scales.ts";
import { levelOfWords } from "./level-words.ts";
import type { Level } from "./line.ts";

/** How the trace of an error begins that no logger has written: of Python, Java and its kin, .NET, Node, Go, PHP, Rust, Elixir. */
const trace = new RegExp(
  [
    String.raw`Traceback \(most recent call last\)`,
    String.raw`\s+\+ Exception Group Traceback`,
    'Exception in thread "',
    "Unhandled exception[.:]",
    String.raw`(?:[A-Za-z_][\w$]*\.)+[A-Z][\w$]*(?:Exception|Error|Throwable)(?:: |$)`,
    String.raw`(?:Uncaught )?(?:[A-Z]\w*)?(?:Error|Exception)(?: \[\w+\])?: `,
    String.raw`Uncaught\b`,
    String.raw`node:[\w/]+:\d+$`,
    String.raw`\(node:\d+\) Unhandled`,
    String.raw`\[Unhandled`,
    "panic: ",
    String.raw`goroutine \d+ \[`,
    "fatal error: ",
    "(?:PHP )?(?:Fatal|Parse|Recoverable fatal|Catchable fatal) error: ",
    String.raw`thread '[^']*'(?: \(\d+\))? panicked at `,
    String.raw`\*\* \([A-Z][\w.]*\) `,
  ]
    .map((one) => `^${one}`)
    .join("|"),
);
/** Node and Ruby begin with the place of the error; a server in Go with the time. */
const atPlace = /^\S+\.[cm]?[jt]sx?:\d+$|^\S+\.rb:\d+:in ['`]/;
const served = /^(?:\S+ \S+ )?http: panic serving /;
/** What PHP and Node warn of, without a logger. */
const warning = /^(?:PHP )?(?:Warning|Notice|Deprecated|Strict Standards): |^\(node:\d+\) (?:\[\w+\] )?\w*Warning: /;

/** The level of a line that the runtime of a language wrote of itself: the first line of a trace, or a warning. */
function levelOfTrace(head: string): Level | undefined {
  if (head.includes("http: panic") && served.test(head)) return "error";
  const first = head.charCodeAt(0);
  // Behind a time it is a logger that tells of an error.
  if (first >= 0x30 && first <= 0x39) return undefined;
  if (trace.test(head)) return "error";
  const isPlace = head.includes("s:") || head.includes("sx:") || head.includes(".rb:");
  if (isPlace && atPlace.test(head)) return "error";
  const warned = warning.exec(head)?.[0];
  if (warned === undefined) return undefined;
  return warned.includes("Notice") ? "info" : "warn";
}

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
