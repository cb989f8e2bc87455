import { constants } from "node:fs";
import { type FileHandle, mkdir, open, readdir, rm, unlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";

/**
 * A folder in a volume, which a container can change at any time. Everything is reached from a handle of the folder, and no link is
 * followed: what is read and written lies in this folder and nowhere else.
 */
export interface VolumeFolder {
  names(): Promise<string[]>;
  /** Opens a plain file for reading; undefined for what is not one. */
  read(name: string): Promise<FileHandle | undefined>;
  /** Makes a file that is not there yet, which the owner of the folder owns. */
  make(name: string): Promise<FileHandle>;
  remove(name: string): Promise<void>;
  close(): Promise<void>;
}

const { O_DIRECTORY, O_NOFOLLOW, O_RDONLY, O_CREAT, O_EXCL, O_WRONLY, O_NONBLOCK } = constants;

/** Opens a folder below the mount point of a volume; undefined where it is not there, or is a link. `make` makes the last part. */
export async function openVolumeFolder(
  mountPoint: string,
  parts: readonly string[],
  how: { make: boolean } = { make: false },
): Promise<VolumeFolder | undefined> {
  let handle = await open(mountPoint, O_RDONLY | O_DIRECTORY).catch(() => undefined);
  const { uid, gid } = (await handle?.stat()) ?? { uid: 0, gid: 0 };
  for (const [at, part] of parts.entries()) {
    if (handle === undefined) return undefined;
    const path = below(handle, part);
    if (how.make && at === parts.length - 1) {
      await mkdir(path, { mode: 0o700 }).catch(() => undefined);
    }
    const next: FileHandle | undefined = await open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW).catch(() => undefined);
    if (how.make && at === parts.length - 1) await next?.chown(uid, gid);
    await handle.close();
    handle = next;
  }
  return handle && folderOf(handle, { uid, gid });
}

const below = (handle: FileHandle, name: string) => `/proc/self/fd/${handle.fd}/${name}`;

function folderOf(handle: FileHandle, { uid, gid }: { uid: number; gid: number }): VolumeFolder {
  return {
    names: () => readdir(`/proc/self/fd/${handle.fd}`),
    async read(name) {
      const file = await open(below(handle, name), O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch(() => undefined);
      if (file === undefined) return undefined;
      if ((await file.stat()).isFile()) return file;
      await file.close();
      return undefined;
    },
    async make(name) {
      const file = await open(below(handle, name), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o600);
      await file.chown(uid, gid);
      return file;
    },
    remove: (name) => unlink(below(handle, name)),
    close: () => handle.close(),
  };
}

/**
 * Copies files of a volume below a new folder, under other paths, until `bytesMax` are there. Fails `conflict` for a file of
 * more than `fileBytesMax`: a container can make one as large as it likes, on no room at all.
 */
export async function stageFiles(
  folder: VolumeFolder,
  files: readonly { name: string; path: string }[],
  { into, bytesMax, fileBytesMax }: { into: string; bytesMax: number; fileBytesMax: number },
): Promise<{ name: string; path: string; bytes: number }[]> {
  await clearFolder(into);
  const staged: { name: string; path: string; bytes: number }[] = [];
  let bytes = 0;
  for (const { name, path } of files) {
    if (bytes >= bytesMax) break;
    const file = await folder.read(name);
    if (file === undefined) continue;
    try {
      if ((await file.stat()).size > fileBytesMax) throw tooLarge(name, fileBytesMax);
      await mkdir(dirname(join(into, path)), { recursive: true, mode: 0o700 });
      const to = await open(join(into, path), "wx", 0o600);
      const copied = await append(file, to, fileBytesMax).finally(() => to.close());
      if (copied > fileBytesMax) throw tooLarge(name, fileBytesMax);
      bytes += copied;
      staged.push({ name, path, bytes: copied });
    } finally {
      await file.close();
    }
  }
  return staged;
}

function tooLarge(name: string, bytesMax: number): Failure {
  const text = `${name} in the outbox has more than ${bytesMax} bytes, which no WAL has`;
  return new Failure("conflict", `${text}; find out which container of the block wrote it, and remove it there`);
}

const [pieceBytes, textBytesMax] = [1024 * 1024, 64 * 1024];

/** Writes what one file holds behind what another one holds, in pieces. Ends beyond `bytesMax`: a file may grow meanwhile. */
async function append(from: FileHandle, to: FileHandle, bytesMax = Infinity): Promise<number> {
  const buffer = Buffer.allocUnsafe(pieceBytes);
  let bytes = 0;
  while (bytes <= bytesMax) {
    const { bytesRead } = await from.read(buffer, 0, pieceBytes, null);
    if (bytesRead === 0) break;
    await to.appendFile(buffer.subarray(0, bytesRead));
    bytes += bytesRead;
  }
  return bytes;
}

/** Writes a file of a volume from files elsewhere, one behind the other. */
export async function joinFiles(folder: VolumeFolder, name: string, paths: readonly string[]): Promise<void> {
  const file = await folder.make(name);
  try {
    for (const path of paths) {
      const from = await open(path, O_RDONLY);
      await append(from, file).finally(() => from.close());
    }
  } finally {
    await file.close();
  }
}

/** The text of a small file of a volume; empty where there is none, or a large one. */
export async function textIn(folder: VolumeFolder | undefined, name: string): Promise<string> {
  const file = await folder?.read(name);
  if (file === undefined) return "";
  try {
    // Its size says nothing: a container may make it larger at any moment.
    const { bytesRead, buffer } = await file.read(Buffer.alloc(textBytesMax + 1));
    return bytesRead > textBytesMax ? "" : buffer.toString("utf8", 0, bytesRead);
  } finally {
    await file.close();
  }
}

/** Removes every file that is in it. */
export async function clearNames(folder: VolumeFolder): Promise<void> {
  for (const name of await folder.names()) await folder.remove(name);
}

export async function writeText(folder: VolumeFolder, name: string, text: string): Promise<void> {
  const file = await folder.make(name);
  try {
    await file.writeFile(text);
  } finally {
    await file.close();
  }
}

/** Makes an empty folder of the server's own, whatever was there. */
export async function clearFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
  await mkdir(path, { recursive: true, mode: 0o700 });
}

export async function removeFolder(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true });
}
