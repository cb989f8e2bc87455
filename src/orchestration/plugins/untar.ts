import { chmod, mkdir, open, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { inflationGuard } from "../../base/wire/inflation-guard.ts";
import type { InflationLimits } from "../../base/pure/inflation.ts";
import { Failure } from "../../base/wire/failure.ts";
import { isInside } from "../core/plugin-names.ts";
import { checkSize, type TreeLimits } from "./tree.ts";

/** Limits of a package as it comes. */
export interface PackageLimits extends TreeLimits {
  inflation: InflationLimits;
}

interface UntarResult {
  /** Text of the archive's first comment: hosts write the commit there. */
  comment: string | undefined;
}

const block = 512;
const headerBytesMax = 64 * 1024;

interface Entry {
  type: string;
  path: string;
  link: string;
  size: number;
  mode: number;
}

/**
 * Unpacks a gzipped tar (POSIX ustar and pax, GNU long names) below `folder`, which exists; the first part of each path
 * is left out, as archives of a repository have one folder around all. Nothing is held in memory, links are made last,
 * and nothing is written outside of `folder`. Fails `invalid` for what is not such an archive, `too_large` beyond `limits`.
 */
export async function untar(
  packed: ReadableStream<Uint8Array>,
  folder: string,
  limits: PackageLimits,
): Promise<UntarResult> {
  const source = createSource(gunzipped(packed, limits));
  const unpacking = { folder, limits, links: [] as Entry[], files: 0, bytes: 0, comment: undefined, long: {} };
  try {
    await unpack(source, unpacking);
    await makeLinks(unpacking);
    return { comment: unpacking.comment };
  } catch (error) {
    throw error instanceof Failure
      ? error
      : new Failure("invalid", `broken archive: ${textOf(error)}`, { cause: error });
  } finally {
    await source.close();
  }
}

function gunzipped(packed: ReadableStream<Uint8Array>, { inflation }: PackageLimits): ReadableStream<Uint8Array> {
  let came = 0;
  const guard = inflationGuard(() => came, inflation);
  const each = (tell: (piece: Uint8Array) => void) =>
    new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, to) {
        tell(piece);
        to.enqueue(piece);
      },
    });
  const count = (piece: Uint8Array) => {
    came += piece.byteLength;
  };
  return packed
    .pipeThrough(each(count))
    .pipeThrough(new DecompressionStream("gzip") as never)
    .pipeThrough(each(guard));
}

/** A link that lies below another one would be written wherever that leads. */
async function makeLinks({ folder, links }: Unpacking): Promise<void> {
  const paths = new Set(links.map(({ path }) => path));
  for (const { path, link } of links) {
    const parents = path
      .split("/")
      .slice(0, -1)
      .map((_, index, parts) => parts.slice(0, index + 1).join("/"));
    if (parents.some((parent) => paths.has(parent))) {
      throw new Failure("invalid", `the archive holds "${path}" below a link`);
    }
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await symlink(link, join(folder, path));
  }
}

interface Unpacking {
  folder: string;
  limits: TreeLimits;
  links: Entry[];
  files: number;
  bytes: number;
  comment: string | undefined;
  /** What a header before says about the next entry. */
  long: { path?: string; link?: string; size?: number };
}

async function unpack(source: Source, state: Unpacking): Promise<void> {
  for (;;) {
    const header = await source.take(block);
    if (header.every((byte) => byte === 0)) return;
    const entry = readHeader(header);
    if (await readExtension(source, entry, state)) continue;
    const named = { ...entry, ...state.long };
    state.long = {};
    const path = named.path
      .split("/")
      .slice(1)
      .filter((part) => part !== "." && part !== "")
      .join("/");
    await place(source, { ...named, path }, state);
  }
}

/** Headers that carry names or comments for what follows. */
async function readExtension(source: Source, { type, size }: Entry, state: Unpacking): Promise<boolean> {
  if (!["x", "g", "L", "K"].includes(type)) return false;
  if (size > headerBytesMax) throw new Failure("invalid", "broken archive: a header is too large");
  const text = new TextDecoder().decode((await source.take(padded(size))).subarray(0, size));
  if (type === "L") state.long.path = text.replace(/\0.*$/s, "");
  if (type === "K") state.long.link = text.replace(/\0.*$/s, "");
  if (type === "x" || type === "g") {
    const fields = paxFields(text);
    if (type === "g") state.comment ??= fields.get("comment");
    else state.long = { ...state.long, ...paxNames(fields) };
  }
  return true;
}

