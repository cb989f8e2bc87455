import { open, type FileHandle } from "node:fs/promises";
import { Readable } from "node:stream";
import { createInflateRaw } from "node:zlib";
import { Failure } from "../../base/wire/failure.ts";
import type { InflationGuard } from "../../base/wire/inflation-guard.ts";
import type { Member } from "./member.ts";

/** Signatures and lengths of the ZIP format (APPNOTE.TXT 4.3). */
const endSignature = 0x06054b50;
const centralSignature = 0x02014b50;
const localSignature = 0x04034b50;
const endBytes = 22;
const centralBytes = 46;
const localBytes = 30;
/** The end is within the last bytes: a comment can be behind it. */
const tailBytes = 65_557;
const directoryBytesMax = 64 * 1024 * 1024;
const pieceBytes = 256 * 1024;

interface Entry {
  name: string;
  method: number;
  flags: number;
  packedBytes: number;
  mode: number;
  offset: number;
}

/** Members of a zip archive, as its directory lists them. */
export async function* readZip(path: string, guard: InflationGuard): AsyncGenerator<Member> {
  const file = await open(path, "r");
  try {
    const { size } = await file.stat();
    for (const entry of await readDirectory(file, size)) yield await memberOf(file, entry, guard);
  } finally {
    await file.close();
  }
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length);
  const { bytesRead } = await file.read(bytes, 0, length, position);
  if (bytesRead < length) throw broken();
  return bytes;
}

function broken(): Failure {
  return new Failure("invalid", "the zip archive is broken, encrypted, or larger than 4 GiB");
}

async function readDirectory(file: FileHandle, size: number): Promise<Entry[]> {
  const length = Math.min(size, tailBytes);
  const tail = await bytesAt(file, size - length, length);
  let end = length - endBytes;
  while (end >= 0 && tail.readUInt32LE(end) !== endSignature) end -= 1;
  if (end < 0) throw broken();
  const count = tail.readUInt16LE(end + 10);
  const directoryBytes = tail.readUInt32LE(end + 12);
  const offset = tail.readUInt32LE(end + 16);
  if (directoryBytes > directoryBytesMax || offset + directoryBytes > size) throw broken();
  const directory = await bytesAt(file, offset, directoryBytes);
  const entries: Entry[] = [];
  for (let at = 0; entries.length < count;) {
    if (at + centralBytes > directory.length || directory.readUInt32LE(at) !== centralSignature) throw broken();
    const lengths = [28, 30, 32].map((place) => directory.readUInt16LE(at + place));
    const [nameBytes = 0, extraBytes = 0, commentBytes = 0] = lengths;
    const isUnix = directory.readUInt8(at + 5) === 3;
    entries.push({
      name: directory.subarray(at + centralBytes, at + centralBytes + nameBytes).toString("utf8"),
      flags: directory.readUInt16LE(at + 8),
      method: directory.readUInt16LE(at + 10),
      packedBytes: directory.readUInt32LE(at + 20),
      mode: isUnix ? directory.readUInt32LE(at + 38) >>> 16 : 0,
      offset: directory.readUInt32LE(at + 42),
    });
    at += centralBytes + nameBytes + extraBytes + commentBytes;
  }
  return entries;
}

const typeMask = 0o170000;
const linkType = 0o120000;
const otherTypes = [0o010000, 0o020000, 0o060000, 0o140000];
const linkBytesMax = 4_096;

async function memberOf(file: FileHandle, entry: Entry, guard: InflationGuard): Promise<Member> {
  const { name, mode } = entry;
  const type = mode & typeMask;
  const kind = otherTypes.includes(type)
    ? "other"
    : name.endsWith("/")
      ? "folder"
      : type === linkType
        ? "link"
        : "file";
  const target = kind === "link" ? await textOf(contentOf(file, entry, guard)) : "";
  return { name, kind, mode: mode === 0 ? undefined : mode & 0o7777, target, content: contentOf(file, entry, guard) };
}

async function textOf(content: AsyncIterable<Uint8Array>): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of content) {
    bytes += part.length;
    if (bytes > linkBytesMax) throw broken();
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

async function* contentOf(
  file: FileHandle,
  { flags, method, packedBytes, offset }: Entry,
  guard: InflationGuard,
): AsyncGenerator<Uint8Array> {
  const isEncrypted = (flags & 1) !== 0;
  if (isEncrypted || (method !== 0 && method !== 8)) throw broken();
  const head = await bytesAt(file, offset, localBytes);
  if (head.readUInt32LE(0) !== localSignature) throw broken();
  const start = offset + localBytes + head.readUInt16LE(26) + head.readUInt16LE(28);
  const packed = piecesOf(file, start, packedBytes);
  const unpacked = method === 0 ? packed : Readable.from(packed).pipe(createInflateRaw());
  for await (const piece of unpacked as AsyncIterable<Uint8Array>) {
    // All members share the guard: several may name the same bytes of the file.
    guard(piece);
    yield piece;
  }
}

async function* piecesOf(file: FileHandle, start: number, length: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; at += pieceBytes) {
    yield await bytesAt(file, start + at, Math.min(pieceBytes, length - at));
  }
}
