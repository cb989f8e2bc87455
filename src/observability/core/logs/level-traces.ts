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
export function levelOfTrace(head: string): Level | undefined {
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
