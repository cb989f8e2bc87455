import { describe, expect, test } from "bun:test";
import { admissionRefusal, containerOf, readAccounts, readOperatorGroup } from "../../../../src/base/pure/admission.ts";

const passwd = [
  "root:x:0:0:root:/root:/bin/bash",
  "alice:x:1000:1000::/home/alice:/bin/sh",
  "bob:x:1001:990::/home/bob:/bin/sh",
  "carol:x:1002:1002::/home/carol:/bin/sh",
  "broken:x:abc:1:",
  "+::::::",
  "",
].join("\n");
const accounts = readAccounts(passwd);

describe("the operators' group", () => {
  test("holds those that /etc/group names and those whose primary group it is", () => {
    const group = readOperatorGroup("berth", "root:x:0:\nberth:x:990:alice,nobody-here\nother:x:1:carol\n", accounts);
    expect(group).toEqual({ name: "berth", gid: 990, members: new Set([1000, 1001]) });
  });
  test.each(["", "berthold:x:990:alice\n", "berth:x::alice\n", "#berth:x:990:alice\n"])(
    "is not there in %j",
    (text) => {
      expect(readOperatorGroup("berth", text, accounts)).toEqual({ name: "berth", gid: undefined, members: new Set() });
    },
  );
  test("an empty one has no members", () => {
    expect(readOperatorGroup("berth", "berth:x:991:\n", accounts).members.size).toBe(0);
  });
});

test("lines of /etc/passwd that are no accounts are passed over", () => {
  expect(accounts.map(({ name }) => name)).toEqual(["root", "alice", "bob", "carol"]);
});

describe("a client that is not let in", () => {
  const group = { name: "berth", gid: 990, members: new Set<number>() };
  const socket = "/opt/berth/run/berth.sock";
  test("is told who it is and what to type", () => {
    const refusal = admissionRefusal({ kind: "stranger", uid: 1002, user: "carol", group }, socket);
    expect(refusal?.status).toBe(403);
    expect(refusal?.message).toContain("the user carol (uid 1002)");
    expect(refusal?.message).toContain("sudo usermod -aG berth carol");
    expect(refusal?.message).toContain("ssh USER@SERVER");
  });
  test("is told to make the group where there is none", () => {
    const none = { ...group, gid: undefined };
    const refusal = admissionRefusal({ kind: "stranger", uid: 1002, user: "carol", group: none }, socket);
    expect(refusal?.message).toContain("sudo groupadd --system berth && sudo usermod -aG berth carol");
  });
  test("is told the socket where nobody can be asked", () => {
    expect(admissionRefusal({ kind: "gone" }, socket)?.message).toContain(`unix:${socket}`);
    const blind = admissionRefusal({ kind: "unreadable", why: "EACCES" }, socket);
    expect(blind?.status).toBe(503);
    expect(blind?.message).toContain("EACCES");
    expect(blind?.message).toContain("--addr-insecure");
  });
  test("is told which container it is in", () => {
    const refusal = admissionRefusal({ kind: "container", id: "ab".repeat(32) }, socket);
    expect(refusal?.status).toBe(403);
    expect(refusal?.message).toContain("(abababababab)");
  });
  test("is told that an engine is not let in", () => {
    const refusal = admissionRefusal({ kind: "engine", name: "dockerd" }, socket);
    expect([refusal?.status, refusal?.message]).toEqual([403, expect.stringContaining("comes from dockerd")]);
  });
  test("an admitted one is not refused", () => {
    expect(admissionRefusal({ kind: "admitted", uid: 0 }, socket)).toBeUndefined();
  });
});

const id = "0123456789abcdef".repeat(4);

test.each([
  `0::/system.slice/docker-${id}.scope`,
  `0::/system.slice/docker-${id}.scope/init`,
  `12:memory:/docker/${id}\n0::/`,
  `0::/kubepods.slice/kubepods-pod1.slice/cri-containerd-${id}.scope`,
  `0::/machine.slice/libpod-${id}.scope/container`,
])("%j is of a container", (text) => expect(containerOf(text)).toBe(id));

test.each([
  "0::/",
  "",
  "0::/user.slice/user-1000.slice/session-3.scope",
  "0::/system.slice/ssh.service",
  "memory:/process_api/4c26240d819a8c42a1719391b8af6a0a",
  `0::/x/${id}00`,
])("%j is of the machine", (text) => expect(containerOf(text)).toBeUndefined());
