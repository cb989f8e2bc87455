import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Clock } from "../../base/words/clock.ts";
import { connectSocket } from "../basics/client-socket.ts";
import type { PlatformFetch } from "../basics/endpoint.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import type { Remote } from "./remotes.ts";
import type { Ssh, SshTimes } from "./ssh.ts";
import { lookCommand, type ServerFault, type Silence, serverFault, silentFault } from "./server-words.ts";
import { type SshFault, sshFault } from "./ssh-words.ts";
import { isLeftover, remoteText, serverSocket, type TunnelFiles } from "./tunnel-files.ts";
import { withLock } from "./tunnel-lock.ts";

export interface TunnelLimits extends SshTimes {
  answerMs: number;
  openedByOtherMs: number;
}

export interface TunnelSetup {
  remote: Remote;
  files: TunnelFiles;
  ssh: Ssh;
  fetch: PlatformFetch;
  clock: Clock;
  limits: TunnelLimits;
  signal: AbortSignal;
}

/**
 * Opens the tunnel, unless it carries already; then the server answers at the other end. Fails with what is wrong and
 * what to do.
 */
export async function openTunnel(setup: TunnelSetup): Promise<void> {
  const { files, clock, limits, signal, remote } = setup;
  preparePrivateFolder(dirname(files.socket));
  const patience = { clock, patienceMs: limits.openedByOtherMs, signal };
  const done = await withLock(files.lock, patience, async () => {
    const state = await answers(setup);
    if (state === "server") return;
    // Other commands may be using a connection that is well.
    const fault = state === "absent" ? undefined : await whyNoServer(setup, state);
    if (fault !== undefined && !fault.newSession) throw failure(remote, fault);
    await closeTunnel(setup);
    await openNew(setup);
  });
  if (signal.aborted) throw new CommandFailure("interrupted", exitCodes.interrupted);
  if (done !== undefined) return;
  throw failure(remote, {
    cause: "another command has been opening the tunnel for too long",
    advice: [`does it wait for an answer of yours? else remove ${files.lock}`],
  });
}

/** Ends the tunnel and all that went through it; quiet where there is none. */
export async function closeTunnel({ files, ssh }: Pick<TunnelSetup, "files" | "ssh">): Promise<void> {
  if (existsSync(files.control)) await ssh.close(files.control);
  rmSync(files.control, { force: true });
  rmSync(files.socket, { force: true });
  const folder = dirname(files.socket);
  for (const name of readdirSync(folder).filter((one) => isLeftover(one, files)))
    rmSync(join(folder, name), { force: true });
}

async function openNew(setup: TunnelSetup): Promise<void> {
  const { remote, files, ssh, limits, signal } = setup;
  const opened = await ssh.open(remote, files.control, limits);
  if (signal.aborted) throw new CommandFailure("interrupted", exitCodes.interrupted);
  if (opened.code !== 0) throw failure(remote, sshFault({ remote, result: opened }));
  const forwarded = await ssh.forward(files.control, files.socket, remote.socket ?? serverSocket);
  const state = forwarded.code === 0 ? await answers(setup) : "absent";
  if (state === "server") return;
  const fault =
    forwarded.code === 0
      ? await whyNoServer(setup, state === "other" ? "other" : "silent")
      : sshFault({ remote, result: forwarded });
  await closeTunnel(setup);
  throw failure(remote, fault ?? silentFault);
}

/** Who is at the other end of the socket. */
async function answers({ files, fetch, limits, signal }: TunnelSetup): Promise<"server" | Silence | "absent"> {
  // A socket without a process behind it is found out without a request.
  const socket = await connectSocket({ baseUrl: "http://localhost", socket: files.socket }).catch(() => undefined);
  if (socket === undefined) return "absent";
  socket.terminate();
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(limits.answerMs)]);
    // Not one that later requests would find closed.
    const once = { unix: files.socket, signal: limit, keepalive: false };
    const answer = await fetch("http://localhost/health", once);
    await answer.text();
    return answer.ok && answer.headers.get("content-type")?.includes("json") ? "server" : "other";
  } catch {
    return "silent";
  }
}

/** ssh comes through and no server answers: the other machine knows why. Undefined: it cannot be asked. */
async function whyNoServer(setup: TunnelSetup, silence: Silence): Promise<ServerFault | undefined> {
  const { remote, files, ssh } = setup;
  const { socket = serverSocket } = remote;
  const { stdout } = await ssh.run(files.control, lookCommand(socket));
  const user = /user=(\S+)/.exec(stdout)?.[1];
  return user === undefined ? undefined : serverFault({ socket, silence, user, seen: stdout.split(/\s+/) });
}

function failure(remote: Remote, { cause, advice }: SshFault): CommandFailure {
  const lines = advice.map((line) => `  ${line}`);
  return new CommandFailure(
    [`cannot reach ${remoteText(remote)}: ${cause}`, ...lines].join("\n"),
    exitCodes.unreachable,
  );
}

/** Who can connect to a socket in it, is the operator. */
function preparePrivateFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    if (uid !== process.getuid?.())
      throw new CommandFailure(`the folder of tunnels, ${folder}, belongs to another user: set BERTH_TUNNELS`);
    if ((mode & 0o077) !== 0) chmodSync(folder, 0o700);
  } catch (error) {
    if (error instanceof CommandFailure) throw error;
    const code = error instanceof Error && "code" in error ? String(error.code) : String(error);
    throw new CommandFailure(`cannot make the folder of tunnels, ${folder} (${code}): set BERTH_TUNNELS`);
  }
}
