import type { Fault, Source } from "./source.ts";

/**
 * Variables of an env file: `KEY=VALUE` a line, `#` comments, an optional `export`. A key may have dots and dashes, as in
 * manifests. Single quotes keep everything; double quotes know `\n`, `\r`, `\t`, `\"`, `\$`, `\\`; a quoted value may have
 * several lines. An unquoted value ends before ` #` and is trimmed. It may begin with `#`, as in a shell and in Docker:
 * passwords do.
 */
export function readEnvFile(source: Source, faults: Fault[]): Record<string, string> {
  const variables: [string, string][] = [];
  const { text } = source;
  for (let start = 0; start <= text.length;) {
    const end = endOfLine(text, start);
    const line = text.slice(start, end).replace(/\r$/, "");
    const read = readEntry(text, start, line);
    if (read?.problem !== undefined) faults.push({ span: lineSpan(source, start, line), message: read.problem });
    if (read?.variable !== undefined) variables.push(read.variable);
    start = (read?.end ?? end) + 1;
  }
  return Object.fromEntries(variables);
}

/** `end`: where the last line of the value ends, if not with the first. */
interface Entry {
  variable?: [key: string, value: string];
  problem?: string;
  end?: number;
}

function readEntry(text: string, start: number, line: string): Entry | undefined {
  if (/^\s*(?:#.*)?$/s.test(line)) return undefined;
  const [head, key] = /^\s*(?:export\s+)?([A-Za-z_][\w.-]*)\s*=\s*/.exec(line) ?? [];
  if (head === undefined || key === undefined) return { problem: "not a variable: write KEY=VALUE" };
  const written = line.slice(head.length);
  // `KEY= #comment` and `KEY=# comment` have no value, `KEY=#1a2b` has one.
  if (/^#(?:\s|$)/.test(written) || /\s#$/.test(head + written.charAt(0))) return { variable: [key, ""] };
  const comment = written.search(/\s#/);
  if (!/^['"]/.test(written)) {
    return { variable: [key, written.slice(0, comment === -1 ? undefined : comment).trimEnd()] };
  }
  return readQuoted(text, start + head.length, key);
}

function readQuoted(text: string, open: number, key: string): Entry {
  const quote = text.charAt(open);
  const close = closingQuote(text, open);
  if (close === -1) return { problem: `the quote in the value of ${key} is not closed` };
  const end = endOfLine(text, close);
  if (!/^\s*(?:#.*)?$/s.test(text.slice(close + 1, end))) {
    return { problem: `the value of ${key} goes on after its closing quote: write \\" inside of double quotes` };
  }
  const written = text.slice(open + 1, close).replaceAll("\r\n", "\n");
  return { variable: [key, quote === "'" ? written : unescaped(written)], end };
}

/** -1 where none follows. */
function closingQuote(text: string, open: number): number {
  const quote = text.charAt(open);
  if (quote === "'") return text.indexOf(quote, open + 1);
  for (let at = open + 1; at < text.length; at += 1) {
    if (text[at] === quote) return at;
    if (text[at] === "\\") at += 1;
  }
  return -1;
}

function unescaped(written: string): string {
  return written.replace(/\\(.)/gs, (_, character: string) => escapes[character] ?? `\\${character}`);
}

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", '"': '"', "\\": "\\", $: "$" };

function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  return end === -1 ? text.length : end;
}

function lineSpan(source: Source, start: number, line: string) {
  const indent = line.length - line.trimStart().length;
  return { source, start: start + indent, end: start + line.trimEnd().length };
}
