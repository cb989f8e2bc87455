import { parseDuration } from "../../../base/pure/duration.ts";
import { type Fields, textOf } from "./lenient.ts";

/** One value of the decoded form of a block: how it is read from what is stored, and what of it the spec hash is taken over. */
export interface Row<T> {
  /** The field that it is read from; undefined: from several, or a part of one. */
  field?: string;
  read: (block: Fields) => T;
  /** Its name in the hash input; undefined: `hash` gives several by their names. */
  as: string | undefined;
  /** Undefined and what is empty are left out. */
  hash: (value: T, block: Fields) => unknown;
}

/** Rows by the names of the decoded form. */
type Rows = Readonly<
  Record<
    string,
    { read: (block: Fields) => unknown; as: string | undefined; hash: (value: never, block: Fields) => unknown }
  >
>;

export type Decoded<R extends Rows> = { [K in keyof R]: ReturnType<R[K]["read"]> };

/** `count` says what of a value is hashed, and under which name, where it is neither the value nor the name of the field. */
export function field<T>(
  name: string,
  read: (written: unknown) => T,
  count: { value?: (value: T, written: unknown) => unknown; as?: string } = {},
): Row<T> & { field: string } {
  const { value: counted = (value) => value, as = name } = count;
  return { field: name, read: (block) => read(block[name]), as, hash: (value, block) => counted(value, block[name]) };
}

/** A value that no container is made from: it is not hashed. */
export function uncounted<T>(read: (block: Fields) => T): Row<T> {
  return { read, as: undefined, hash: () => undefined };
}

export function decoderOf<R extends Rows>(rows: R): (block: Fields) => Decoded<R> {
  const entries = Object.entries(rows).map(([name, { read }]) => ({ name, read }));
  return (block) => {
    const decoded: Record<string, unknown> = {};
    for (const entry of entries) decoded[entry.name] = entry.read(block);
    return decoded as Decoded<R>;
  };
}

/** The part of the hash input that the rows make: see `hashInput`. */
export function hasherOf<R extends Rows>(rows: R): (decoded: Decoded<R>, block: Fields) => Fields {
  const entries = Object.entries(rows).map(([name, { as, hash }]) => ({ name, as, hash }));
  return (decoded, block) => {
    const input: Record<string, unknown> = {};
    for (const { name, as, hash } of entries) {
      const counted = hash(decoded[name] as never, block);
      if (isEmpty(counted)) continue;
      if (as === undefined) Object.assign(input, dropEmpty(counted as Fields));
      else input[as] = counted;
    }
    return input;
  };
}

/** Milliseconds; the text where it is not a duration. */
export function durationInput(fallbackMs: number, ms: number, written: unknown): number | string | undefined {
  if (ms !== fallbackMs) return ms;
  const text = textOf(written);
  return text === undefined || parseDuration(text) !== undefined ? undefined : text;
}

export function unless<V>(fallback: V, value: V | undefined): V | undefined {
  return value === fallback ? undefined : value;
}

export function sortedSet(words: readonly string[]): string[] {
  return [...new Set(words)].sort();
}

export function dropEmpty(fields: Fields): Fields {
  const kept: Record<string, unknown> = {};
  for (const name of Object.keys(fields)) if (!isEmpty(fields[name])) kept[name] = fields[name];
  return kept;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}
