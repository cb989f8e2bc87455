import { constants } from "node:fs";
import { type FileHandle, open, readFile, readlink, realpath, rm } from "node:fs/promises";
import { join } from "node:path";
import { sha256Hex } from "../../base/pure/digest.ts";
import type { PluginFolders } from "./folders.ts";
import type { FileRecord } from "./plugin.ts";
import { filesOf, type TreeLimits } from "./tree.ts";
import type { WriteFile } from "./state.ts";

export interface TextLimits {
  /** Size of one file; a larger one has no text. */
  fileBytesMax: number;
  /** Size of all texts of a version together. */
  allBytesMax: number;
}

interface Version {
  name: string;
  id: string;
}

/** Texts of a version by path, as they were locked: a lock knows only their hashes. */
export type Texts = Readonly<Record<string, string>>;

/** Name of the file with the texts of a version, beside its folder: the plugin's own user cannot write there. */
function textsName(id: string): string {
  return `${id}.texts.json`;
}

/** Whether a file beside the versions holds the texts of one, or is about to: what is written whole begins by another name. */
export function isTextsOf(file: string, id: string): boolean {
  return file === textsName(id) || file.startsWith(`.${textsName(id)}.`);
}

/** Keeps the texts of a version. What is run comes first, for as much as may be kept. */
export async function keepTexts(
  disk: { folders: PluginFolders; writeFile: WriteFile },
  { name, id }: Version,
  texts: Texts,
): Promise<void> {
  await disk.writeFile(join(disk.folders.versions, name, textsName(id)), JSON.stringify(texts), 0o600);
}

export async function dropTexts({ versions }: PluginFolders, { name, id }: Version): Promise<void> {
  await rm(join(versions, name, textsName(id)), { force: true });
}

/** Empty for a version that was installed before texts were kept, and for a damaged file. */
export async function keptTexts({ versions }: PluginFolders, { name, id }: Version): Promise<Texts> {
  try {
    const value: unknown = JSON.parse(await readFile(join(versions, name, textsName(id)), "utf8"));
    return typeof value === "object" && value !== null ? (value as Texts) : {};
  } catch {
    return {};
  }
}

/**
 * Texts of a package that was locked. What was written since then is not part of it: a later look would show it as what
 * was there before.
 */
export async function lockedTexts(
  folder: string,
  files: Readonly<Record<string, FileRecord>>,
  limits: TreeLimits & { texts: TextLimits },
): Promise<Texts> {
  const found: Record<string, string> = {};
  let left = limits.texts.allBytesMax;
  for (const path of (await filesOf(folder, limits)).sort((a, b) => rank(a) - rank(b))) {
    const text = await textOf(folder, path, Math.min(left, limits.texts.fileBytesMax));
    if (text === undefined || sha256Hex(text) !== files[path]?.sha256) continue;
    left -= Buffer.byteLength(text);
    found[path] = text;
  }
  return found;
}

/** Plugin.yml and hooks, then programs, then the rest. */
function rank(path: string): number {
  if (!path.includes("/")) return 0;
  return /^(?:bin|commands)\//.test(path) ? 1 : 2;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Undefined for what is not text, is too large, or is not really in the folder. */
export async function textOf(folder: string, path: string, bytesMax: number): Promise<string | undefined> {
  return inPackage(folder, path, async (handle) => {
    const { size } = await handle.stat();
    if (size > bytesMax) return undefined;
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await handle.read(bytes, 0, size, 0);
    return decoded(bytes.subarray(0, bytesRead));
  });
}

function decoded(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Opens a regular file of a package. The folder can belong to the plugin's own user, who could put a link to another
 * file there, in the path too, or a second name of one: those give undefined.
 */
export async function inPackage<T>(
  folder: string,
  path: string,
  use: (handle: FileHandle) => Promise<T>,
): Promise<T | undefined> {
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await open(join(folder, path), flags).catch(() => undefined);
  if (handle === undefined) return undefined;
  try {
    const found = await handle.stat();
    const real = await readlink(`/proc/self/fd/${handle.fd}`);
    if (!found.isFile() || found.nlink !== 1 || real !== join(await realpath(folder), path)) return undefined;
    return await use(handle);
  } finally {
    await handle.close();
  }
}
