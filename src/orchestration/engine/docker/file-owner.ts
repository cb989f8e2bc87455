import { Readable } from "node:stream";
import { extract, type Header, pack } from "tar-stream";
import { Failure } from "../../../base/wire/failure.ts";
import { drained } from "../../../base/words/drained.ts";
import type { FolderOwner } from "../session.ts";

/** Numbers of a user and a group in a container. */
interface FileOwner {
  uid: number;
  gid: number;
}

/**
 * Who the user of a container is, as the engine reads it: `name`, `uid`, either with `:group`. `readText` reads the
 * account files of the container; a name that they do not have is root.
 */
export async function ownerOf(
  user: string,
  readText: (path: string) => Promise<string | undefined>,
): Promise<FileOwner> {
  const [name = "", group] = user.split(":");
  if (name === "") return { uid: 0, gid: 0 };
  const rows = isNumber(name) && group !== undefined ? [] : rowsOf(await readText("/etc/passwd"));
  const account = rows.find(([login, , uid]) => login === name || uid === name);
  const uid = Number(isNumber(name) ? name : (account?.[2] ?? 0));
  if (group === undefined) return { uid, gid: Number(account?.[3] ?? 0) };
  if (isNumber(group)) return { uid, gid: Number(group) };
  const found = rowsOf(await readText("/etc/group")).find(([title]) => title === group);
  return { uid, gid: Number(found?.[2] ?? 0) };
}

function isNumber(text: string): boolean {
  return /^\d+$/.test(text);
}

function rowsOf(text: string | undefined): string[][] {
  return (text ?? "").split("\n").map((line) => line.split(":"));
}

/** The text of the one file in an archive; undefined where there is none, or it is far larger than such a file is. */
export async function textIn(archive: AsyncIterable<Uint8Array>): Promise<string | undefined> {
  const entries = extract();
  const source = Readable.from(archive, { objectMode: false });
  source.on("error", (error) => entries.destroy(error));
  source.pipe(entries);
  try {
    for await (const { header, content } of withContent(entries)) {
      if (header.type !== "file" || header.size > accountBytesMax) return undefined;
      const parts: Uint8Array[] = [];
      for await (const part of content) parts.push(part);
      return Buffer.concat(parts).toString();
    }
    return undefined;
  } finally {
    source.destroy();
    entries.destroy();
  }
}

const accountBytesMax = 1024 * 1024;

/** The same archive, with everything in it owned by `owner`. Throws `invalid` where it is broken. */
export async function* withOwner(
  archive: AsyncIterable<Uint8Array>,
  { uid, gid }: FileOwner,
): AsyncGenerator<Uint8Array> {
  const entries = extract();
  const source = Readable.from(archive, { objectMode: false });
  source.on("error", (error) => entries.destroy(error));
  source.pipe(entries);
  const owned = pack();
  void copyAll(entries, owned, { uid, gid }).catch((error: Error) => owned.destroy(error));
  try {
    for await (const part of owned as unknown as AsyncIterable<Uint8Array>) yield part;
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw broken(error);
  } finally {
    source.destroy();
    entries.destroy();
    owned.destroy();
  }
}

function broken(cause?: unknown): Failure {
  return new Failure("invalid", "the archive is broken: send it again", { cause });
}

async function copyAll(entries: Extract, owned: ReturnType<typeof pack>, { uid, gid }: FileOwner): Promise<void> {
  for await (const { header, content } of withContent(entries)) {
    const ended = Promise.withResolvers<void>();
    ended.promise.catch(() => undefined);
    const isFile = header.type === "file" || header.type === "contiguous-file";
    // Nothing else has content; the stream of a folder that claims some would never end.
    if (!isFile && (header.size ?? 0) > 0) throw broken();
    const own = { ...header, uid, gid, uname: "", gname: "", pax: null };
    const sink = owned.entry(own, (error) => (error ? ended.reject(error) : ended.resolve()));
    // It is heard through the archive.
    sink.on("error", () => undefined);
    for await (const part of content) if (!sink.write(part)) await drained(sink);
    if (isFile) sink.end(undefined);
    await ended.promise;
  }
  owned.finalize();
}

type Extract = ReturnType<typeof extract>;

async function* withContent(entries: Extract) {
  for await (const entry of entries) {
    yield { header: entry.header, content: entry as unknown as AsyncIterable<Uint8Array> };
    entry.resume();
  }
}

/** A folder as its archive tells it. Only the beginning of the archive is read. Undefined for anything but a folder. */
export async function folderIn(archive: AsyncIterable<Uint8Array>): Promise<FolderOwner | undefined> {
  const entries = extract();
  const source = Readable.from(archive, { objectMode: false });
  source.on("error", (error) => entries.destroy(error));
  source.pipe(entries);
  try {
    let folder: FolderOwner | undefined;
    for await (const entry of entries) {
      if (folder !== undefined) return { ...folder, isEmpty: false };
      const { type, mode = 0 } = entry.header;
      if (type !== "directory") return undefined;
      folder = {
        uid: idOf(entry.header, "uid"),
        gid: idOf(entry.header, "gid"),
        mode: mode & 0o7777,
        isEmpty: true,
      };
      entry.resume();
    }
    return folder;
  } finally {
    source.destroy();
    entries.destroy();
  }
}

/** A number that is too large for the header itself is in its extension. */
function idOf({ pax, ...header }: Header, field: "uid" | "gid"): number {
  const extended = (pax as Partial<Record<string, string>> | null | undefined)?.[field];
  return Number(extended ?? header[field] ?? 0);
}

/** An archive that holds nothing but a folder. */
export function folderArchive(name: string, { uid, gid, mode }: Omit<FolderOwner, "isEmpty">): Readable {
  const archive = pack();
  archive.entry({ name, type: "directory", mode, uid: 0, gid: 0, pax: { uid: String(uid), gid: String(gid) } });
  archive.finalize();
  return Readable.from(archive as unknown as AsyncIterable<Uint8Array>, { objectMode: false });
}
