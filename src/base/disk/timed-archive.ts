import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { extract, pack } from "tar-stream";
import type { ContentTimes } from "../pure/content-times.ts";
import { pathOf } from "./source-archive.ts";

/**
 * The packed folder as a tar archive, with these times in place of those that it was packed with. A reader that stops early
 * ends the reading of the packed one too.
 */
export function timedArchive(
  packed: AsyncIterable<Uint8Array>,
  times: ContentTimes["files"],
): AsyncIterable<Uint8Array> {
  const source = Readable.from(packed);
  const unpacked = createGunzip();
  const [from, to] = [extract(), pack()];
  const end = () => {
    source.destroy();
    unpacked.destroy();
    from.destroy();
  };
  for (const part of [source, unpacked]) part.on("error", (error) => from.destroy(error));
  to.on("close", end);
  source.pipe(unpacked).pipe(from);
  const copy = async () => {
    for await (const entry of from) {
      const { name, type, mode, size, linkname } = entry.header;
      const seconds = times.get(type === "directory" ? pathOf(name) : name)?.time ?? 0;
      const header = { name, type, mode, size, linkname, mtime: new Date(seconds * 1000), uid: 0, gid: 0 };
      if (type === "file") {
        await pipeline(entry as unknown as Readable, to.entry(header) as unknown as NodeJS.WritableStream);
      } else {
        to.entry(header);
        for await (const _ of entry);
      }
    }
    to.finalize();
  };
  void copy().catch((error) => to.destroy(error));
  return to as unknown as AsyncIterable<Uint8Array>;
}
