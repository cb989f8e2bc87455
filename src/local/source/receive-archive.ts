import { createWriteStream, existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { diskFailure } from "../../base/wire/disk-failure.ts";
import { Failure } from "../../base/wire/failure.ts";
import { sourceLimits } from "../../config/source-limits.ts";
import { unpack } from "./unpack.ts";

/** Source in a folder of its own, until `remove`. */
interface ReceivedSource {
  folder: string;
  /** What is not in it, because it looks like a secret. */
  secrets: readonly string[];
  /** Text of a file of the source; undefined where it has none of that name. */
  read(path: string): string | undefined;
  /** Puts a file beside the source; answers with its path. */
  write(name: string, text: string): string;
  remove(): void;
}

/** Unpacks an archive from a stream into the folder `tree` of a new folder. Fails `invalid` and `too_large`. */
export async function receiveArchive(packed: ReadableStream<Uint8Array>): Promise<ReceivedSource> {
  const folder = mkdtempSync(join(tmpdir(), "berth-receive."));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  try {
    const [file, tree] = [join(folder, "upload"), join(folder, "tree")];
    await pipeline(Readable.from(bounded(packed)), createWriteStream(file, { mode: 0o600 })).catch((error: unknown) => {
      throw error instanceof Failure ? error : diskFailure(error, file);
    });
    if (statSync(file).size === 0)
      throw new Failure("invalid", "no source came on stdin: it takes a gzipped tar archive");
    const secrets = await unpack(file, tree, { ...sourceLimits, guessModes: false });
    rmSync(file);
    return {
      folder,
      secrets,
      read: (path) => readBounded(join(tree, path), path),
      write(name, text) {
        const path = join(folder, name);
        writeFileSync(path, text, { mode: 0o600 });
        return path;
      },
      remove,
    };
  } catch (error) {
    remove();
    throw error;
  }
}

async function* bounded(packed: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const part of packed) {
    bytes += part.length;
    if (bytes > sourceLimits.packedBytesMax)
      throw new Failure("too_large", `the packed source has more than ${sourceLimits.packedBytesMax} bytes`);
    yield part;
  }
}

function readBounded(path: string, name: string): string | undefined {
  if (!existsSync(path)) return undefined;
  if (statSync(path).size > sourceLimits.textBytesMax)
    throw new Failure("too_large", `${name} has more than ${sourceLimits.textBytesMax} bytes`);
  return readFileSync(path, "utf8");
}
