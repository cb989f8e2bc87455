import { readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { gunzip, gzip } from "node:zlib";
import { type ContentTimes, nextTimes } from "../pure/content-times.ts";
import { sha256Hex } from "../pure/digest.ts";
import type { ContextEntry } from "../pure/source-tree.ts";
import { writeAtomic } from "./atomic-write.ts";

const suffix = ".times";
const [pack, unpack] = [promisify(gzip), promisify(gunzip)];

/**
 * The times of the files of each app, kept beside the packed folders. Without its file an app begins again: then every file
 * is as old as its next build, which is later than all before.
 */
export async function contentTimes(
  folder: string,
  app: string,
  { entries, now }: { entries: readonly ContextEntry[]; now: number },
): Promise<ContentTimes["files"]> {
  const path = join(folder, `${sha256Hex(app)}${suffix}`);
  const before = await read(path);
  const after = nextTimes(before, entries, Math.floor(now / 1000));
  const rows = Array.from(after.files, ([name, { mark, time }]) => [name, mark, time]);
  await writeAtomic(path, await pack(JSON.stringify({ newest: after.newest, rows })), 0o600);
  return after.files;
}

async function read(path: string): Promise<ContentTimes | undefined> {
  try {
    const text = (await unpack(await readFile(path))).toString();
    const { newest, rows } = JSON.parse(text) as { newest: number; rows: [string, string, number][] };
    return { newest, files: new Map(rows.map(([name, mark, time]) => [name, { mark, time }])) };
  } catch {
    return undefined;
  }
}

/** Keeps those of as many apps as `appsMax`, the last that were built. */
export async function collectContentTimes(folder: string, appsMax: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(suffix));
  if (names.length <= appsMax) return;
  const files = await Promise.all(
    names.map(async (name) => ({
      name,
      at: await stat(join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    })),
  );
  const old = files.sort((a, b) => b.at - a.at).slice(appsMax);
  for (const { name } of old) await rm(join(folder, name), { force: true });
}
