import { once } from "node:events";
import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { createGzip } from "node:zlib";
import { pack } from "tar-stream";
import { CommandFailure } from "../basics/failures.ts";
import { type SourceEntry, type SourceFolder, unreadable } from "./folder.ts";

/**
 * A folder as a gzipped tar archive. Times and owners are left out, so the same folder gives the same bytes, and an
 * upload can go on where it was cut off. The server gives the files their times when it builds (`content-times.ts`).
 */
export function packFolder({ root, entries }: SourceFolder): AsyncIterable<Uint8Array> {
  const archive = pack();
  const packed = createGzip();
  archive.on("error", (error) => packed.destroy(error));
  // Its reader gets the error. Without this, a reader that stops early would end the process.
  packed.on("error", () => archive.destroy());
  (archive as unknown as Readable).pipe(packed);
  void writeEntries(archive, root, entries).catch((error) => archive.destroy(error));
  return packed;
}

async function writeEntries(archive: ReturnType<typeof pack>, root: string, entries: readonly SourceEntry[]) {
  for (const entry of entries) await writeEntry(archive, root, entry);
  archive.finalize();
}

async function writeEntry(archive: ReturnType<typeof pack>, root: string, entry: SourceEntry): Promise<void> {
  const { path, kind, mode, size, target, text } = entry;
  const common = { name: path, mode, mtime: new Date(0), uid: 0, gid: 0 };
  await new Promise<void>((resolve, reject) => {
    const done = (error?: unknown) => (error === undefined || error === null ? resolve() : reject(error));
    if (kind === "link") archive.entry({ ...common, type: "symlink", linkname: target }, done);
    else if (kind === "folder") archive.entry({ ...common, type: "directory" }, done);
    else if (text !== undefined) archive.entry({ ...common, type: "file" }, text, done);
    else {
      const sink = archive.entry({ ...common, type: "file", size }, done);
      writeFile(sink as unknown as Writable, join(root, path), entry).catch(reject);
    }
  });
}

/** Fails where the file is not what it was when the folder was looked at: the archive is known by that content. */
async function writeFile(sink: Writable, file: string, { path, size, digest }: SourceEntry): Promise<void> {
  // An archive that is given up ends its entries with its error, which the reader of the archive gets.
  sink.on("error", () => undefined);
  const hash = new Bun.CryptoHasher("sha256");
  let left = size;
  try {
    for await (const chunk of createReadStream(file)) {
      left -= chunk.length;
      if (left < 0) throw changedFailure(path);
      hash.update(chunk);
      if (!sink.write(chunk)) await once(sink, "drain");
    }
  } catch (error) {
    throw unreadable(error, path);
  }
  if (left !== 0 || hash.digest("hex") !== digest) throw changedFailure(path);
  sink.end();
}

function changedFailure(path: string): CommandFailure {
  return new CommandFailure(
    `${JSON.stringify(path)} changed while it was packed. Try again, or leave it out in .berthignore.`,
  );
}
