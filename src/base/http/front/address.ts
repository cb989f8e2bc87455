import { chmod, chown } from "node:fs/promises";
import { holderOf, listeningOn, portTaken } from "../../machine/port-holder.ts";
import { Failure } from "../../wire/failure.ts";
import type { Log } from "../../words/log.ts";

/** Longest path the kernel takes for a unix socket, without the final NUL. */
const unixPathBytesMax = 107;

/**
 * Makes room for a unix socket: a socket file left behind by a killed process is removed, one that somebody answers
 * on is a `conflict`, and so is a file that is not a socket.
 */
export async function claimUnixPath(path: string): Promise<void> {
  if (Buffer.byteLength(path) > unixPathBytesMax) {
    throw new Failure(
      "invalid",
      `socket path "${path}" is longer than ${unixPathBytesMax} bytes, choose a shorter root`,
    );
  }
  const file = Bun.file(path);
  const stat = await file.stat().catch(() => undefined);
  if (stat === undefined) return;
  if (!stat.isSocket()) throw new Failure("conflict", `"${path}" is a file and not a socket, move it away`);
  if (await answers(path)) {
    throw new Failure("conflict", `socket "${path}" is in use by a running server, stop it or choose another root`);
  }
  await file.delete();
}

/** Runs `bind` with a file mode of 0600 for the socket it makes, from its first moment on. */
export function privately<T>(bind: () => T): T {
  const before = process.umask(0o177);
  try {
    return bind();
  } finally {
    process.umask(before);
  }
}

/** Lets the members of a group use a socket file. A server that may not hand it over says so and keeps it to itself. */
export async function openToGroup(path: string, gid: number, log: Log): Promise<void> {
  try {
    await chown(path, -1, gid);
    await chmod(path, 0o660);
  } catch (error) {
    log.warn("the socket stays with the server's user: it may not be given to the group", { path, gid, error });
  }
}

/** What `bind` threw, as a `Failure` that names the address. */
export function bindFailure(address: string, error: unknown): Failure {
  const code = codeOf(error);
  if (code === "EADDRINUSE") {
    const hint = "stop what uses it or choose another address";
    return new Failure("conflict", `address ${address} is in use, ${hint}`, { cause: error });
  }
  if (code === "EACCES") return new Failure("forbidden", `no permission to listen on ${address}`, { cause: error });
  if (code === "ENOENT") return new Failure("not_found", `the folder of ${address} does not exist`, { cause: error });
  return new Failure("invalid", `cannot listen on ${address}, no such address here${code && ` (${code})`}`, {
    cause: error,
  });
}

/** What `open` opens at `address`. Where that is taken, the failure says by what and how to end it. */
export async function openAt<T>(address: string, open: () => T): Promise<T> {
  try {
    return open();
  } catch (error) {
    if (!(error instanceof Failure) || codeOf(error.cause) !== "EADDRINUSE") throw error;
    const holder = await holderOf(await listeningOn(address));
    throw new Failure(error.code, await portTaken(address, holder), { cause: error.cause });
  }
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}

async function answers(path: string): Promise<boolean> {
  try {
    const socket = await Bun.connect({ unix: path, socket: { data() {} } });
    socket.terminate();
    return true;
  } catch {
    return false;
  }
}
