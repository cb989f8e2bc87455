import type { Entry } from "./document.ts";
import type { Fault, Span } from "./source.ts";

interface ServerFaults {
  faults: Fault[];
  /** Lines that name no place. */
  rest: string[];
}

/** Splits the text of a 400 into faults with a place in the operator's files, and the lines that have none. */
export function serverFaults(message: string, entries: readonly Entry[]): ServerFaults {
  const result: ServerFaults = { faults: [], rest: [] };
  for (const line of message.split("\n")) {
    const fault = locate(line, entries);
    if (fault === undefined) result.rest.push(line);
    else result.faults.push(fault);
  }
  // Read from top to bottom of each file; the server lists them by how it checks.
  const order = entries.map((entry) => entry.file.name);
  const rank = ({ span }: Fault) => order.indexOf(span.source.name);
  result.faults.sort((a, b) => rank(a) - rank(b) || a.span.start - b.span.start);
  return result;
}

/** With one manifest the server leaves its number out: a line then counts when it starts with a path. */
function locate(line: string, entries: readonly Entry[]): Fault | undefined {
  const [, number, numbered] = /^manifest (\d+): (.*)$/.exec(line) ?? [];
  const text = numbered ?? line;
  const [, path] = /^((?:kind|scope|name|spec|metadata)(?:[.[][^\s:]*)?|[^\s:]+(?=: unknown field)): /.exec(text) ?? [];
  const entry = numbered === undefined ? (path === undefined ? undefined : only(entries)) : entries[Number(number) - 1];
  return entry === undefined ? undefined : { span: nearest(entry, path ?? "", text), message: text };
}

function only<T>(list: readonly T[]): T | undefined {
  return list.length === 1 ? list[0] : undefined;
}

/** The place of a path, or of the closest one around it that the file has. */
function nearest(entry: Entry, path: string, text: string): Span {
  for (let current = path; ; current = parent(current)) {
    const place = entry.places.get(current);
    if (current === "") return firstWord(place?.key ?? place?.value ?? { source: entry.file, start: 0, end: 0 });
    if (place === undefined) continue;
    const scalar = current === path && !isBlock(place.value) && !text.includes("unknown field");
    return scalar ? place.value : (place.key ?? firstWord(place.value));
  }
}

function parent(path: string): string {
  return path.replace(/(?:^|\.)[^.[\]]+$|\[\d+\]$|.$/, "");
}

function isBlock(span: Span): boolean {
  return span.source.text.slice(span.start, span.end).trimEnd().includes("\n");
}

function firstWord(span: Span): Span {
  const word = /^[^\s:]*/.exec(span.source.text.slice(span.start, span.end))?.[0] ?? "";
  return { ...span, end: span.start + Math.max(1, word.length) };
}
