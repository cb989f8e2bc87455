import type { OperatorGroup } from "../base/pure/admission.ts";
import type { Check } from "./checks.ts";

export interface AccessFacts {
  /** `host:port`; empty: off. */
  addr: string;
  /** The port checks no client. */
  insecure: boolean;
  socket: string;
  /** Undefined where there is no socket. */
  socketMode: number | undefined;
  socketGid: number | undefined;
  group: OperatorGroup;
  /** Names of the members, in the order of `/etc/passwd`. */
  members: readonly string[];
  /** Why the kernel's tables cannot be read; undefined where they can. */
  tablesError: string | undefined;
}

/** Who may connect to the orchestration plane on this machine. */
export function checkAccess(facts: AccessFacts): Check {
  const name = "who may connect";
  const { addr, insecure, group, members } = facts;
  if (addr !== "" && insecure) {
    const mend = "start it without --addr-insecure, on 127.0.0.1, and use an SSH tunnel";
    return { name, status: "warn", detail: `everybody who reaches ${addr}: it is not asked who they are`, mend };
  }
  if (addr !== "" && facts.tablesError !== undefined) {
    const mend = `use unix:${facts.socket}; the server must be able to read /proc/net/tcp`;
    return { name, status: "fail", detail: `no user at ${addr}: ${facts.tablesError}`, mend };
  }
  if (group.gid === undefined) {
    const others = `for others: groupadd --system ${group.name}, usermod -aG ${group.name} USER, systemctl restart berth`;
    return { name, status: "ok", detail: `root and the user of berth serve (${others})` };
  }
  const listed = members.length === 0 ? "no members yet" : members.join(", ");
  const detail = `root, the user of berth serve, and the group ${group.name} (${listed}), who have root's rights here`;
  if (facts.socketMode !== undefined && facts.socketGid !== group.gid) {
    const mend = "restart the server: systemctl restart berth";
    return { name, status: "warn", detail: `${detail}; the socket was made before the group`, mend };
  }
  return { name, status: "ok", detail };
}
