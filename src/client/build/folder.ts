import { closeSync, existsSync, lstatSync, openSync, readdirSync, readlinkSync, readSync } from "node:fs";
import { join } from "node:path";
import { sha256Hex } from "../../base/pure/digest.ts";
import { type ContextEntry, linkProblem, neededEntries, pathProblem, plainMode } from "../../base/pure/source-tree.ts";
import { CommandFailure } from "../basics/failures.ts";
import type { IgnoreRules } from "../../base/pure/git-rules.ts";
import { isClutter, isSecretFile } from "../../base/pure/left-out.ts";
import { type IgnoreFiles, readIgnoreFiles } from "./ignore-files.ts";

/** A file, link or folder of a folder that is packed. */
export interface SourceEntry extends ContextEntry {
  size: number;
  /** Where a link leads. */
  target: string;
  /** A file that is not on the disk, such as a generated Dockerfile. */
  text?: string;
}

/** A folder as it is packed. */
export interface SourceFolder {
  root: string;
  entries: SourceEntry[];
  bytes: number;
  /** Files that are left out because they look like secrets. */
  secrets: string[];
  /** Files of Git LFS whose content is not there, only the pointer to it. */
  pointers: string[];
  /** The file whose rules say what is left out; undefined: there is none. */
  rules: string | undefined;
}

export interface FolderLimits {
  filesMax: number;
  bytesMax: number;
  /** Size of a file that says what is left out or how to build. */
  textBytesMax: number;
}

/**
 * Looks at all of a folder but what its `.dockerignore` (or, without one, its `.gitignore` files) and its `.berthignore`
 * leave out. `always` are paths that are part of it whatever the rules say; a Dockerfile among them that has a file of
 * rules of its own, `web.Dockerfile.dockerignore`, goes by those, as in Docker. Fails for links that lead out of it,
 * entries that are not files, and beyond `limits`.
 */
export async function readFolder(root: string, always: readonly string[], limits: FolderLimits): Promise<SourceFolder> {
  const folder: SourceFolder = { root, entries: [], bytes: 0, secrets: [], pointers: [], rules: undefined };
  const ofDockerfile = always.map((path) => `${path}.dockerignore`).find((path) => existsSync(join(root, path)));
  const dockerName = ofDockerfile ?? ".dockerignore";
  const ignore = readIgnoreFiles(root, { dockerName, textBytesMax: limits.textBytesMax });
  folder.rules = ignore.source;
  const walk = {
    folder,
    // The engine reads it too: what it says of itself and of the Dockerfile is left out of the image, not of what is sent.
    always: new Set(ignore.source === ".dockerignore" ? [...always, dockerName] : always),
    ignore,
    limits,
    counts: { file: 0, link: 0, folder: 0 },
  };
  await readLevel(walk, "", undefined);
  folder.secrets.sort();
  folder.pointers.sort();
  folder.entries = neededEntries(folder.entries).sort((a, b) => (a.path < b.path ? -1 : 1));
  return folder;
}

interface Walk {
  folder: SourceFolder;
  always: ReadonlySet<string>;
  ignore: IgnoreFiles;
  limits: FolderLimits;
  counts: Record<SourceEntry["kind"], number>;
}

/** `around` are the rules of the `.gitignore` files of the folders around `below`. */
async function readLevel(walk: Walk, below: string, around: IgnoreRules | undefined): Promise<void> {
  const { folder, always, ignore } = walk;
  const git = ignore.gitIn(below, around);
  const rules = git === undefined ? ignore.fixed : [...ignore.fixed, git];
  for (const item of readable(below, () => readdirSync(join(folder.root, below), { withFileTypes: true }))) {
    const path = `${below}${item.name}`;
    if (isClutter(path)) continue;
    const isFolder = item.isDirectory();
    const stays = always.has(path);
    if (isSecretFile(path) && !isFolder && !stays && !ignore.named.has(path)) {
      folder.secrets.push(path);
      continue;
    }
    const leaving =
      stays || ignore.named.has(path) ? [] : rules.filter((rule) => rule.leavesOut(isFolder ? `${path}/` : path));
    const holdsOne = isFolder && [...always].some((one) => one.startsWith(`${path}/`));
    if (isFolder) {
      if (leaving.length === 0) await readEntry(walk, path);
      if (leaving.every((rule) => !rule.prunes) || holdsOne) await readLevel(walk, `${path}/`, git);
    } else if (leaving.length === 0) await readEntry(walk, path);
  }
}

