import { dirname } from "node:path";
import type { SshFault } from "./ssh-words.ts";

/** What came through a tunnel and is not an answer of a berth server: another answer, or none. */
export type Silence = "other" | "silent";

export interface ServerFault extends SshFault {
  /** Only a new sign-in can change it: a session keeps its groups. */
  newSession: boolean;
}

interface Seen {
  /** The server's socket on its machine. */
  socket: string;
  silence: Silence;
  /** Who signed in. */
  user: string;
  /** Words of `lookCommand`. */
  seen: readonly string[];
}

/** What the other machine is asked when no server answers; every shell knows these words. */
export function lookCommand(socket: string): string {
  const folder = dirname(socket);
  const looks = [
    ["-d", folder, "folder"],
    ["-x", folder, "enter"],
    ["-S", socket, "socket"],
    ["-w", socket, "write"],
  ];
  // The root of the server: strangers can see its group, and nothing in it.
  const group = `echo group=$(stat -c %G ${dirname(folder)} 2>/dev/null)`;
  return [
    "echo user=$(id -un)",
    group,
    ...looks.map(([test, path, word]) => `test ${test} ${path} && echo ${word}`),
  ].join("; ");
}

/** Nothing is known of the other machine but that no server answers. */
export const silentFault: ServerFault = {
  cause: "ssh works, but no server answers through it",
  advice: [
    "does it run?                on the server: systemctl status berth",
    "may this user reach it?     on the server: getent group berth",
    "does sshd forward sockets?  on the server: sudo sshd -T | grep -i forwarding",
    "                            AllowTcpForwarding and AllowStreamLocalForwarding must not be no, and",
    "                            DisableForwarding must not be yes",
  ],
  newSession: false,
};

export function serverFault({ socket, silence, user, seen }: Seen): ServerFault {
  const has = (word: string) => seen.includes(word);
  const shown = seen.find((word) => word.startsWith("group="))?.slice("group=".length) ?? "";
  const group = ["", "root", "UNKNOWN"].includes(shown) ? "berth" : shown;
  const isClosed = (has("folder") && !has("enter")) || (has("socket") && !has("write"));
  if (isClosed) {
    return {
      cause: `ssh works, but "${user}" may not use the server's socket ${socket}`,
      advice: [
        `on the server:  sudo usermod -aG ${group} ${user}`,
        `members of the group ${group} have the rights of root`,
      ],
      newSession: true,
    };
  }
  if (silence === "other") {
    return {
      cause: `what answers at ${socket} there is not a berth server`,
      advice: ["is the path right?  --socket of berth remote add"],
      newSession: false,
    };
  }
  if (has("socket")) return silentFault;
  return {
    cause: `ssh works, but there is no socket ${socket} of a berth server`,
    advice: [
      "does it run?                 on the server: systemctl status berth",
      "does its root lie elsewhere? --socket ROOT/run/berth.sock of berth remote add",
      ...(user === "root" ? [] : [`may ${user} look there?  on the server: sudo usermod -aG ${group} ${user}`]),
    ],
    newSession: user !== "root",
  };
}
