import { createHash } from "node:crypto";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { extract, type Header } from "tar-stream";
import type { InflationLimits } from "../pure/inflation.ts";
import { type ContextEntry, linkProblem, pathProblem, plainMode } from "../pure/source-tree.ts";
import { Failure } from "../wire/failure.ts";
import { inflationGuard } from "../wire/inflation-guard.ts";
import { guarded } from "./guarded.ts";

export interface ArchiveLimits {
  /** Files and links in it, and as many folders. */
  filesMax: number;
  /** Size of all content, unpacked. */
  bytesMax: number;
  /** Limits of the unpacked size in relation to the archive. */
  inflation: InflationLimits;
}

/** A gzipped tar. */
interface PackedFolder {
  bytes: AsyncIterable<Uint8Array>;
  size: number;
}

/**
 * What a gzipped tar of a folder holds, read without keeping any of it. Fails `invalid` for what cannot be in such a
 * folder (a device, a path or a link that leads out of it, a name twice), `too_large` beyond `limits`.
 */
export async function readSourceArchive(packed: PackedFolder, limits: ArchiveLimits): Promise<ContextEntry[]> {
  const entries = new Map<string, ContextEntry>();
  const unpacked = Readable.from(packed.bytes).pipe(createGunzip());
  const checked = guarded(inflationGuard(() => packed.size, limits.inflation));
  const archive = extract();
  for (const part of [unpacked, checked]) part.on("error", (error) => archive.destroy(error));
  unpacked.pipe(checked).pipe(archive);
  const counts = { files: 0, folders: 0 };
  let bytes = 0;
  try {
    for await (const entry of archive) {
      const { header } = entry;
      bytes += header.size ?? 0;
      counts[header.type === "directory" ? "folders" : "files"] += 1;
      check(header, { files: Math.max(counts.files, counts.folders), bytes }, limits);
      const hash = createHash("sha256");
      for await (const part of entry) hash.update(part as Uint8Array);
      const found = entryOf(header, hash.digest("hex"));
      if (entries.has(found.path)) throw new Failure("invalid", `the archive holds "${shown(found.path)}" twice`);
      entries.set(found.path, found);
    }
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure("invalid", "the archive is broken: send the folder again", { cause: error });
  } finally {
    unpacked.destroy();
    archive.destroy();
  }
  return [...entries.values()];
}

function entryOf({ name, type, mode, linkname }: Header, digest: string): ContextEntry {
  if (type === "directory") return { path: pathOf(name), kind: "folder", mode: plainMode(mode ?? 0o755), digest: "" };
  if (type !== "symlink") return { path: name, kind: "file", mode: plainMode(mode ?? 0o644), digest };
  const target = createHash("sha256")
    .update(linkname ?? "")
    .digest("hex");
  return { path: name, kind: "link", mode: 0o777, digest: target };
}

/** Without the slash that archives have behind the name of a folder. */
export function pathOf(name: string): string {
  return name.replace(/\/$/, "");
}

function check(
  { name, type, linkname }: Header,
  { files, bytes }: { files: number; bytes: number },
  { filesMax, bytesMax }: ArchiveLimits,
): void {
  if (files > filesMax) throw new Failure("too_large", `the archive holds more than ${filesMax} files`);
  if (bytes > bytesMax) throw new Failure("too_large", `the archive unpacks to more than ${bytesMax} bytes`);
  const path = type === "directory" ? pathOf(name) : name;
  const problem = pathProblem(path) ?? (type === "symlink" ? linkProblem(path, linkname ?? "") : undefined);
  if (problem !== undefined) throw new Failure("invalid", `the archive holds "${shown(name)}", which ${problem}`);
  if (type !== "file" && type !== "symlink" && type !== "directory") {
    throw new Failure("invalid", `the archive holds "${shown(name)}", which is a ${type}, not a file, folder or link`);
  }
}

/** Control characters out: the text goes to a terminal. */
function shown(name: string): string {
  return name.slice(0, 200).replace(/[\x00-\x1f\x7f-\x9f]/g, "\u{fffd}");
}