async function readEntry({ folder, limits, counts }: Walk, path: string): Promise<void> {
  const { root, entries } = folder;
  const full = join(root, path);
  const info = readable(path, () => lstatSync(full));
  const target = info.isSymbolicLink() ? readable(path, () => readlinkSync(full)) : "";
  const problem = pathProblem(path) ?? (info.isSymbolicLink() ? linkProblem(path, target) : undefined);
  if (problem !== undefined)
    throw new CommandFailure(`${JSON.stringify(path)} ${problem}; leave it out in .berthignore`);
  const kind = info.isFile() ? "file" : info.isSymbolicLink() ? "link" : info.isDirectory() ? "folder" : undefined;
  if (kind === undefined) return;
  folder.bytes += info.isFile() ? info.size : 0;
  if (counts[kind] >= limits.filesMax)
    throw new CommandFailure(`${root} holds more than ${limits.filesMax} files: ${howToLess}`);
  if (folder.bytes > limits.bytesMax)
    throw new CommandFailure(`${root} holds more than ${limits.bytesMax} bytes: ${howToLess}`);
  counts[kind] += 1;
  const { digest, isPointer } = await digestOf(kind, { full, path, target });
  if (isPointer) folder.pointers.push(path);
  const mode = kind === "link" ? 0o777 : plainMode(info.mode);
  entries.push({ path, kind, mode, digest, size: info.isFile() ? info.size : 0, target });
}

interface Read {
  digest: string;
  isPointer: boolean;
}

async function digestOf(
  kind: SourceEntry["kind"],
  { full, path, target }: { full: string; path: string; target: string },
): Promise<Read> {
  if (kind === "link") return { digest: sha256Hex(target), isPointer: false };
  if (kind === "folder") return { digest: "", isPointer: false };
  return fileDigest(full).catch((error) => {
    throw unreadable(error, path);
  });
}

function readable<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw unreadable(error, path);
  }
}

/** What an operator reads where a file cannot be read: it was removed meanwhile, or it is for somebody else. */
export function unreadable(error: unknown, path: string): unknown {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  if (typeof code !== "string" || error instanceof CommandFailure) return error;
  const why = { ENOENT: "it was removed meanwhile", EACCES: "permission denied" }[code] ?? (error as Error).message;
  return new CommandFailure(
    `cannot read ${JSON.stringify(path || ".")}: ${why}. Try again, or leave it out in .berthignore.`,
  );
}

const howToLess = "leave out what the build does not need, in .berthignore or .dockerignore";

/** Reading at once is twice as fast as a stream; after as many bytes as this, Ctrl-C and the like get their turn. */
const turnBytes = 16 * 1024 * 1024;
const piece = Buffer.allocUnsafe(1024 * 1024);
let bytesThisTurn = 0;

/** How a pointer of Git LFS begins, and the size that none reaches. */
const lfsHead = Buffer.from("version https://git-lfs.github.com/spec/v1\n");
const lfsBytesMax = 1024;

async function fileDigest(path: string): Promise<Read> {
  const hash = new Bun.CryptoHasher("sha256");
  const file = openSync(path, "r");
  let isPointer = false;
  try {
    for (let isFirst = true; ; isFirst = false) {
      const length = readSync(file, piece);
      if (length === 0) return { digest: hash.digest("hex"), isPointer };
      isPointer = isFirst && length < lfsBytesMax && piece.subarray(0, lfsHead.length).equals(lfsHead);
      hash.update(piece.subarray(0, length));
      bytesThisTurn += length;
      if (bytesThisTurn < turnBytes) continue;
      bytesThisTurn = 0;
      await new Promise((resolve) => setImmediate(resolve));
    }
  } finally {
    closeSync(file);
  }
}
