import { Lexer } from "yaml";
import type { Entry, ManifestFile } from "../entry.ts";
import { readTokens } from "../hcl/lexer.ts";

/** The comments of one manifest, by the path of what they stand at; each is given out once. */
export interface Comments {
  /** Lines above it. */
  above(path: string): string[];
  /** Behind it, on its line. */
  behind(path: string): string | undefined;
  /** Whether something inside of it has comments; `start` is its path with the dot or bracket behind it. */
  inside(start: string): boolean;
  /** What was not asked for. */
  rest(): string[];
}

interface Found {
  text: string;
  start: number;
  end: number;
}

/** The comments of a manifest without any. */
export const noComments: Comments = {
  above: () => [],
  behind: () => undefined,
  inside: () => false,
  rest: () => [],
};

interface FileComments {
  /** In the order of the entries. */
  of: Comments[];
  /** Below the last manifest. */
  foot: string[];
}

/** The comments of a file, each at the manifest and the path that it stands at or above. */
export function commentsOf(file: ManifestFile, entries: readonly Entry[]): FileComments {
  const places = entries.flatMap(({ places }, entry) => {
    return [...places].map(([path, { key, value }]): Place => {
      return { entry, path, start: key?.start ?? value.start, end: value.end };
    });
  });
  // What begins in one place: the outermost first.
  places.sort((a, b) => a.start - b.start || a.path.length - b.path.length);
  const stores = entries.map(() => createStore());
  const foot: string[] = [];
  for (const comment of file.format === "hcl" ? hclComments(file) : yamlComments(file)) {
    const behind = placeBefore(comment, places, file.text);
    const index = firstFrom(places, comment.end);
    const next = places[index];
    const before = places[index - 1];
    const isLast = next === undefined || next.entry !== before?.entry;
    const ends = behind === undefined && before !== undefined && isLast && isInside(comment, entries[before.entry]);
    const place = behind ?? (ends ? { entry: before.entry, path: endPath } : next);
    const lines = linesOf(comment.text);
    if (place === undefined) foot.push(...lines);
    else stores[place.entry]?.add(place.path, lines, behind !== undefined);
  }
  return { of: stores.map(({ comments }) => comments), foot };
}

/** Where comments are that stand below the last field of a manifest, and still in it. */
export const endPath = "end";

/** By its indentation in YAML, by the brace behind it in HCL. */
function isInside({ start }: Found, entry: Entry | undefined): boolean {
  const span = entry?.places.get("")?.value;
  if (span === undefined) return false;
  if (entry?.file.format === "hcl") return start < span.end;
  return /[^\n]/.test(span.source.text[start - 1] ?? "\n");
}

interface Place {
  entry: number;
  path: string;
  start: number;
  end: number;
}

/** Index of the first place that begins at an offset or behind it. */
function firstFrom(places: readonly Place[], offset: number): number {
  let [low, high] = [0, places.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((places[middle]?.start ?? 0) < offset) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** What begins before a comment on its line: the first that also ends there, else the first. */
function placeBefore({ start }: Found, places: readonly Place[], text: string): Place | undefined {
  const lineStart = text.lastIndexOf("\n", start - 1) + 1;
  const onLine = places.slice(firstFrom(places, lineStart), firstFrom(places, start));
  return onLine.find((place) => text.slice(place.start, place.end).trimEnd().indexOf("\n") === -1) ?? onLine[0];
}

function hclComments(file: ManifestFile): Found[] {
  return readTokens(file, []).filter(({ kind }) => kind === "comment");
}

/** What the lexer of YAML says between its tokens; none of these characters are in the text. */
const [documentMark, flowEnd, scalarMark] = ["\u0002", "\u0018", "\u001F"];

function yamlComments({ text }: ManifestFile): Found[] {
  const found: Found[] = [];
  let start = 0;
  let isScalar = false;
  for (const token of new Lexer().lex(text)) {
    if (!isScalar && (token === documentMark || token === flowEnd)) continue;
    if (!isScalar && token === scalarMark) {
      isScalar = true;
      continue;
    }
    const end = start + token.length;
    if (!isScalar && token.startsWith("#")) found.push({ text: token, start, end });
    isScalar = false;
    start = end;
  }
  return found;
}

/** The words of a comment, without its marks. */
function linesOf(written: string): string[] {
  if (written.startsWith("/*")) {
    const lines = written.slice(2, -2).trim().split("\n");
    return lines.map((line) => line.replace(/^\s*\*? ?/, "").trimEnd());
  }
  return [written.replace(/^(?:#|\/\/) ?/, "").trimEnd()];
}

function createStore() {
  const above = new Map<string, string[]>();
  const behind = new Map<string, string>();
  /** All beginnings of the paths with comments, up to a dot or a bracket. */
  const starts = new Set<string>();
  const add = (path: string, lines: string[], isBehind: boolean) => {
    for (const { index } of path.matchAll(/[.[]/g)) starts.add(path.slice(0, index + 1));
    const [line = ""] = lines;
    if (isBehind && lines.length === 1 && !behind.has(path)) behind.set(path, line);
    else above.set(path, [...(above.get(path) ?? []), ...lines]);
  };
  const taken = <Value>(from: Map<string, Value>, path: string): Value | undefined => {
    const value = from.get(path);
    from.delete(path);
    return value;
  };
  const comments: Comments = {
    above: (path) => taken(above, path) ?? [],
    behind: (path) => taken(behind, path),
    inside: (start) => starts.has(start),
    rest: () => [...above.values(), ...behind.values()].flat(),
  };
  return { add, comments };
}
