import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * The group that a server lets in: that of its socket, or of a folder above it where no stranger may look further. Undefined
 * where only root is let in.
 */
export function socketGroup(socket: string, groups = "/etc/group"): string | undefined {
  for (let path = socket; path !== dirname(path); path = dirname(path)) {
    const gid = gidOf(path);
    if (gid !== undefined) return gid === 0 ? undefined : nameOf(gid, groups);
  }
  return undefined;
}

/** What to type so that a user may connect: members of the group have the rights of root. */
export function groupAdvice(group: string | undefined): string[] {
  if (group === undefined) {
    return [
      "only root may connect: try sudo, or make the group and let this user in:",
      "sudo groupadd --system berth; sudo usermod -aG berth $USER; sudo systemctl restart berth",
      "then sign in again, so that the session has the group",
    ];
  }
  return [
    `only root and the group ${group} may connect: try sudo, or let this user in:`,
    `sudo usermod -aG ${group} $USER`,
    "then sign in again, so that the session has the group",
  ];
}

function gidOf(path: string): number | undefined {
  try {
    return statSync(path).gid;
  } catch {
    return undefined;
  }
}

function nameOf(gid: number, groups: string): string | undefined {
  try {
    const lines = readFileSync(groups, "utf8").split("\n");
    return lines.map((line) => line.split(":")).find(([, , id]) => id === String(gid))?.[0];
  } catch {
    return undefined;
  }
}
