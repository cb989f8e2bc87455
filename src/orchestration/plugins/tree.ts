import { chmod, chown, copyFile, lchown, lstat, mkdir, readdir, realpath, stat } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { Failure } from "../../base/wire/failure.ts";

export interface TreeLimits {
  filesMax: number;
  /** Size of all files together. */
  bytesMax: number;
}

const depthMax = 32;

/**
 * Copies a package into `to`, which is made. A link becomes a copy of the file that it names, which must lie inside
 * the package as well; `.git` is left out. Fails `invalid` for links that lead out and for what is not a file, `too_large`
 * beyond `limits`.
 */
export async function copyTree(from: string, to: string, limits: TreeLimits): Promise<void> {
  const root = await realpath(from);
  const spent = { files: 0, bytes: 0 };
  const copy = async (folder: string, target: string, depth: number): Promise<void> => {
    if (depth > depthMax) throw new Failure("invalid", `the package is nested deeper than ${depthMax} folders`);
    await mkdir(target, { recursive: true, mode: 0o755 });
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (entry.name === ".git") continue;
      requireReadable(entry.name, folder);
      const path = join(folder, entry.name);
      if (entry.isDirectory()) await copy(path, join(target, entry.name), depth + 1);
      else await copyOne(path, join(target, entry.name), { root, limits, spent });
    }
  };
  await copy(root, to, 0);
}

/** A name that is not UTF-8 comes with this in it, and nothing is found under it. */
function requireReadable(name: string, folder: string): void {
  if (!name.includes("\ufffd")) return;
  throw new Failure("invalid", `the name "${name}" in "${basename(folder)}" is not valid UTF-8`);
}

async function copyOne(
  path: string,
  target: string,
  { root, limits, spent }: { root: string; limits: TreeLimits; spent: { files: number; bytes: number } },
): Promise<void> {
  const shown = relative(root, path);
  const source = await inside(path, root);
  if (source === undefined)
    throw new Failure("invalid", `"${shown}" is a link that leads out of the package, or nowhere`);
  const found = await stat(source);
  if (found.isDirectory())
    throw new Failure("invalid", `"${shown}" is a link to a folder; put the folder itself there`);
  if (!found.isFile()) throw new Failure("invalid", `"${shown}" is neither a file nor a folder`);
  spent.files += 1;
  spent.bytes += found.size;
  checkSize(spent, limits);
  await copyFile(source, target);
  await chmod(target, (found.mode & 0o111) === 0 ? 0o644 : 0o755);
}

/** Links resolved; undefined where that leads out of `root`. */
async function inside(path: string, root: string): Promise<string | undefined> {
  const found = await lstat(path);
  if (!found.isSymbolicLink()) return path;
  const target = await realpath(path).catch(() => undefined);
  return target?.startsWith(`${root}/`) === true ? target : undefined;
}

/** Fails `too_large`. */
export function checkSize(spent: { files: number; bytes: number }, { filesMax, bytesMax }: TreeLimits): void {
  if (spent.files > filesMax) throw new Failure("too_large", `the package has more than ${filesMax} files`);
  if (spent.bytes > bytesMax) throw new Failure("too_large", `the package is larger than ${bytesMax} bytes`);
}

/** Paths of everything in `folder` that is not a folder, with `/`, sorted. Links are not followed. Fails `too_large`. */
export async function filesOf(folder: string, limits: TreeLimits): Promise<string[]> {
  const found: string[] = [];
  const walk = async (below: string, depth: number): Promise<void> => {
    if (depth > depthMax) throw new Failure("invalid", `the package is nested deeper than ${depthMax} folders`);
    for (const entry of await readdir(join(folder, below), { withFileTypes: true })) {
      requireReadable(entry.name, join(folder, below));
      const path = below === "" ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) await walk(path, depth + 1);
      else found.push(path);
      checkSize({ files: found.length, bytes: 0 }, limits);
    }
  };
  await walk("", 0);
  return found.sort();
}

/** Gives a package to a user; no other user gets into it but root. Links are not followed. */
export async function giveTo(folder: string, user: number): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) await giveTo(path, user);
    else await lchown(path, user, user);
  }
  await chmod(folder, 0o700);
  // Last: until then only we can put something else into it.
  await chown(folder, user, user);
}

/**
 * After a hook or a change: what a link out of the package leads to is not locked, and may be anybody's. Fails `invalid` with the
 * first one.
 */
export async function requireLinksInside(folder: string): Promise<void> {
  const root = await realpath(folder);
  const look = async (below: string, depth: number): Promise<void> => {
    if (depth > depthMax) throw new Failure("invalid", `the package is nested deeper than ${depthMax} folders`);
    for (const entry of await readdir(below, { withFileTypes: true })) {
      const path = join(below, entry.name);
      if (entry.isDirectory()) await look(path, depth + 1);
      if (!entry.isSymbolicLink() || (await inside(path, root)) !== undefined) continue;
      const shown = relative(root, path);
      throw new Failure("invalid", `"${shown}" of the installed package is a link that leads out of it, or nowhere`);
    }
  };
  await look(root, 0);
}

/** Programs, hooks included, can be started whatever the source said about their modes. */
export async function makeExecutable(folder: string): Promise<void> {
  const programs: string[] = ["install", "uninstall"];
  for (const sub of ["bin", "commands"]) {
    const entries = await readdir(join(folder, sub), { withFileTypes: true }).catch(() => []);
    programs.push(...entries.filter((entry) => entry.isFile()).map((entry) => join(sub, entry.name)));
  }
  for (const program of programs) {
    const path = join(folder, program);
    if ((await lstat(path).catch(() => undefined))?.isFile() === true) await chmod(path, 0o755);
  }
}
