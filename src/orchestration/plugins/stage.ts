import { randomBytes } from "node:crypto";
import { chmod, copyFile, lstat, mkdir, readdir, rm, stat } from "node:fs/promises";
import { basename, dirname, isAbsolute, join } from "node:path";
import { Failure } from "../../base/wire/failure.ts";
import type { PluginYml } from "../api/plugins/plugin-yml.ts";
import { canonicalJson } from "../../base/pure/digest.ts";
import type { Machine } from "../core/plugins/release-assets.ts";
import type { PluginSource } from "../core/plugins/source.ts";
import { type Connection, fetchGit } from "./fetch-git.ts";
import { type Download, fetchRelease, type Release } from "./fetch-release.ts";
import { letThrough, type PluginFolders } from "./folders.ts";
import type { Host } from "./host.ts";
import { readPackage } from "./package.ts";
import { copyTree, makeExecutable, type TreeLimits } from "./tree.ts";
import type { PackageLimits } from "./untar.ts";

export interface StageOptions {
  folders: PluginFolders;
  host: Pick<Host, "run">;
  /** What every plugin gets. */
  env: Readonly<Record<string, string>>;
  /** Where releases are, without a slash at the end: `https://github.com`. */
  releasesUrl: string;
  machine: Machine;
  download: Download;
  connection: Connection;
  limits: PackageLimits;
  fetchMs: number;
}

export interface Fetched {
  /** Where the package lies, unchecked. */
  folder: string;
  yml: PluginYml;
  commit: string;
  /** What the source itself calls the version. */
  tag: string;
  program: Release["program"];
  /** What could not be made sure of. */
  warnings: string[];
}

interface FetchWish {
  source: PluginSource;
  version: string | undefined;
  signal?: AbortSignal | undefined;
  onLine?: ((line: string) => void) | undefined;
}

const lookMs = 500;

/** A place of its own under `.staging` for what is fetched; gone when `use` has ended. */
export async function withStaging<T>({ staging }: PluginFolders, use: (folder: string) => Promise<T>): Promise<T> {
  const folder = join(staging, randomBytes(8).toString("hex"));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    return await use(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Brings a package near and reads it; nothing of it has been run. */
export async function fetchPackage(options: StageOptions, staging: string, wish: FetchWish): Promise<Fetched> {
  const { source } = wish;
  if (source.type === "local") return readLocal(source.path);
  const to = join(staging, "package");
  if (source.type === "git") {
    // A clone holds its files twice: packed, and checked out.
    const growth = { bytesMax: 2 * options.limits.bytesMax, everyMs: lookMs, signal: wish.signal };
    wish.onLine?.(`cloning ${source.url}`);
    const { commit } = await whileSmall(staging, growth, (signal) =>
      fetchGit({
        ...options,
        ...wish,
        signal,
        id: basename(staging),
        url: source.url,
        to,
        timeoutMs: options.fetchMs,
      }),
    );
    const { yml } = await readPackage(to, repositoryName(source.url));
    return { folder: to, yml, commit, tag: "", program: undefined, warnings: [] };
  }
  await mkdir(to);
  const limit = AbortSignal.timeout(options.fetchMs);
  const signal = wish.signal === undefined ? limit : AbortSignal.any([wish.signal, limit]);
  const { owner, repo } = source;
  const fetch = { ...options, ...wish, owner, repo, to, signal, baseUrl: options.releasesUrl };
  const release = await fetchRelease(fetch).catch((cause: unknown) => {
    const isTold = cause instanceof Failure && cause.code === "timeout";
    // What breaks off in the middle breaks in many ways.
    if (!signal.aborted || isTold) throw cause;
    throw new Failure("timeout", `${owner}/${repo} was not there in time, or the install was interrupted`, { cause });
  });
  const { yml } = await readPackage(to, repo);
  return { folder: to, yml, ...release };
}

async function readLocal(path: string): Promise<Fetched> {
  if (!isAbsolute(path))
    throw new Failure("invalid", `"${path}" must be an absolute path: the server has a folder of its own`);
  const found = await stat(path).catch(() => undefined);
  if (found === undefined) throw new Failure("not_found", `there is not a folder "${path}" on the server`);
  if (!found.isDirectory()) throw new Failure("invalid", `"${path}" is not a folder`);
  const { yml } = await readPackage(path);
  return { folder: path, yml, commit: "", tag: "", program: undefined, warnings: [] };
}

function repositoryName(url: string): string {
  return (/([^/:]+?)(?:\.git)?\/?$/.exec(url)?.[1] ?? "plugin").toLowerCase();
}

/** The version, as it is shown. */
export function versionText({ yml, tag }: Pick<Fetched, "yml" | "tag">): string {
  return yml.version || tag.replace(/^v(?=\d)/, "");
}

/**
 * Copies what was fetched, programs executable; returns what the copy calls itself. Fails `conflict` where that asks
 * for something else than what was read before: somebody works in that folder.
 */
export async function putInPlace(fetched: Fetched, to: string, limits: TreeLimits): Promise<PluginYml> {
  const { folder, program } = fetched;
  await mkdir(dirname(to), { recursive: true, mode: 0o755 });
  await letThrough(dirname(to));
  await copyTree(folder, to, limits);
  if (program !== undefined) {
    const target = join(to, program.path);
    await mkdir(dirname(target), { recursive: true });
    await rm(target, { force: true });
    await copyFile(program.file, target);
    await chmod(target, 0o755);
  }
  await makeExecutable(to);
  const { yml } = await readPackage(to, fetched.yml.name);
  if (!asksTheSame(yml, fetched.yml)) {
    throw new Failure("conflict", `the package "${fetched.yml.name}" changed while it was copied; try again`);
  }
  return yml;
}

/** The program of a release may be a command that the package alone did not have. */
function asksTheSame(one: PluginYml, other: PluginYml): boolean {
  return canonicalJson({ ...one, commands: [] }) === canonicalJson({ ...other, commands: [] });
}

interface GrowthLimit {
  bytesMax: number;
  /** Between two looks. */
  everyMs: number;
  signal?: AbortSignal | undefined;
}

/**
 * Does work that fills `folder`, and aborts it when that grows beyond the limit: what is fetched by a program of its own
 * cannot be counted on its way. Fails `too_large` then, and as the work does otherwise.
 */
export async function whileSmall<T>(
  folder: string,
  { bytesMax, everyMs, signal }: GrowthLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  let isLooking = false;
  const look = async () => {
    if (isLooking) return;
    isLooking = true;
    if ((await bytesIn(folder, bytesMax)) > bytesMax) over.abort();
    isLooking = false;
  };
  const timer = setInterval(() => void look(), everyMs);
  try {
    return await work(signal === undefined ? over.signal : AbortSignal.any([signal, over.signal]));
  } catch (error) {
    if (!over.signal.aborted) throw error;
    throw new Failure("too_large", `what is fetched grows beyond ${bytesMax} bytes`, { cause: error });
  } finally {
    clearInterval(timer);
  }
}

/** Bytes of all files below, counted not much further than `enough`. What goes away meanwhile counts nothing. */
async function bytesIn(folder: string, enough: number): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    if (bytes > enough) break;
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await bytesIn(path, enough - bytes);
    else bytes += (await lstat(path).catch(() => ({ size: 0 }))).size;
  }
  return bytes;
}
