import { Readable } from "node:stream";
import { extract, type Header, pack } from "tar-stream";
import { drained } from "../../../base/words/drained.ts";
import type { FolderEntry } from "../../api/files.ts";
import { type Listing, modified, sorted } from "../../core/files/listing.ts";

/** The one file of a tar archive: its size, and its bytes to be read once. Undefined for anything but a file. */
export async function fileIn(
  archive: AsyncIterable<Uint8Array>,
): Promise<{ sizeBytes: number; content: AsyncGenerator<Uint8Array> } | undefined> {
  const entries = entriesOf(archive);
  const first = await entries.next();
  const entry = first.done ? undefined : first.value;
  if (entry === undefined || (entry.header.type !== "file" && entry.header.type !== "contiguous-file")) {
    await entries.return(undefined);
    return undefined;
  }
  async function* content(): AsyncGenerator<Uint8Array> {
    try {
      if (entry !== undefined) yield* entry.content;
    } finally {
      await entries.return(undefined);
    }
  }
  return { sizeBytes: entry.header.size ?? 0, content: content() };
}

/**
 * What is right in the folder of an archive. The archive holds everything below it too, so that this is for containers
 * without a shell; undefined where more than `scanBytesMax` would have to be read.
 */
export async function listingIn(
  archive: AsyncIterable<Uint8Array>,
  { scanBytesMax, entriesMax }: { scanBytesMax: number; entriesMax: number },
): Promise<Listing | undefined> {
  const found: FolderEntry[] = [];
  let leftOut = 0;
  let bytes = 0;
  for await (const { header, content } of entriesOf(archive)) {
    bytes += headBytes + (header.size ?? 0);
    if (bytes > scanBytesMax) return undefined;
    const [, name = "", ...below] = header.name.replace(/\/+$/, "").split("/");
    await skip(content);
    if (name === "" || below.length > 0) continue;
    if (found.length < entriesMax) found.push(entryOf(header, name));
    else leftOut += 1;
  }
  return { entries: sorted(found), leftOut };
}

const headBytes = 512;

async function skip(content: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const _ of content) void _;
}

function entryOf({ type, size = 0, mode = 0, mtime, linkname }: Header, name: string): FolderEntry {
  const kind = type === "directory" ? "folder" : type === "symlink" ? "link" : type === "file" ? "file" : "other";
  return {
    ...{ name, kind, size_bytes: size, mode: mode.toString(8).padStart(3, "0") },
    ...(mtime === undefined ? {} : modified(mtime.getTime())),
    ...(kind === "link" && linkname ? { link_target: linkname } : {}),
  };
}

async function* entriesOf(archive: AsyncIterable<Uint8Array>) {
  const source = Readable.from(archive, { objectMode: false });
  const entries = extract();
  source.on("error", (error) => entries.destroy(error));
  source.pipe(entries);
  try {
    for await (const entry of entries) {
      yield { header: entry.header, content: entry as unknown as AsyncIterable<Uint8Array> };
      entry.resume();
    }
  } finally {
    source.destroy();
    entries.destroy();
  }
}

/** A tar archive with one file. Fails where `content` has another length than the head says. */
export async function* archiveOf(
  head: { name: string; sizeBytes: number; mode: number; modifiedAt: number },
  content: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const archive = pack();
  const { name, sizeBytes: size, mode, modifiedAt } = head;
  const fill = async () => {
    const entry = archive.entry({ name, size, mode, mtime: new Date(modifiedAt) });
    entry.on("error", () => undefined);
    for await (const part of content) if (!entry.write(part)) await drained(entry);
    entry.end(undefined);
    archive.finalize();
  };
  fill().catch((error: Error) => archive.destroy(error));
  try {
    for await (const part of archive as unknown as AsyncIterable<Uint8Array>) yield part;
  } finally {
    archive.destroy();
  }
}
