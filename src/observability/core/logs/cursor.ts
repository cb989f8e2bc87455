import { Failure } from "../../../base/wire/failure.ts";

export type Order = "asc" | "desc";

/**
 * A place in the order of all lines: `skip` lines with exactly this time that fit the query were handed out. It stays
 * right when blocks are put together or dropped, because it names no place in a file.
 */
export interface Cursor {
  at: number;
  skip: number;
}

const form = /^(\d{1,16})\.(\d{1,9})$/;

export function readCursor(text: string): Cursor {
  const found = form.exec(text);
  if (found === null)
    throw new Failure("invalid", `cursor: "${text}" is not a cursor; pass one from an answer unchanged`);
  return { at: Number(found[1]), skip: Number(found[2]) };
}

export function cursorText({ at, skip }: Cursor): string {
  return `${at}.${skip}`;
}
