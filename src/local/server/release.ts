import { open, rm } from "node:fs/promises";
import { proxyVariables } from "../../config/config.ts";
import { serverLimits } from "../../config/server-limits.ts";
import { Failure } from "../../base/wire/failure.ts";
import { createOutside } from "../../base/wire/outgoing.ts";
import { isSigned, releaseNamespace } from "./ssh-signature.ts";

/** The name of the executable for this machine in a release. Fails `unavailable` where there is none. */
function targetOf(platform: string, arch: string): string {
  const os = { linux: "linux", darwin: "darwin" }[platform];
  const cpu = { x64: "x64", arm64: "arm64" }[arch];
  if (os !== undefined && cpu !== undefined) return `berth-${os}-${cpu}`;
  throw new Failure("unavailable", `no release for ${platform} on ${arch}`);
}

/** The version that a release address calls the latest. Fails `unavailable` when it cannot be fetched. */
export async function latestVersion(url: string): Promise<string> {
  return checkVersion((await text(`${url}/latest`)).trim());
}

export function checkVersion(version: string): string {
  if (/^\d+\.\d+\.\d+[0-9A-Za-z.+-]*$/.test(version)) return version;
  throw new Failure("invalid", `"${version.slice(0, 80)}" is not a version such as 0.1.0`);
}

/** A release: where it is, and whose signature counts. */
export interface ReleaseSource {
  url: string;
  keys: readonly Buffer[];
}

/**
 * Writes the executable of a version to a new file, once the signature of the release and the checksum are right. The file
 * is gone after a failure.
 */
export async function fetchExecutable({ url, keys }: ReleaseSource, version: string, into: string): Promise<void> {
  const name = targetOf(process.platform, process.arch);
  const folder = `${url}/${version}`;
  const sums = await signedSums(folder, version, keys);
  const wanted = sums.split("\n").flatMap((line) => (line.slice(64) === `  ${name}` ? [line.slice(0, 64)] : []))[0];
  if (wanted === undefined) {
    throw new Failure("not_found", `release ${version} has no ${name}: ${folder}/SHA256SUMS does not list it`);
  }
  try {
    const found = await download(`${folder}/${name}`, into);
    if (found === wanted) return;
    throw new Failure("conflict", `${folder}/${name} does not match its sha256 (wanted ${wanted}, got ${found})`);
  } catch (error) {
    await rm(into, { force: true });
    throw error;
  }
}

/** The checksums of a release, with its version in front: what is signed. */
async function signedSums(folder: string, version: string, keys: readonly Buffer[]): Promise<string> {
  const sums = await text(`${folder}/SHA256SUMS`);
  const signature = await text(`${folder}/SHA256SUMS.sig`, (status) => {
    const why = `${folder}/SHA256SUMS.sig: status ${status}`;
    return new Failure("conflict", `release ${version} is not signed (${why}); nothing was changed`);
  });
  if (!isSigned(sums, { signature, keys, namespace: releaseNamespace })) {
    const message = `the signature of release ${version} is not of the release key; nothing was changed. Check that ${folder} is the address of the project that you trust`;
    throw new Failure("conflict", message);
  }
  const [, named = "none"] = /^# berth (\S+)\n/.exec(sums) ?? [];
  if (named === version) return sums;
  throw new Failure(
    "conflict",
    `${folder} holds the release ${named} under the name of ${version}; nothing was changed`,
  );
}

/** Answers with the sha256 of what came. */
export async function download(url: string, into: string): Promise<string> {
  const body = (await get(url)).body;
  const hash = new Bun.CryptoHasher("sha256");
  const file = await open(into, "wx", 0o755);
  let size = 0;
  try {
    for await (const chunk of body ?? []) {
      size += chunk.byteLength;
      if (size > serverLimits.releaseBytesMax) throw new Failure("too_large", `${url} is too large for an executable`);
      hash.update(chunk);
      await file.writeFile(chunk);
    }
    await file.chmod(0o755);
    await file.sync();
  } catch (error) {
    throw error instanceof Failure ? error : new Failure("unavailable", `cannot fetch ${url}: ${reason(error)}`);
  } finally {
    await file.close();
  }
  return hash.digest("hex");
}

async function text(url: string, unless?: (status: number) => Failure): Promise<string> {
  const answer = await get(url, unless);
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of answer.body ?? []) {
    size += chunk.byteLength;
    if (size > serverLimits.releaseTextBytesMax) throw new Failure("too_large", `${url} is too large for a text`);
    parts.push(chunk);
  }
  return Buffer.concat(parts).toString();
}

/** `unless` makes the failure of an answer that is none. */
async function get(url: string, unless?: (status: number) => Failure): Promise<Response> {
  const signal = AbortSignal.timeout(serverLimits.releaseMs);
  // A server of this machine must not lead to another one.
  const redirect = url.startsWith("https:") ? "follow" : "error";
  const answer = await createOutside(proxyVariables())(url, { signal, redirect }).catch((error: unknown) => {
    throw new Failure("unavailable", `cannot fetch ${url}: ${reason(error)}`);
  });
  if (url.startsWith("https:") && !answer.url.startsWith("https:")) {
    throw new Failure("unavailable", `cannot fetch ${url}: it leads to ${answer.url}, which is not https`);
  }
  if (answer.ok) return answer;
  throw unless?.(answer.status) ?? new Failure("unavailable", `cannot fetch ${url}: status ${answer.status}`);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
