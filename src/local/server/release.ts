import { open, rm } from "node:fs/promises";
import { serverLimits } from "../../config/server-limits.ts";
import { Failure } from "../../base/wire/failure.ts";

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

/** Writes the executable of a version to a new file, once its checksum is right. The file is gone after a failure. */
export async function fetchExecutable(url: string, version: string, into: string): Promise<void> {
  const name = targetOf(process.platform, process.arch);
  const folder = `${url}/${version}`;
  const sums = await text(`${folder}/SHA256SUMS`);
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

/** Answers with the sha256 of what came. */
async function download(url: string, into: string): Promise<string> {
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

async function text(url: string): Promise<string> {
  return (await get(url)).text();
}

async function get(url: string): Promise<Response> {
  const answer = await fetch(url, { signal: AbortSignal.timeout(serverLimits.releaseMs) }).catch((error: unknown) => {
    throw new Failure("unavailable", `cannot fetch ${url}: ${reason(error)}`);
  });
  if (url.startsWith("https:") && !answer.url.startsWith("https:")) {
    throw new Failure("unavailable", `cannot fetch ${url}: it leads to ${answer.url}, which is not https`);
  }
  if (answer.ok) return answer;
  throw new Failure("unavailable", `cannot fetch ${url}: status ${answer.status}`);
}

function reason(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
