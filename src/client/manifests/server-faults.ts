import type { ErrorProblem } from "../../base/wire/envelope.ts";
import type { Entry } from "./entry.ts";
import type { Fault, Span } from "./source.ts";

interface ServerFaults {
  faults: Fault[];
  /** Problems that are in no file of the operator. */
  rest: string[];
}

/** Splits the problems of a refusal into faults with a place in the operator's files, and texts of those without one. */
export function serverFaults(problems: readonly ErrorProblem[], entries: readonly Entry[]): ServerFaults {
  const result: ServerFaults = { faults: [], rest: [] };
  for (const problem of problems) {
    const entry = problem.manifest === undefined ? undefined : entries[problem.manifest - 1];
    if (entry === undefined) result.rest.push(textOf(problem));
    else result.faults.push({ span: nearest(entry, problem), message: textOf(problem) });
  }
  // Read from top to bottom of each file; the server lists them by how it checks.
  const order = entries.map((entry) => entry.file.name);
  const rank = ({ span }: Fault) => order.indexOf(span.source.name);
  result.faults.sort((a, b) => rank(a) - rank(b) || a.span.start - b.span.start);
  return result;
}

function textOf({ within = [], path, message }: ErrorProblem): string {
  return [...within, ...(path === "" ? [] : [path]), message].join(": ");
}

/** The place of a problem's path, or of the closest one around it that the file has. */
function nearest(entry: Entry, { path, within = [], reason }: ErrorProblem): Span {
  // A path inside what a plugin made is in no file.
  for (let current = within.length > 0 ? "" : path; ; current = parent(current)) {
    const place = entry.places.get(current);
    if (current === "") return firstWord(place?.key ?? place?.value ?? { source: entry.file, start: 0, end: 0 });
    if (place === undefined) continue;
    const scalar = current === path && !isBlock(place.value) && reason !== "UnknownField";
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
