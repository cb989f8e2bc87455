/** A value that never prints: logs, JSON and inspection show `redacted`. `reveal` is the only way to it. */
export interface Secret<T = string> {
  reveal(): T;
  toString(): string;
  toJSON(): string;
}

export const redacted = "[redacted]";

export function secret<T>(value: T): Secret<T> {
  const print = () => redacted;
  const hidden = { reveal: () => value, toString: print, toJSON: print };
  Object.defineProperty(hidden, Symbol.for("nodejs.util.inspect.custom"), { value: print });
  return Object.freeze(hidden);
}
