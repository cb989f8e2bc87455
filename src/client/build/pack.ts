import { createReadStream } from "node:fs";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { createGzip } from "node:zlib";
import { pack } from "tar-stream";
import type { SourceEntry, SourceFolder } from "./folder.ts";

/**
 * A folder as a gzipped tar archive. Times and owners are left out, so the same folder gives the same bytes, and an
 * upload can go on where it was cut off. The server gives the files their times when it builds (`content-times.ts`).
 */
export function packFolder({ root, entries }: SourceFolder): AsyncIterable<Uint8Array> {
  const archive = pack();
  const packed = createGzip();
  archive.on("error", (error) => packed.destroy(error));
  // Its reader is told; a reader that stops early would otherwise end the process.
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
      const file = createReadStream(join(root, path));
      file.on("error", reject);
      file.pipe(sink as unknown as NodeJS.WritableStream);
    }
  });
}
