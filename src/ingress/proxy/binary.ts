import type { Capabilities } from "../core/change.ts";

/** An installed HAProxy. */
interface Binary {
  path: string;
  /** As it says itself: `2.6.12-1+deb12u4`. */
  version: string;
  capabilities: Capabilities;
}

/** Oldest version whose commands and settings are used. */
const oldest = { major: 2, minor: 6 };

const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

export type BinaryFound = { ok: true; binary: Binary } | { ok: false; problem: string };

const installAdvice = "install it (Debian: apt-get install haproxy) and restart the server";

/** Looks for HAProxy on the path and in the usual folders, and asks it what it can do. */
export async function findBinary(name = "haproxy"): Promise<BinaryFound> {
  const path = Bun.which(name) ?? Bun.which(name, { PATH: searchPath });
  if (path === null) return { ok: false, problem: `HAProxy is not installed; ${installAdvice}` };
  const told = toldBy(path, await output([path, "-vv"]));
  return told.ok ? { ok: true, binary: { path, ...told.program } } : told;
}

/** What `haproxy -vv` says of a program. */
export function toldBy(
  program: string,
  said: string,
): { ok: true; program: Omit<Binary, "path"> } | { ok: false; problem: string } {
  const found = versionOf(said);
  if (found === undefined) return { ok: false, problem: `${program} did not tell its version` };
  const { version, major, minor } = found;
  if (major < oldest.major || (major === oldest.major && minor < oldest.minor)) {
    const needed = `${oldest.major}.${oldest.minor}`;
    return { ok: false, problem: `HAProxy ${version} of ${program} is too old; version ${needed} or newer is needed` };
  }
  const lua = /\+LUA\b|USE_LUA=1/.test(said);
  return { ok: true, program: { version, capabilities: { major, minor, lua, addServer: true } } };
}

/** Reads the output of `haproxy -v`. */
function versionOf(text: string): { version: string; major: number; minor: number } | undefined {
  const [, version, major, minor] = /^HA-?Proxy version ((\d+)\.(\d+)\S*)/m.exec(text) ?? [];
  return version === undefined ? undefined : { version, major: Number(major), minor: Number(minor) };
}

async function output(command: string[]): Promise<string> {
  try {
    const child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "ignore", timeout: 5_000 });
    return await new Response(child.stdout).text();
  } catch {
    return "";
  }
}