async function place(source: Source, entry: Entry, state: Unpacking): Promise<void> {
  const { type, path, size } = entry;
  if (path === "") return skip(source, size);
  if (!isInside(path)) throw new Failure("invalid", `the archive holds "${path}", which leads out of the package`);
  state.files += 1;
  state.bytes += size;
  checkSize(state, state.limits);
  const target = join(state.folder, path);
  if (type === "5") await mkdir(target, { recursive: true });
  else if (type === "2") state.links.push(entry);
  else if (type === "0" || type === "\0") await writeFile(source, target, entry);
  else throw new Failure("invalid", `the archive holds "${path}", which is neither a file, a folder nor a link`);
  if (type === "2" || type === "5") await skip(source, size);
}

async function writeFile(source: Source, target: string, { size, mode }: Entry): Promise<void> {
  await mkdir(dirname(target), { recursive: true });
  const file = await open(target, "wx", 0o644);
  try {
    for (let left = size; left > 0;) {
      const part = await source.some(left);
      await file.writeFile(part);
      left -= part.byteLength;
    }
  } finally {
    await file.close();
  }
  await discard(source, padded(size) - size);
  await chmod(target, (mode & 0o111) === 0 ? 0o644 : 0o755);
}

function skip(source: Source, bytes: number): Promise<void> {
  return discard(source, padded(bytes));
}

async function discard(source: Source, bytes: number): Promise<void> {
  for (let left = bytes; left > 0;) left -= (await source.some(left)).byteLength;
}

function readHeader(header: Uint8Array): Entry {
  const text = (from: number, length: number) =>
    new TextDecoder().decode(header.subarray(from, from + length)).replace(/\0.*$/s, "");
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== Number.parseInt(text(148, 8).trim(), 8)) throw new Failure("invalid", "broken archive: no tar file");
  const prefix = text(257, 5) === "ustar" && text(257, 8) !== "ustar  " ? text(345, 155) : "";
  const name = text(0, 100);
  return {
    type: String.fromCharCode(header[156] ?? 0),
    path: prefix === "" ? name : `${prefix}/${name}`,
    link: text(157, 100),
    size: numberAt(header, 124, 12),
    mode: numberAt(header, 100, 8),
  };
}

/** Octal text, or binary where the first bit is set (GNU, for what is larger than 8 GiB). */
function numberAt(header: Uint8Array, from: number, length: number): number {
  const field = header.subarray(from, from + length);
  if (((field[0] ?? 0) & 0x80) !== 0) return field.subarray(1).reduce((value, byte) => value * 256 + byte, 0);
  const digits = new TextDecoder().decode(field).replace(/[\0 ]+/g, "");
  const value = digits === "" ? 0 : Number.parseInt(digits, 8);
  if (!Number.isSafeInteger(value) || value < 0)
    throw new Failure("invalid", "broken archive: no number where one must be");
  return value;
}

/** Records of a pax header: `<length> <key>=<value>\n`. */
function paxFields(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [, key = "", value = ""] of text.matchAll(/(?:^|\n)\d+ ([^=\n]+)=([^\n]*)/g)) fields.set(key, value);
  return fields;
}

function paxNames(fields: ReadonlyMap<string, string>): Unpacking["long"] {
  const [path, link, size] = [fields.get("path"), fields.get("linkpath"), fields.get("size")];
  return {
    ...(path === undefined ? {} : { path }),
    ...(link === undefined ? {} : { link }),
    ...(size === undefined ? {} : { size: Number(size) }),
  };
}

function padded(size: number): number {
  return Math.ceil(size / block) * block;
}

interface Source {
  /** Exactly so many bytes. */
  take(count: number): Promise<Uint8Array>;
  /** At least one byte, at most so many. */
  some(most: number): Promise<Uint8Array>;
  close(): Promise<void>;
}

function createSource(stream: ReadableStream<Uint8Array>): Source {
  const reader = stream.getReader();
  let rest: Uint8Array = new Uint8Array(0);
  const some = async (most: number) => {
    while (rest.byteLength === 0) {
      const { done, value } = await reader.read();
      if (done) throw new Failure("invalid", "broken archive: it ends too early");
      rest = value;
    }
    const part = rest.subarray(0, most);
    rest = rest.subarray(part.byteLength);
    return part;
  };
  return {
    some,
    async take(count) {
      const whole = new Uint8Array(count);
      for (let at = 0; at < count;) {
        const part = await some(count - at);
        whole.set(part, at);
        at += part.byteLength;
      }
      return whole;
    },
    close: () => reader.cancel().catch(() => undefined),
  };
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
