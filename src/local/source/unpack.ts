import { chmodSync, closeSync, createReadStream, mkdirSync, openSync, readSync, statSync, symlinkSync } from "node:fs";
import { chmod, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { extract, type Header } from "tar-stream";
import { guarded } from "../../base/disk/guarded.ts";
import { type InflationGuard, inflationGuard } from "../../base/wire/inflation-guard.ts";
import type { InflationLimits } from "../../base/pure/inflation.ts";
import { isClutter, isSecretFile } from "../../base/pure/left-out.ts";
import { linkProblem, pathProblem, withoutEndSlashes } from "../../base/pure/source-tree.ts";
import { Failure } from "../../base/wire/failure.ts";
import { requireWithin, withUsualModes } from "../push/tree.ts";
import type { Member } from "./member.ts";
import { readZip } from "./unzip.ts";

interface UnpackLimits {
  filesMax: number;
  bytesMax: number;
  /** Limits of all that comes out of the archive, written or skipped, in relation to its size. */
  inflation: InflationLimits;
  /** The archive has no modes: what begins like a script or a program is one. */
  guessModes: boolean;
}

/**
 * Writes what an archive holds into a new folder: tar, gzipped or not, or zip. Secrets and clutter are not written; the
 * answer names the secrets. Fails `invalid` for what cannot be in a folder of source, `too_large` beyond `limits`.
 */
export async function unpack(file: string, folder: string, limits: UnpackLimits): Promise<string[]> {
  mkdirSync(folder, { mode: 0o700 });
  try {
    return await withUsualModes(() => writeMembers(file, folder, limits));
  } catch (error) {
    throw failureOf(error);
  }
}

async function writeMembers(file: string, folder: string, limits: UnpackLimits): Promise<string[]> {
  const secrets: string[] = [];
  const links = new Map<string, string>();
  const folders = new Map<string, number>();
  const found = { files: 0, bytes: 0 };
  const { size } = statSync(file);
  const guard = inflationGuard(() => size, limits.inflation);
  for await (const member of membersOf(file, guard)) {
    const path = withoutEndSlashes(member.name.replace(/^(?:\.\/)+/, ""));
    if (path === "" || path === ".") continue;
    const problem = problemOf(path, member);
    if (problem !== undefined)
      throw new Failure("invalid", `the archive holds ${JSON.stringify(path.slice(0, 200))}, which ${problem}`);
    if (isClutter(path)) continue;
    if (member.kind === "folder") folders.set(path, member.mode ?? 0o755);
    else found.files += 1;
    if (Math.max(found.files, folders.size) > limits.filesMax)
      throw new Failure("too_large", `the archive holds more than ${limits.filesMax} files`);
    if (member.kind === "folder") continue;
    if (isSecretFile(path)) secrets.push(path);
    else if (member.kind === "link") links.set(path, member.target);
    else await writeMember(join(folder, path), member, { found, limits });
  }
  // Before the links: nothing is written or changed through one.
  for (const [path, mode] of folders) {
    mkdirSync(join(folder, path), { recursive: true });
    // We have to read it, whatever the archive says.
    chmodSync(join(folder, path), (mode & 0o777) | 0o700);
  }
  for (const [path, target] of links) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    symlinkSync(target, join(folder, path));
  }
  for (const path of links.keys()) requireWithin(folder, path);
  return secrets;
}

function problemOf(path: string, { kind, target }: Member): string | undefined {
  if (kind === "other") return "is not a file, a folder or a link";
  return pathProblem(path) ?? (kind === "link" ? linkProblem(path, target) : undefined);
}

function failureOf(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (code === "EEXIST" || code === "ENOTDIR" || code === "EISDIR") {
    return new Failure("invalid", "the archive holds a name twice");
  }
  if (code === "ENOSPC") return new Failure("storage_full", "the disk of the server is full");
  return new Failure("invalid", "the archive is broken, or neither tar nor zip", { cause: error });
}

async function writeMember(
  path: string,
  { content, mode = 0o644 }: Member,
  { found, limits }: { found: { bytes: number }; limits: UnpackLimits },
): Promise<void> {
  mkdirSync(dirname(path), { recursive: true });
  const file = await open(path, "wx", 0o600);
  try {
    // Not as the umask of the server would have it.
    await file.chmod((mode & 0o777) | 0o400);
    for await (const part of content) {
      found.bytes += part.length;
      if (found.bytes > limits.bytesMax)
        throw new Failure("too_large", `the archive unpacks to more than ${limits.bytesMax} bytes`);
      await file.write(part);
    }
  } finally {
    await file.close();
  }
  if (limits.guessModes && /^(?:#!|\x7fELF)/.test(headOf(path))) await chmod(path, 0o755);
}

function headOf(file: string): string {
  const bytes = Buffer.alloc(4);
  const descriptor = openSync(file, "r");
  try {
    return bytes.subarray(0, readSync(descriptor, bytes)).toString("latin1");
  } finally {
    closeSync(descriptor);
  }
}

async function* membersOf(file: string, guard: InflationGuard): AsyncGenerator<Member> {
  const head = headOf(file);
  if (head.startsWith("PK\x03\x04")) yield* readZip(file, guard);
  else yield* readTar(file, head.startsWith("\x1f\x8b") ? guard : undefined);
}

const kinds: Record<string, Member["kind"]> = { file: "file", directory: "folder", symlink: "link" };

/** A guard says that it is compressed. */
async function* readTar(file: string, guard: InflationGuard | undefined): AsyncGenerator<Member> {
  const packed = createReadStream(file);
  const steps = guard === undefined ? [] : [createGunzip(), guarded(guard)];
  const archive = extract();
  for (const part of [packed, ...steps]) part.on("error", (error) => archive.destroy(error));
  steps.reduce<Readable>((from, to) => from.pipe(to), packed).pipe(archive);
  try {
    for await (const entry of archive) {
      yield memberOf(entry.header, entry as AsyncIterable<Uint8Array>);
      for await (const _ of entry);
    }
  } finally {
    packed.destroy();
    archive.destroy();
  }
}

function memberOf({ name, type, mode, linkname }: Header, content: AsyncIterable<Uint8Array>): Member {
  const kind = kinds[type ?? "file"] ?? "other";
  return { name, kind, mode: mode === undefined ? undefined : mode & 0o7777, target: linkname ?? "", content };
}
