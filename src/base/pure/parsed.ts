/** Outcome of reading a text: the value, or what is wrong with the text (lower case, names the way out). */
export type Parsed<T> = { ok: true; value: T } | { ok: false; error: string };

export function parsed<T>(value: T): Parsed<T> {
  return { ok: true, value };
}

export function unreadable(error: string): { ok: false; error: string } {
  return { ok: false, error };
}
