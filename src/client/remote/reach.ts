import { existsSync, rmSync } from "node:fs";
import type { Clock } from "../../base/words/clock.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import type { PlatformFetch, Route } from "../basics/endpoint.ts";
import type { Remote } from "./remotes.ts";
import { remoteText, sideSocket, tunnelFiles, type TunnelFiles } from "./tunnel-files.ts";
import type { TunnelLimits } from "./tunnel.ts";

/** What a way to a server is made of. */
export interface Ways {
  tunnelsFolder: string;
  ssh: { configFile?: string; identity?: string };
  /** Somebody is there whom ssh may ask on the terminal. */
  asks: boolean;
  variables: Readonly<Record<string, string | undefined>>;
  fetch: PlatformFetch;
  clock: Clock;
  limits: TunnelLimits;
  signal: AbortSignal;
}

/** A server behind a tunnel. Where the tunnel carries, nothing else than its socket is used. */
export function remoteRoute(remote: Remote, ways: Ways): Route {
  const files = tunnelFiles(ways.tunnelsFolder, remote, ways.ssh);
  return {
    shown: remoteText(remote),
    address: { baseUrl: "http://localhost", socket: files.socket },
    open: async () => {
      const { openTunnel } = await import("./tunnel.ts");
      await openTunnel(await tunnelSetup(remote, files, ways));
    },
  };
}

/** A TCP address of the machine of a remote, as that machine knows it, through the same connection. */
export interface SideRoute extends Route {
  open: () => Promise<void>;
  close(): Promise<void>;
}

/** `port` names it among those of the remote. */
export function sideRoute(remote: Remote, ways: Ways, { address, port }: { address: string; port: number }): SideRoute {
  const files = tunnelFiles(ways.tunnelsFolder, remote, ways.ssh);
  const socket = sideSocket(files, port);
  const main = remoteRoute(remote, ways);
  const clear = async () => {
    const { ssh } = await tunnelSetup(remote, files, ways);
    if (existsSync(files.control)) await ssh.cancel(files.control, socket, address);
    rmSync(socket, { force: true });
  };
  return {
    shown: `${address} of ${main.shown}`,
    address: { baseUrl: "http://localhost", socket },
    async open() {
      await main.open?.();
      await clear();
      const { ssh } = await tunnelSetup(remote, files, ways);
      const forwarded = await ssh.forward(files.control, socket, address);
      if (forwarded.code === 0) return;
      throw new CommandFailure(`ssh does not forward to ${address} of ${main.shown}`, exitCodes.unreachable);
    },
    close: clear,
  };
}

/** Ends the tunnel of a remote; quiet where there is none. */
export async function closeRemote(remote: Remote, ways: Ways): Promise<void> {
  const { closeTunnel } = await import("./tunnel.ts");
  const { withLock } = await import("./tunnel-lock.ts");
  const files = tunnelFiles(ways.tunnelsFolder, remote, ways.ssh);
  if (!existsSync(ways.tunnelsFolder)) return;
  const setup = await tunnelSetup(remote, files, ways);
  // With the lock, so that one that a killed command left goes as well.
  const { clock, signal } = ways;
  const patience = { clock, signal, patienceMs: ways.limits.answerMs };
  const done = await withLock(files.lock, patience, () => closeTunnel(setup));
  if (done === undefined) await closeTunnel(setup);
}

async function tunnelSetup(remote: Remote, files: TunnelFiles, ways: Ways) {
  const { createSsh } = await import("./ssh.ts");
  const { asks, variables, fetch, clock, limits, signal } = ways;
  const ssh = createSsh({ ...ways.ssh, asks, variables, folder: ways.tunnelsFolder, askMs: limits.answerMs, signal });
  return { remote, files, ssh, fetch, clock, limits, signal };
}
