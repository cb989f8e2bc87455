import { placeOf } from "../source.ts";
import { type Parsed, placeIn } from "./parse.ts";
import type { Lose } from "./lose.ts";

/** A difference between the Compose file and the manifests. */
export interface Difference {
  place: string;
  /** That of the file: `services.web.ports[0]`. */
  path: string;
  message: string;
  /** Good to know, or to be changed by hand. */
  level: "note" | "change";
}

/** Collects differences; `read` has them in the order of the files. */
export function report(): { lose: Lose; read(files: readonly Parsed[]): Difference[] } {
  const found: { path: string; message: string; level: Difference["level"] }[] = [];
  return {
    lose: (path, message, level) => found.push({ path, message, level: level ?? "change" }),
    read: (files) => {
      const placed = found.map((one) => ({ ...one, ...placeIn(files, one.path) }));
      const order = files.map(({ source }) => source);
      placed.sort((a, b) => {
        const [one, other] = [a, b].map(({ source }) => (source === undefined ? -1 : order.indexOf(source)));
        return (one ?? 0) - (other ?? 0) || (a.start ?? 0) - (b.start ?? 0);
      });
      return placed.map(({ path, message, level, source, start = 0 }) => {
        return { place: source === undefined ? "" : placeOf({ source, start, end: start }), path, message, level };
      });
    },
  };
}

/** One line for each kind of difference: the first place, and what else is of that kind. Changes by hand come first. */
export function groupedLines(differences: readonly Difference[]): string[] {
  const groups = Map.groupBy(differences, kindOf);
  const lines = [...groups.values()].map((group) => {
    const [{ place, path, message, level }] = group as [Difference];
    return { level, line: `${place}: ${path}${othersOf(group)}: ${message}` };
  });
  return [
    ...lines.filter(({ level }) => level === "change").map(({ line }) => line),
    ...lines.filter(({ level }) => level === "note").map(({ line }) => `note: ${line}`),
  ];
}

/** More names of one kind are a number. */
const namesShownMax = 5;

/** The others of a kind, by what their texts quote, or else by their paths. */
function othersOf(group: readonly Difference[]): string {
  const names = [...new Set(group.map(({ path, message: text }) => /"[^"]*"/.exec(text)?.[0] ?? path))];
  const shown = names.slice(1, namesShownMax + 1);
  const rest = group.length - 1 - shown.length;
  if (rest > 0) shown.push(`${rest} more`);
  const last = shown.pop();
  return last === undefined ? "" : ` (and ${[...shown, last].join(", ")})`;
}

/** Texts that differ only in what they quote are of one kind. */
function kindOf({ level, message: text }: Difference): string {
  return `${level} ${text.replaceAll(/"[^"]*"/g, '""')}`;
}
