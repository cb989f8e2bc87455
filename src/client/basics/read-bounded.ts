import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from "node:fs";
import { CommandFailure, exitCodes } from "./failures.ts";

interface ReadLimits {
  bytesMax: number;
  /** The operator typed the path: a pipe of the shell, such as `<(helm template .)`, is read too. */
  mayBePipe?: boolean;
  /** How long a pipe may be silent. */
  silenceMs?: number;
}

const pieceBytes = 64 * 1024;
const pauseMs = 10;
const silenceMsUsual = 60_000;

/**
 * Content of a regular file that a person or a manifest names, or an error that tells it by `name`. A device or a pipe could
 * give bytes without end, or keep the reader waiting for ever; the size that the file system tells is not believed.
 */
export function readBounded(path: string, name: string, limits: ReadLimits): Uint8Array {
  const { bytesMax, mayBePipe = false, silenceMs = silenceMsUsual } = limits;
  const file = opened(path, name);
  try {
    const info = fstatSync(file);
    requireKind(info, name, mayBePipe);
    if (info.size > bytesMax) throw tooLarge(name, `${info.size} bytes`, bytesMax);
    const parts: Uint8Array[] = [];
    let size = 0;
    for (;;) {
      const part = pieceOf(file, name, silenceMs);
      if (part.length === 0) break;
      size += part.length;
      if (size > bytesMax) throw tooLarge(name, "more bytes", bytesMax);
      parts.push(part);
    }
    if (size === 0 && info.isFIFO()) throw new CommandFailure(`"${name}" is a pipe that nothing was written to`);
    return Buffer.concat(parts);
  } finally {
    closeSync(file);
  }
}

/** Like `readBounded`, for a file that is text. */
export function readText(path: string, name: string, limits: ReadLimits): string {
  return textOf(readBounded(path, name, limits), `"${name}"`);
}

/** Bytes that are not UTF-8 would silently become other characters: `é` of an older editor, a key that is binary. */
export function textOf(bytes: Uint8Array, shown: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const [first, second] = bytes;
    const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
    const what = isUtf16 ? "is UTF-16 text" : "is not UTF-8 text";
    throw new CommandFailure(`${shown} ${what}: save it as UTF-8, and write binary content as base64`);
  }
}

function opened(path: string, name: string): number {
  try {
    // Opening a named pipe would wait for a writer.
    return openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    throw cannotRead(name, error);
  }
}

function requireKind(info: Stats, name: string, mayBePipe: boolean): void {
  if (info.isFile() || (mayBePipe && info.isFIFO())) return;
  if (info.isDirectory()) throw new CommandFailure(`"${name}" is a folder, not a file`);
  const kind = info.isFIFO() ? "a pipe" : info.isCharacterDevice() || info.isBlockDevice() ? "a device" : "a socket";
  throw new CommandFailure(`"${name}" is ${kind}, not a file`);
}

function tooLarge(name: string, has: string, bytesMax: number): CommandFailure {
  return new CommandFailure(`"${name}" has ${has}, more than the ${bytesMax} that are read`);
}

/** The next bytes; empty at the end. */
function pieceOf(file: number, name: string, silenceMs: number): Uint8Array {
  const bytes = Buffer.alloc(pieceBytes);
  const until = performance.now() + silenceMs;
  for (;;) {
    try {
      return bytes.subarray(0, readSync(file, bytes));
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") throw cannotRead(name, error);
      if (performance.now() > until) throw new CommandFailure(`"${name}" is a pipe, and nothing came from it`);
      Bun.sleepSync(pauseMs);
    }
  }
}

export function cannotRead(name: string, error: unknown): CommandFailure {
  const code = codeOf(error);
  if (code === "ENOENT" || code === "ENOTDIR") return new CommandFailure(`"${name}" does not exist`);
  if (code === "EACCES") return new CommandFailure(`no permission to read "${name}"`);
  // A socket cannot be opened.
  if (code === "ENXIO") return new CommandFailure(`"${name}" is not a file`);
  return new CommandFailure(`cannot read "${name}": ${error}`, exitCodes.failed);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
