import { createCipheriv, createDecipheriv, createHash, randomBytes, scrypt } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { Failure } from "../wire/failure.ts";
import { secret, type Secret } from "../words/secret.ts";
import { moveInPlace, temporaryName } from "./atomic-write.ts";
import { type BackupHead, decodeHead, encodeHead, headBytesMax } from "./backup-head.ts";
import { diskFailure } from "../wire/disk-failure.ts";
import { readChunks, writeAll } from "./file-chunks.ts";
import type { Key } from "./key-file.ts";
import { type Beside, besides } from "./layout.ts";

/**
 * One backup is one file: two lines of head (see backup-head.ts), then the 32 bytes of the key, the database and those
 * beside it, as they are or sealed with a passphrase (AES-256-GCM over all of it, the head authenticated too, its tag behind), then the
 * sha256 of everything before it.
 */
interface BackupSource {
  /** A database file that is not written to. */
  database: string;
  /** Like `database`, for those beside it, as far as they are there. */
  beside: Partial<Record<Beside, string>>;
  key: Key;
  passphrase: Secret | undefined;
  /** Epoch milliseconds. */
  now: number;
}

interface BackupContent {
  key: Key;
  /** Epoch milliseconds. */
  createdAt: number;
  /** The databases beside the first that the backup held. */
  holds: Beside[];
}

const cipher = "aes-256-gcm";
const keyBytes = 32;
const tagBytes = 16;
const digestBytes = 32;
const mode = 0o600;

/** Writes the backup whole or not at all, for the owner alone. */
export async function packBackup(target: string, source: BackupSource): Promise<void> {
  const temporary = temporaryName(target);
  try {
    const file = await open(temporary, "wx", mode);
    try {
      const hash = createHash("sha256");
      for await (const chunk of backupChunks(source)) {
        hash.update(chunk);
        await writeAll(file, chunk);
      }
      await writeAll(file, hash.digest());
      await file.sync();
    } finally {
      await file.close();
    }
    await moveInPlace(temporary, target);
  } catch (error) {
    await rm(temporary, { force: true });
    throw diskFailure(error, target);
  }
}

async function* backupChunks(source: BackupSource): AsyncGenerator<Uint8Array> {
  const held = besides.filter((name) => source.beside[name] !== undefined);
  const paths = [source.database, ...held.map((name) => source.beside[name] ?? "")];
  const files: FileHandle[] = [];
  try {
    for (const path of paths) files.push(await open(path, "r"));
    const sizes = await Promise.all(files.map(async (file) => (await file.stat()).size));
    const [databaseBytes = 0, ...rest] = sizes;
    const besideBytes = Object.fromEntries(held.map((name, index) => [name, rest[index] ?? 0]));
    const sealing = source.passphrase && { salt: randomBytes(16), nonce: randomBytes(12) };
    const head = encodeHead({ createdAt: source.now, databaseBytes, besideBytes, sealing });
    yield head;
    const payload = payloadChunks(source.key, files, sizes);
    if (!source.passphrase || !sealing) return yield* payload;
    const derived = await deriveKey(source.passphrase, sealing.salt);
    const encrypt = createCipheriv(cipher, derived, sealing.nonce).setAAD(head);
    for await (const chunk of payload) yield encrypt.update(chunk);
    yield encrypt.final();
    yield encrypt.getAuthTag();
  } finally {
    for (const file of files) await file.close();
  }
}

/** As many bytes of each file as the head says: one that grows meanwhile must not push the next one out of its place. */
async function* payloadChunks(
  key: Key,
  files: readonly FileHandle[],
  sizes: readonly number[],
): AsyncGenerator<Uint8Array> {
  yield key.reveal();
  for (const [index, file] of files.entries()) yield* readChunks(file, 0, sizes[index] ?? 0);
}

/**
 * Checks the whole file and writes its databases to `into` and `besideInto`, new files for the owner alone, which are
 * gone again when this fails; those beside the first are made only where the backup has them. Fails `invalid` for a file that is not a backup, is cut off or altered, or does not open with the passphrase.
 */
export async function readBackup(
  path: string,
  options: { into: string; besideInto: Record<Beside, string>; passphrase: Secret | undefined },
): Promise<BackupContent> {
  const file = await openBackup(path);
  try {
    const { head, headBytes } = await readHead(file, path);
    const size = (await file.stat()).size;
    const holds = besides.filter((name) => head.besideBytes[name] !== undefined);
    const besideBytes = holds.reduce((sum, name) => sum + (head.besideBytes[name] ?? 0), 0);
    const payloadEnd = headBytes.length + keyBytes + head.databaseBytes + besideBytes;
    if (size !== payloadEnd + (head.sealing ? tagBytes : 0) + digestBytes) throw broken(path, "it is cut off");
    await checkDigest(file, size - digestBytes, path);
    const payload = readChunks(file, headBytes.length, payloadEnd);
    const opened = head.sealing ? unseal({ file, path, head, headBytes, payload, payloadEnd }, options) : payload;
    const key = await splitPayload(opened, head, options);
    return { key, createdAt: head.createdAt, holds };
  } catch (error) {
    for (const made of [options.into, ...Object.values(options.besideInto)]) await rm(made, { force: true });
    throw diskFailure(error, path);
  } finally {
    await file.close();
  }
}

