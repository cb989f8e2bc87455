import { createHash } from "node:crypto";
import { open, rm } from "node:fs/promises";
import { Failure } from "../../base/wire/failure.ts";
import {
  assetNames,
  type AssetName,
  checksumFiles,
  type Machine,
  parseChecksums,
} from "../core/plugins/release-assets.ts";
import { isVersionWord, tagsOf } from "../core/plugins/source.ts";
import { readPackage } from "./package.ts";
import { type PackageLimits, untar } from "./untar.ts";

/** The platform's `fetch`, as far as it is used. */
export type Download = (url: string, init: { signal: AbortSignal; redirect?: "manual" }) => Promise<Response>;

interface ReleaseFetch {
  owner: string;
  repo: string;
  /** The newest release without it. */
  version: string | undefined;
  /** An existing empty folder. */
  to: string;
  /** `https://github.com`, or a mirror with the same paths. No slash at the end. */
  baseUrl: string;
  machine: Machine;
  download: Download;
  limits: PackageLimits;
  signal: AbortSignal;
  onLine?: ((line: string) => void) | undefined;
}

export interface Release {
  tag: string;
  commit: string;
  /** The program for this machine: where it was put, and where in the package it belongs. */
  program: { file: string; path: string } | undefined;
  warnings: string[];
}

const textBytesMax = 1024 * 1024;

/**
 * Takes a release: the tarball of its tag into `to`, then, where the release has one, the program for this machine with
 * its checksum into a file beside it. Fails `not_found` without such a release, `conflict` for a program that is not what its checksum says.
 */
export async function fetchRelease(fetch: ReleaseFetch): Promise<Release> {
  const { repo, to, limits } = fetch;
  const { tag, body } = await tarball(fetch);
  const { comment = "" } = await untar(body, to, limits);
  const { yml } = await readPackage(to, repo);
  const bases = [...(yml.entrypoint === undefined ? [] : [baseName(yml.entrypoint)]), repo, yml.name];
  const asset = await takeAsset(fetch, tag, assetNames(bases, fetch.machine));
  const program = asset === undefined ? undefined : { file: asset.file, path: pathFor(asset.base, yml.entrypoint) };
  const warnings = asset?.unchecked === undefined ? [] : [`${asset.name} is taken as it came: ${asset.unchecked}`];
  return { tag, commit: /^[0-9a-f]{40,64}$/.test(comment) ? comment : "", program, warnings };
}

function pathFor(base: string, entrypoint: string | undefined): string {
  return entrypoint !== undefined && baseName(entrypoint) === base ? entrypoint : `bin/${base}`;
}

function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

async function tarball(fetch: ReleaseFetch): Promise<{ tag: string; body: ReadableStream<Uint8Array> }> {
  const { owner, repo, version, onLine } = fetch;
  const tags = version === undefined ? [await newestTag(fetch)] : tagsOf(version);
  for (const tag of tags) {
    const body = await get(fetch, `archive/refs/tags/${encodeURI(tag)}.tar.gz`);
    if (body === undefined) continue;
    onLine?.(`${owner}/${repo} ${tag}`);
    return { tag, body };
  }
  throw new Failure(
    "not_found",
    `${owner}/${repo} has no version "${version ?? tags[0]}" at ${urlOf(fetch, "releases")}`,
  );
}

