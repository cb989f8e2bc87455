import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Peer } from "../../../../src/base/pure/admission.ts";
import { clientRowTexts, type SocketEnds, type SocketRow } from "../../../../src/base/pure/socket-table.ts";
import { createPeers } from "../../../../src/base/machine/peers.ts";
import { isRoot } from "../../../support/is-root.ts";

const ends: SocketEnds = { localAddress: "127.0.0.1", localPort: 8686, remoteAddress: "127.0.0.1", remotePort: 4_000 };
const texts = clientRowTexts(ends);

/** `/proc` and `/etc` of a machine that the test makes up; its files belong to the user who runs the test. */
let machine: string;
beforeEach(() => {
  machine = mkdtempSync(join(tmpdir(), "peers-"));
  for (const folder of ["proc/net", "proc/self/ns", "etc"]) mkdirSync(join(machine, folder), { recursive: true });
  symlinkSync("pid:[1]", join(machine, "proc/self/ns/pid"));
  write("proc/self/cgroup", "0::/system.slice/berth.service\n");
  table("tcp", []);
  table("tcp6", []);
  write("etc/passwd", "alice:x:1000:1000::/:/bin/sh\ncarol:x:1002:1002::/:/bin/sh\n");
  write("etc/group", "berth:x:990:alice\n");
});
afterEach(() => rmSync(machine, { recursive: true }));

function write(path: string, text: string): void {
  writeFileSync(join(machine, path), text);
}

function table(name: "tcp" | "tcp6", rows: { uid: number; inode: number }[]): void {
  const ends = name === "tcp" ? texts.tcp : texts.tcp6;
  const lines = rows.map(({ uid, inode }) => `   1: ${ends}01 0:0 00:0 0  ${uid}  0 ${inode} 1 0\n`);
  write(`proc/net/${name}`, `  sl  local_address\n${lines.join("")}`);
}

/** A process that holds sockets. */
function holder(pid: number, inodes: number[], { cgroup = "0::/user.slice\n", space = "pid:[1]" } = {}): void {
  mkdirSync(join(machine, `proc/${pid}/fd`), { recursive: true });
  mkdirSync(join(machine, `proc/${pid}/ns`));
  for (const [fd, inode] of inodes.entries()) symlinkSync(`socket:[${inode}]`, join(machine, `proc/${pid}/fd/${fd}`));
  symlinkSync(space, join(machine, `proc/${pid}/ns/pid`));
  write(`proc/${pid}/cgroup`, cgroup);
}

const quick = { recentMax: 2, descriptorsAround: 1, newestMax: 3, linksMax: 10 };

function peersOf(uid = 0) {
  const [proc, etc] = [join(machine, "proc"), join(machine, "etc")];
  return createPeers({ group: "berth", uid, timeoutMs: 1_000, quick, proc, etc });
}

function who(uid = 0): Promise<Peer> {
  return peersOf(uid).who(ends);
}

