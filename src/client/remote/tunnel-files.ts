import { basename, join } from "node:path";
import { sha256Hex } from "../../base/pure/digest.ts";
import { CommandFailure } from "../basics/failures.ts";
import { addressText } from "./address.ts";
import type { Remote } from "./remotes.ts";

/** The files of one tunnel. */
export interface TunnelFiles {
  /** What the client connects to. */
  socket: string;
  /** What ssh is commanded through. */
  control: string;
  lock: string;
}

/** Where a server has its socket, unless the remote says so. */
export const serverSocket = "/opt/berth/run/berth.sock";

/** The smallest limit of the kernels for a socket path, less what ssh adds while it makes the control socket. */
const pathBytesMax = 103 - ".XXXXXXXXXXXXXXXX".length;

/** The same for every command that goes the same way to the same server. */
export function tunnelFiles(
  folder: string,
  remote: Remote,
  ssh: { configFile?: string; identity?: string },
): TunnelFiles {
  const { host, user = "", port = 0, identity = "", socket = serverSocket } = remote;
  const way = [host, user, port, ssh.identity ?? identity, ssh.configFile ?? "", socket];
  const name = sha256Hex(JSON.stringify(way)).slice(0, 12);
  const control = join(folder, `${name}.ctl`);
  if (!/^\/[\w@/.,+=~-]+$/.test(folder) || Buffer.byteLength(control) > pathBytesMax) {
    throw new CommandFailure(
      `sockets of tunnels cannot lie in ${folder}: its name is too long, or has blanks, colons, % or $; set BERTH_TUNNELS to another folder`,
    );
  }
  return { socket: join(folder, `${name}.sock`), control, lock: join(folder, `${name}.lock`) };
}

/** The socket of another address of the server's machine, which goes through the same connection. */
export function sideSocket({ socket }: TunnelFiles, port: number): string {
  return socket.replace(/\.sock$/, `-${port}.sock`);
}

/** Files that a tunnel can leave beside its own when a command is killed: side sockets, and what ssh was making. */
export function isLeftover(name: string, { socket, control }: TunnelFiles): boolean {
  const side = basename(socket, ".sock");
  return (name.startsWith(`${side}-`) && name.endsWith(".sock")) || name.startsWith(`${basename(control)}.`);
}

/** `production (deploy@shop.example)`, for messages. */
export function remoteText(remote: Remote): string {
  const address = addressText(remote);
  return remote.name === address ? address : `${remote.name} (${address})`;
}
