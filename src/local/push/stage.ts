import { existsSync, readdirSync, statSync } from "node:fs";
import { chmod, copyFile, link, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { sha256Hex } from "../../base/pure/digest.ts";
import type { Layout } from "../../base/disk/layout.ts";
import { Failure, shownCause } from "../../base/wire/failure.ts";
import { staged } from "../staging.ts";
import { gitEnvironment, gitText, runGit } from "./git.ts";

/** Repositories of scopes and of single apps, by their paths in the folder. */
function repositoriesIn(folder: string): string[] {
  const isOne = (path: string) => path.endsWith(".git") && existsSync(join(folder, path, "HEAD"));
  return namesIn(folder).flatMap((name) =>
    isOne(name)
      ? [name]
      : namesIn(join(folder, name))
          .flatMap((inner) => join(name, inner))
          .filter(isOne),
  );
}

function namesIn(folder: string): string[] {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found?.isDirectory() ? readdirSync(folder).sort() : [];
}

/** A digest of what all repositories have as branches, tags and HEAD; empty where there is none. */
export function repositoriesDigest({ repositories }: Pick<Layout, "repositories">): string {
  const found = repositoriesIn(repositories).flatMap((name) => {
    const repository = join(repositories, name);
    const refs = readdirSync(join(repository, "refs"), { recursive: true }).map((path) => `refs/${String(path)}`);
    return [name, ...["HEAD", "packed-refs", ...refs.sort()].flatMap((path) => writtenAt(repository, path))];
  });
  return found.length === 0 ? "" : sha256Hex(found.join("\n"));
}

function writtenAt(repository: string, path: string): string[] {
  const found = statSync(join(repository, path), { throwIfNoEntry: false });
  return found?.isFile() ? [`${path} ${found.mtimeMs} ${found.size}`] : [];
}

/** Copies of all repositories, each whole although somebody may push meanwhile. Their objects are links: they never change. */
export async function stageRepositories({ repositories, copies }: Pick<Layout, "repositories" | "copies">) {
  const folder = join(copies, "repositories");
  return staged(folder, async () => {
    for (const name of repositoriesIn(repositories)) await copyWhole(repositories, folder, name);
  });
}

/** git may pack objects again meanwhile, and remove what it has packed. */
const triesMax = 5;

async function copyWhole(repositories: string, folder: string, name: string): Promise<void> {
  const [from, to] = [join(repositories, name), join(folder, name)];
  await makeShared(folder, dirname(name));
  for (let tries = 1; ; tries += 1) {
    try {
      return await copyOnce(from, to);
    } catch (error) {
      await rm(to, { recursive: true, force: true });
      if (tries === triesMax) throw new Failure("conflict", brokenText(from, name, error));
    }
  }
}

function brokenText(path: string, name: string, error: unknown): string {
  const mend = `remove ${path} and push again; until then no repository is copied`;
  return `the git repository "${name}" cannot be copied whole: ${shownCause(error)}; ${mend}`;
}

/**
 * First what names objects, then objects: a push adds its objects before it changes what names them. Of these first the
 * loose ones: what git packs meanwhile is in a pack then. Fails where something that is named is missing.
 */
async function copyOnce(from: string, to: string): Promise<void> {
  const listed = ["for-each-ref", "--format=%(objectname) %(refname)"];
  const refs = await gitText(listed, gitEnvironment(from));
  for (const part of ["refs/heads", "objects/pack"]) await makeShared(dirname(to), join(basename(to), part));
  await writeFile(join(to, "packed-refs"), refs);
  await chmod(join(to, "packed-refs"), 0o660);
  for (const name of ["HEAD", "config", "shallow"])
    if (existsSync(join(from, name))) await copyFile(join(from, name), join(to, name));
  for (const fan of (await readdir(join(from, "objects"))).filter((name) => /^[0-9a-f]{2}$/.test(name))) {
    await makeShared(to, `objects/${fan}`);
    const loose = (await readdir(join(from, "objects", fan))).filter((name) => /^[0-9a-f]{38,62}$/.test(name));
    for (const name of loose) await linked(from, to, `objects/${fan}/${name}`);
  }
  const packs = await readdir(join(from, "objects/pack"));
  // git writes the index last.
  for (const index of packs.filter((name) => /^pack-[0-9a-f]+\.idx$/.test(name)))
    for (const end of ["idx", "pack"]) await linked(from, to, `objects/pack/${index.slice(0, -"idx".length)}${end}`);
  if ((await gitText(listed, gitEnvironment(to))) !== refs)
    throw new Failure("conflict", "git does not find its branches in the copy");
  await runGit(["fsck", "--connectivity-only", "--no-dangling", "--no-progress"], { env: gitEnvironment(to) });
}

/** As git makes folders of a repository that a group shares. */
async function makeShared(repository: string, path: string): Promise<void> {
  await mkdir(join(repository, path), { recursive: true });
  for (let at = join(repository, path); at.length > repository.length; at = dirname(at)) await chmod(at, 0o2770);
}

/** A copy where the file cannot be linked: it may lie on another disk, or be another user's. */
async function linked(from: string, to: string, path: string): Promise<void> {
  const [source, target] = [join(from, path), join(to, path)];
  await link(source, target).catch(() => copyFile(source, target));
}