/** The newest release, as the host's own link to it tells. */
async function newestTag(fetch: ReleaseFetch): Promise<string> {
  const { owner, repo } = fetch;
  const url = urlOf(fetch, "releases/latest");
  const response = await ask(fetch, url, "manual");
  await response.body?.cancel();
  const [, tag] = /\/releases\/tag\/([^/?#]+)$/.exec(response.headers.get("location") ?? "") ?? [];
  const word = tag === undefined ? "" : decodeURIComponent(tag);
  if (isVersionWord(word)) return word;
  const way = "name a version, or install from its git URL";
  throw new Failure("not_found", `${owner}/${repo} has no release at ${url} (status ${response.status}); ${way}`);
}

interface TakenAsset extends AssetName {
  file: string;
  /** Why its checksum is not known. */
  unchecked: string | undefined;
}

/** Downloads the program for this machine next to the package; undefined when the release has none. */
async function takeAsset(fetch: ReleaseFetch, tag: string, names: AssetName[]): Promise<TakenAsset | undefined> {
  const sums = await checksums(fetch, tag);
  const listed = names.filter(({ name }) => sums?.has(name) === true);
  // A list of other files, or a text that is not a list, does not make a program go away.
  const wanted = listed.length > 0 ? listed : names;
  for (const { name, base } of wanted) {
    const body = await get(fetch, assetPath(tag, name));
    if (body === undefined) continue;
    const sum = sums?.get(name) ?? (await ownChecksum(fetch, tag, name));
    const file = `${fetch.to}.asset`;
    const found = await save(body, file, fetch.limits.bytesMax);
    if (sum !== undefined && sum !== found) {
      await rm(file, { force: true });
      throw new Failure(
        "conflict",
        `${name} of ${tag} has the sha256 ${found}, and its checksum file says ${sum}: not installed`,
      );
    }
    fetch.onLine?.(`${name}: sha256 ${found}`);
    const why = sums === undefined ? "the release has no checksum file" : "the checksum file does not name it";
    return { file, name, base, unchecked: sum === undefined ? why : undefined };
  }
  return undefined;
}

function assetPath(tag: string, name: string): string {
  return `releases/download/${encodeURI(tag)}/${encodeURIComponent(name)}`;
}

/** Checksums of the whole release, by file name; undefined when it has none. */
async function checksums(fetch: ReleaseFetch, tag: string): Promise<Map<string, string> | undefined> {
  for (const file of checksumFiles) {
    const text = await getText(fetch, assetPath(tag, file));
    if (text !== undefined) return parseChecksums(text);
  }
  return undefined;
}

async function ownChecksum(fetch: ReleaseFetch, tag: string, name: string): Promise<string | undefined> {
  const text = await getText(fetch, assetPath(tag, `${name}.sha256`));
  return text === undefined ? undefined : parseChecksums(text, name).get(name);
}

async function getText(fetch: ReleaseFetch, path: string): Promise<string | undefined> {
  const body = await get(fetch, path);
  if (body === undefined) return undefined;
  let text = "";
  const decoder = new TextDecoder();
  for await (const part of body) {
    text += decoder.decode(part, { stream: true });
    if (text.length > textBytesMax) throw new Failure("too_large", `${path} is larger than ${textBytesMax} bytes`);
  }
  return text;
}

async function get(fetch: ReleaseFetch, path: string): Promise<ReadableStream<Uint8Array> | undefined> {
  const url = urlOf(fetch, path);
  const response = await ask(fetch, url);
  if (response.ok && response.body !== null) return response.body;
  await response.body?.cancel();
  if (response.status === 404 || response.status === 410) return undefined;
  throw new Failure("unavailable", `${url} answered with status ${response.status}; try again later`);
}

async function ask({ download, signal }: ReleaseFetch, url: string, redirect?: "manual"): Promise<Response> {
  try {
    return await download(url, { signal, ...(redirect === undefined ? {} : { redirect }) });
  } catch (cause) {
    if (cause instanceof Failure && cause.code === "forbidden") {
      throw new Failure("forbidden", `${url}: ${cause.message}`, { cause });
    }
    if (signal.aborted)
      throw new Failure("timeout", `${url} was not there in time, or the install was interrupted`, { cause });
    const text = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("unavailable", `cannot reach ${url}: ${text}`, { cause });
  }
}

function urlOf({ baseUrl, owner, repo }: ReleaseFetch, path: string): string {
  return `${baseUrl}/${owner}/${repo}/${path}`;
}

/** Writes a download to `file`; returns its sha256. Fails `too_large`. */
async function save(body: ReadableStream<Uint8Array>, file: string, bytesMax: number): Promise<string> {
  const hash = createHash("sha256");
  const handle = await open(file, "w", 0o755);
  let bytes = 0;
  try {
    for await (const part of body) {
      bytes += part.byteLength;
      if (bytes > bytesMax) throw new Failure("too_large", `the program is larger than ${bytesMax} bytes`);
      hash.update(part);
      await handle.writeFile(part);
    }
  } finally {
    await handle.close();
  }
  return hash.digest("hex");
}
