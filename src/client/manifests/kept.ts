/**
 * Marks for tools that write a manifest in another language: what a reader would replace stays in the values, between
 * characters for private use. Every writer takes them out again with `partsOf`.
 */
const [open, close, bareMark, fileMark] = ["\uE000", "\uE001", "\uE002", "\uE003"];

/** The text that stands for `${inner}`. */
export function keptReference(inner: string): string {
  return open + inner + close;
}

/** Like `keptReference`, for a `${inner}` without quotes, which may be a number. */
export function keptBare(text: string): string {
  return text.startsWith(open) ? bareMark + text : text;
}

/** The text that stands for a file to be embedded. */
export function keptFile(path: string): string {
  return fileMark + path;
}

/** The path of a file to be embedded; undefined for any other value. */
export function fileOf(value: unknown): string | undefined {
  return typeof value === "string" && value.startsWith(fileMark) ? value.slice(1) : undefined;
}

/** Characters, or a reference as it is written between its braces. */
export type KeptPart = { type: "characters"; text: string } | { type: "reference"; inner: string };

interface KeptText {
  parts: KeptPart[];
  /** One reference without quotes. */
  bare: boolean;
}

export function partsOf(text: string): KeptText {
  const bare = text.startsWith(bareMark);
  const parts: KeptPart[] = [];
  const written = bare ? text.slice(1) : text;
  let from = 0;
  for (const found of written.matchAll(references)) {
    if (found.index > from) parts.push({ type: "characters", text: written.slice(from, found.index) });
    parts.push({ type: "reference", inner: found[1] ?? "" });
    from = found.index + found[0].length;
  }
  if (from < written.length) parts.push({ type: "characters", text: written.slice(from) });
  return { parts, bare };
}

const references = /\uE000([^\uE000\uE001]*)\uE001/g;

export function hasMarks(text: string): boolean {
  return /[\uE000-\uE003]/.test(text);
}
