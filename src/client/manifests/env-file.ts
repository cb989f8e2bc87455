import type { Fault, Source } from "./source.ts";

/**
 * Variables of an env file: `KEY=VALUE` a line, `#` comments, an optional `export`. Single quotes keep everything;
 * double quotes know `\n`, `\t`, `\"`, `\\`; an unquoted value ends before ` #` and is trimmed.
 */
export function readEnvFile(source: Source, faults: Fault[]): Record<string, string> {
  const variables: [string, string][] = [];
  let start = 0;
  for (const line of source.text.split("\n")) {
    const problem = readLine(line.replace(/\r$/, ""), variables);
    if (problem !== undefined) faults.push({ span: lineSpan(source, start, line), message: problem });
    start += line.length + 1;
  }
  return Object.fromEntries(variables);
}

function readLine(line: string, variables: [string, string][]): string | undefined {
  if (/^\s*(?:#.*)?$/.test(line)) return undefined;
  const [, key, written] = /^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=\s*(.*)$/.exec(line) ?? [];
  if (key === undefined || written === undefined) return "not a variable: write KEY=VALUE";
  const value = readValue(written);
  if (value === undefined) return `the quote in the value of ${key} is not closed`;
  variables.push([key, value]);
  return undefined;
}

function readValue(written: string): string | undefined {
  const single = /^'([^']*)'\s*(?:#.*)?$/.exec(written);
  if (single) return single[1];
  const double = /^"((?:[^"\\]|\\.)*)"\s*(?:#.*)?$/.exec(written);
  if (double) return double[1]?.replace(/\\(.)/g, (_, character: string) => escapes[character] ?? `\\${character}`);
  if (/^['"]/.test(written)) return undefined;
  return written.replace(/(?:^|\s+)#.*$/, "").trimEnd();
}

const escapes: Record<string, string> = { n: "\n", t: "\t", r: "\r", '"': '"', "\\": "\\", $: "$" };

function lineSpan(source: Source, start: number, line: string) {
  const indent = line.length - line.trimStart().length;
  return { source, start: start + indent, end: start + line.trimEnd().length };
}