async function openBackup(path: string): Promise<FileHandle> {
  try {
    return await open(path, "r");
  } catch (error) {
    throw new Failure("invalid", `backup "${path}" cannot be read: check the path`, { cause: error });
  }
}

async function readHead(file: FileHandle, path: string): Promise<{ head: BackupHead; headBytes: Uint8Array }> {
  const start = new Uint8Array(headBytesMax);
  const { bytesRead } = await file.read(start, 0, headBytesMax, 0);
  return decodeHead(start.subarray(0, bytesRead), path);
}

async function checkDigest(file: FileHandle, end: number, path: string): Promise<void> {
  const hash = createHash("sha256");
  for await (const chunk of readChunks(file, 0, end)) hash.update(chunk);
  const written = Buffer.alloc(digestBytes);
  await file.read(written, 0, digestBytes, end);
  if (!hash.digest().equals(written)) throw broken(path, "its content does not match its checksum");
}

interface SealedBackup {
  file: FileHandle;
  path: string;
  head: BackupHead;
  headBytes: Uint8Array;
  payload: AsyncIterable<Uint8Array>;
  payloadEnd: number;
}

async function* unseal(
  { file, path, head, headBytes, payload, payloadEnd }: SealedBackup,
  { passphrase }: { passphrase: Secret | undefined },
): AsyncGenerator<Uint8Array> {
  if (!head.sealing) return;
  if (!passphrase) throw new Failure("invalid", `backup "${path}" is sealed: give its passphrase`);
  const tag = new Uint8Array(tagBytes);
  await file.read(tag, 0, tagBytes, payloadEnd);
  const derived = await deriveKey(passphrase, head.sealing.salt);
  const decrypt = createDecipheriv(cipher, derived, head.sealing.nonce).setAAD(headBytes).setAuthTag(tag);
  for await (const chunk of payload) yield decrypt.update(chunk);
  try {
    yield decrypt.final();
  } catch (cause) {
    throw new Failure("invalid", `backup "${path}" does not open with this passphrase: give the right one`, { cause });
  }
}

/** Writes what follows the key to its files and returns the key. */
async function splitPayload(
  payload: AsyncIterable<Uint8Array>,
  { databaseBytes, besideBytes }: BackupHead,
  { into, besideInto }: { into: string; besideInto: Record<Beside, string> },
): Promise<Key> {
  const key = new Uint8Array(keyBytes);
  const parts: Part[] = [
    { path: undefined, bytes: keyBytes },
    { path: into, bytes: databaseBytes },
  ];
  for (const name of besides) {
    const bytes = besideBytes[name];
    if (bytes !== undefined) parts.push({ path: besideInto[name], bytes });
  }
  const files = await openParts(parts);
  try {
    let at = 0;
    for await (const chunk of payload) {
      let start = 0;
      for (const { file, bytes } of files) {
        const piece = chunk.subarray(Math.max(0, start - at), Math.max(0, Math.min(chunk.length, start + bytes - at)));
        if (piece.length > 0) {
          if (file === undefined) key.set(piece, Math.max(0, at - start));
          else await writeAll(file, piece);
        }
        start += bytes;
      }
      at += chunk.length;
    }
    for (const { file } of files) await file?.sync();
  } finally {
    for (const { file } of files) await file?.close();
  }
  return secret(key);
}

interface Part {
  /** Undefined: kept in memory. */
  path: string | undefined;
  bytes: number;
}

async function openParts(parts: readonly Part[]): Promise<(Part & { file: FileHandle | undefined })[]> {
  const opened: (Part & { file: FileHandle | undefined })[] = [];
  try {
    for (const part of parts) {
      opened.push({ ...part, file: part.path === undefined ? undefined : await open(part.path, "wx", mode) });
    }
  } catch (error) {
    for (const { file } of opened) await file?.close();
    throw error;
  }
  return opened;
}

/** scrypt (RFC 7914) with 32 MiB of memory: about a tenth of a second for each guess. */
function deriveKey(passphrase: Secret, salt: Uint8Array): Promise<Buffer> {
  const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  scrypt(passphrase.reveal(), salt, keyBytes, cost, (error, derived) => (error ? reject(error) : resolve(derived)));
  return promise;
}

function broken(path: string, why: string): Failure {
  return new Failure("invalid", `backup "${path}" is damaged (${why}): use another one`);
}
