/** Who is let in on loopback beside root and the server's own user. */
export interface OperatorGroup {
  name: string;
  /** Undefined where the machine has no such group. */
  gid: number | undefined;
  /** User ids: those that `/etc/group` names, and those whose primary group it is. */
  members: ReadonlySet<number>;
}

/** A user as `/etc/passwd` names it. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

/** Lines that do not read as accounts are passed over, as the C library does. */
export function readAccounts(passwd: string): Account[] {
  return passwd.split("\n").flatMap((line) => {
    const [name = "", , uid = "", gid = ""] = line.split(":");
    return name !== "" && isId(uid) && isId(gid) ? [{ name, uid: Number(uid), gid: Number(gid) }] : [];
  });
}

export function readOperatorGroup(name: string, group: string, accounts: readonly Account[]): OperatorGroup {
  const lines = group.split("\n").map((line) => line.split(":"));
  const [, , gidText = "", named = ""] = lines.find((fields) => fields[0] === name) ?? [];
  if (!isId(gidText)) return { name, gid: undefined, members: new Set() };
  const gid = Number(gidText);
  const names = new Set(named.split(",").map((member) => member.trim()));
  const members = accounts.filter((account) => account.gid === gid || names.has(account.name));
  return { name, gid, members: new Set(members.map(({ uid }) => uid)) };
}

function isId(text: string): boolean {
  return /^\d{1,10}$/.test(text);
}

/** What is known of the client at the other end of a connection on loopback. */
export type Peer =
  | { kind: "admitted"; uid: number }
  | { kind: "stranger"; uid: number; user: string | undefined; group: OperatorGroup }
  /** A process of a container, on the network of the machine. */
  | { kind: "container"; id: string | undefined }
  /** The program that runs containers and builds images: what it asks for, a Dockerfile has named. */
  | { kind: "engine"; name: string }
  /** No process holds the other end, or none that the server can find. */
  | { kind: "gone" }
  /** The kernel's tables could not be read. */
  | { kind: "unreadable"; why: string };

/** What a client that is not let in is answered; undefined for one that is. `socket` is the path of the unix socket. */
export function admissionRefusal(peer: Peer, socket: string): { status: number; message: string } | undefined {
  switch (peer.kind) {
    case "admitted":
      return undefined;
    case "stranger":
      return { status: 403, message: strangerText(peer) };
    case "container":
      return {
        status: 403,
        message:
          `this connection comes from a container on the host's network${peer.id === undefined ? "" : ` (${peer.id.slice(0, 12)})`}, ` +
          `and containers are not let in here. Connect from outside of it, or mount ${socket} into a container that may do everything on this machine`,
      };
    case "engine":
      return {
        status: 403,
        message: `this connection comes from ${peer.name}, which fetches what a Dockerfile or an image reference names; this server is not for them`,
      };
    case "gone":
      return {
        status: 403,
        message: `the process that made this connection cannot be found. Keep the connection open until the answer is there, or use unix:${socket}`,
      };
    case "unreadable":
      return {
        status: 503,
        message: `the server cannot tell who connects to this port: ${peer.why}. Use unix:${socket}, or start berth serve with --addr-insecure, which lets every local user in`,
      };
  }
}

function strangerText({ uid, user, group }: { uid: number; user: string | undefined; group: OperatorGroup }): string {
  const who = user === undefined ? `the user with uid ${uid}` : `the user ${user} (uid ${uid})`;
  const make = group.gid === undefined ? `groupadd --system ${group.name} && sudo ` : "";
  return [
    `${who} may not use this port: only root, the server's user and the group "${group.name}" may`,
    `  use sudo, or let this user in:  sudo ${make}usermod -aG ${group.name} ${user ?? "NAME"}`,
    "  (members have root's rights on this machine; through an SSH tunnel the user is the one of ssh USER@SERVER)",
  ].join("\n");
}

/**
 * The container that a process belongs to, from its `/proc/PID/cgroup`: every engine puts the id of a container, 64
 * hexadecimal digits, into the path. Undefined for a process of the machine.
 */
export function containerOf(cgroupText: string): string | undefined {
  return /(?:^|[/:-])([0-9a-f]{64})(?:\.scope)?(?:\/|$)/m.exec(cgroupText)?.[1];
}