describe("who is at the other end", () => {
  test("root, the server's user and members of the group are let in", async () => {
    holder(70, [5]);
    table("tcp", [{ uid: 0, inode: 5 }]);
    expect(await who()).toEqual({ kind: "admitted", uid: 0 });
    table("tcp", [{ uid: 1000, inode: 5 }]);
    expect(await who()).toEqual({ kind: "admitted", uid: 1000 });
    table("tcp", [{ uid: 1002, inode: 5 }]);
    expect(await who(1002)).toEqual({ kind: "admitted", uid: 1002 });
  });

  test("others are strangers with their name, where they have one", async () => {
    holder(70, [5]);
    const group = { name: "berth", gid: 990, members: new Set([1000]) };
    table("tcp", [{ uid: 1002, inode: 5 }]);
    expect(await who()).toEqual({ kind: "stranger", uid: 1002, user: "carol", group });
    table("tcp", [{ uid: 4_000, inode: 5 }]);
    expect(await who()).toEqual({ kind: "stranger", uid: 4_000, user: undefined, group });
  });

  test("a client over an IPv6 socket is found in the other table", async () => {
    holder(70, [5]);
    table("tcp6", [{ uid: 1002, inode: 5 }]);
    expect((await who()).kind).toBe("stranger");
    table("tcp6", [{ uid: 0, inode: 5 }]);
    expect((await who()).kind).toBe("admitted");
  });

  test("a change of the group counts for the next connection", async () => {
    holder(70, [5]);
    table("tcp", [{ uid: 1002, inode: 5 }]);
    expect((await who()).kind).toBe("stranger");
    write("etc/group", "berth:x:990:carol\n");
    expect((await who()).kind).toBe("admitted");
    rmSync(join(machine, "etc/group"));
    expect((await who()).kind).toBe("stranger");
  });

  test("a socket that was closed at once, which the kernel shows as root's, is refused", async () => {
    table("tcp", [{ uid: 0, inode: 0 }]);
    expect(await who()).toEqual({ kind: "gone" });
    table("tcp", []);
    expect(await who()).toEqual({ kind: "gone" });
  });

  test("a socket that has ended before it was looked at, and tells no address, is refused", async () => {
    const peers = peersOf();
    expect(await peers.who({ ...ends, remoteAddress: undefined })).toEqual({ kind: "gone" });
  });

  test("a socket that no process shows is refused: it may be on its way from one to the next", async () => {
    holder(70, [6, 7]);
    table("tcp", [{ uid: 0, inode: 5 }]);
    expect(await who()).toEqual({ kind: "gone" });
  });

  test("the engine is refused although it is root: it fetches what a Dockerfile names", async () => {
    table("tcp", [{ uid: 0, inode: 5 }]);
    holder(70, [5]);
    for (const name of ["dockerd", "buildkitd", "containerd", "podman", "buildah"]) {
      write("proc/70/stat", `70 (${name}) S 1 1\n`);
      expect(await who()).toEqual({ kind: "engine", name });
    }
    for (const name of ["docker", "curl", "berth", "mydockerd"]) {
      write("proc/70/stat", `70 (${name}) S 1 1\n`);
      expect([name, await who()]).toEqual([name, { kind: "admitted", uid: 0 }]);
    }
  });

  test("what an engine has started is refused like it: a build fetches repositories by git", async () => {
    table("tcp", [{ uid: 0, inode: 5 }]);
    holder(70, [5]);
    const started = (pid: number, name: string, parent: number) => {
      mkdirSync(join(machine, `proc/${pid}`), { recursive: true });
      write(`proc/${pid}/stat`, `${pid} (${name}) S ${parent} 1\n`);
    };
    started(70, "git-remote-http", 69);
    started(69, "g) S 1 it", 68);
    started(68, "dockerd", 1);
    started(1, "systemd", 0);
    expect(await who()).toEqual({ kind: "engine", name: "dockerd" });
    started(68, "bash", 1);
    expect(await who()).toEqual({ kind: "admitted", uid: 0 });
  });

  test("root of a container is refused, known by its cgroup or its process ids", async () => {
    const id = "ab".repeat(32);
    table("tcp", [{ uid: 0, inode: 5 }]);
    holder(70, [5], { cgroup: `4:memory:/docker/${id}\n0::/\n` });
    expect(await who()).toEqual({ kind: "container", id });
    rmSync(join(machine, "proc/70"), { recursive: true });
    holder(71, [5], { space: "pid:[2]" });
    expect(await who()).toEqual({ kind: "container", id: undefined });
  });

  test("a server in a container itself knows what belongs to it", async () => {
    const id = "cd".repeat(32);
    write("proc/self/cgroup", `0::/docker/${id}\n`);
    holder(70, [5], { cgroup: `0::/docker/${id}\n` });
    table("tcp", [{ uid: 0, inode: 5 }]);
    expect((await who()).kind).toBe("admitted");
  });

  /** Every way to a process: remembered, among the newest, and the search over all. */
  test.each([
    ["rootful Podman", `0::/machine.slice/libpod-${"ab".repeat(32)}.scope/container\n`, 0],
    ["Podman of an operator", `0::/user.slice/user-1000.slice/libpod-${"ab".repeat(32)}.scope\n`, 1000],
    ["Docker", `0::/system.slice/docker-${"ab".repeat(32)}.scope\n`, 0],
  ])("a container of %s is refused wherever its process is found", async (_, cgroup, uid) => {
    const peers = peersOf();
    table("tcp", [{ uid, inode: 5 }]);
    for (const newest of [9_000, 71, 9_000]) {
      write("proc/loadavg", `0.1 0.1 0.1 1/80 ${newest}\n`);
      holder(70, [4, 5], { cgroup });
      expect(await peers.who(ends)).toEqual({ kind: "container", id: "ab".repeat(32) });
      rmSync(join(machine, "proc/70"), { recursive: true });
    }
  });

  test("a remembered process id counts for nothing once a container's process has it", async () => {
    const peers = peersOf();
    table("tcp", [{ uid: 0, inode: 5 }]);
    holder(70, [5]);
    expect((await peers.who(ends)).kind).toBe("admitted");
    rmSync(join(machine, "proc/70"), { recursive: true });
    holder(70, [5], { space: "pid:[2]" });
    expect((await peers.who(ends)).kind).toBe("container");
    // A process that was moved into a container keeps its process id.
    write("proc/70/cgroup", `0::/docker/${"ab".repeat(32)}\n`);
    expect(await peers.who(ends)).toEqual({ kind: "container", id: "ab".repeat(32) });
  });

  test("a remembered process that no longer holds the socket lets no other in", async () => {
    const peers = peersOf();
    holder(70, [5]);
    table("tcp", [{ uid: 0, inode: 5 }]);
    expect((await peers.who(ends)).kind).toBe("admitted");
    // On its way to another process: the kernel still shows its row, and no process holds it.
    rmSync(join(machine, "proc/70/fd/0"));
    expect((await peers.who(ends)).kind).toBe("gone");
    holder(71, [6, 5], { space: "pid:[2]" });
    expect((await peers.who(ends)).kind).toBe("container");
  });

  test("a process that ends while it is looked at lets nobody in", async () => {
    holder(70, [5]);
    table("tcp", [{ uid: 0, inode: 5 }]);
    for (const path of ["ns/pid", "cgroup"]) rmSync(join(machine, "proc/70", path));
    expect((await who()).kind).toBe("gone");
  });

  // The socket is root's, so the made-up processes have to be as well.
  test.skipIf(!isRoot)("an engine is known by its own name, also where one of its threads is the newest", async () => {
    table("tcp", [{ uid: 0, inode: 5 }]);
    holder(70, [5]);
    write("proc/70/stat", "70 (dockerd) S 1 1\n");
    holder(71, [5]);
    write("proc/71/status", "Name:\tworker\nTgid:\t70\n");
    write("proc/loadavg", "0.1 0.1 0.1 1/80 71\n");
    expect(await who()).toEqual({ kind: "engine", name: "dockerd" });
  });

  test("the kernel's own answer counts, and the tables where it has none", async () => {
    const [proc, etc] = [join(machine, "proc"), join(machine, "etc")];
    let row: SocketRow | undefined;
    const ask = async () => row;
    const peers = createPeers({ group: "berth", uid: 0, timeoutMs: 1_000, quick, ask, proc, etc });
    holder(70, [5]);
    table("tcp", [{ uid: 1002, inode: 5 }]);
    expect((await peers.who(ends)).kind).toBe("stranger");
    row = { uid: 0, inode: 5 };
    expect((await peers.who(ends)).kind).toBe("admitted");
    row = { uid: 0, inode: 0 };
    expect((await peers.who(ends)).kind).toBe("gone");
    rmSync(join(machine, "proc/net"), { recursive: true });
    row = { uid: 0, inode: 5 };
    expect((await peers.who(ends)).kind).toBe("admitted");
  });

  test("tables that cannot be read let nobody in", async () => {
    holder(70, [5]);
    for (const name of ["tcp", "tcp6"]) rmSync(join(machine, `proc/net/${name}`));
    const peer = await who();
    expect(peer.kind).toBe("unreadable");
  });

  test("many that ask at once are all told, each what holds for it", async () => {
    const id = "ab".repeat(32);
    holder(70, [5]);
    holder(71, [6], { cgroup: `0::/docker/${id}\n` });
    const peers = peersOf();
    const at = (remotePort: number) => ({ ...ends, remotePort });
    const line = (remotePort: number, inode: number) =>
      `   1: ${clientRowTexts(at(remotePort)).tcp}01 0:0 00:0 0  0  0 ${inode} 1 0\n`;
    write("proc/net/tcp", `  sl  local_address\n${line(1, 5)}${line(2, 6)}${line(3, 7)}`);
    const asked = [1, 2, 3, 4].flatMap((port) => Array.from({ length: 20 }, () => peers.who(at(port))));
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
    expect([kinds[0], kinds[20], kinds[40], kinds[60]]).toEqual(["admitted", "container", "gone", "gone"]);
    for (const start of [0, 20, 40, 60]) expect(new Set(kinds.slice(start, start + 20)).size).toBe(1);
  });

  test("a kernel without IPv6 has one table", async () => {
    holder(70, [5]);
    rmSync(join(machine, "proc/net/tcp6"));
    table("tcp", [{ uid: 0, inode: 5 }]);
    expect((await who()).kind).toBe("admitted");
    table("tcp", []);
    expect((await who()).kind).toBe("gone");
  });
});
