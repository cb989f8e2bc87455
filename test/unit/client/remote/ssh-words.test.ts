import { describe, expect, test } from "bun:test";
import { lookCommand, serverFault, silentFault } from "../../../../src/client/remote/server-words.ts";
import { sshFault } from "../../../../src/client/remote/ssh-words.ts";

const remote = { name: "production", host: "shop.example", user: "deploy", port: 2222, groups: [] };
const fault = (stderr: string, code = 255) => sshFault({ remote, result: { code, stdout: "", stderr } });

/** [what ssh 9.2 prints, the cause, a part of the advice] */
test.each([
  ["ssh: connect to host shop.example port 2222: Connection timed out", "does not answer", "firewall"],
  ["ssh: connect to host shop.example port 2222: No route to host", "does not answer", "firewall"],
  ["ssh: connect to host shop.example port 2222: Connection refused", "port 2222 of shop.example refuses", "sshd"],
  ["ssh: Could not resolve hostname shop.example: Name or service not known", "cannot be resolved", "remote list"],
  ["Host key verification failed.", "does not know its host key", "ssh -p 2222 deploy@shop.example"],
  [
    "@@@\n@ WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED! @\n@@@\nOffending ED25519 key in /h/known_hosts:7\nHost key verification failed.",
    "its host key is not the one",
    "ssh-keygen -R '[shop.example]:2222'",
  ],
  ["Received disconnect from 1.2.3.4 port 22:2: Too many authentication failures", "too many keys", "--identity FILE"],
  [
    "@@@\n@ WARNING: UNPROTECTED PRIVATE KEY FILE! @\nPermissions 0644 for '/h/id' are too open.\ndeploy@shop.example: Permission denied (publickey).",
    "ssh does not use /h/id",
    "chmod 600 /h/id",
  ],
  ["kex_exchange_identification: Connection closed by remote host", "ended the connection", "fail2ban"],
  [
    "debug1: Reading configuration\nBad configuration option: x\nterminating, 1 bad configuration options",
    "ssh failed: terminating, 1 bad",
    "try it by hand",
  ],
])("%p", (stderr, cause, advice) => {
  const told = fault(stderr);
  expect(told.cause).toContain(cause);
  expect(told.advice.join("\n")).toContain(advice);
});

test("a sign-in that is refused names the keys that were tried", () => {
  const { cause, advice } = fault(
    [
      "no such identity: /h/a: No such file or directory",
      "debug1: Offering public key: /h/b ED25519 SHA256:x explicit",
      "debug1: Offering public key: ana@laptop RSA SHA256:y agent",
      "deploy@shop.example: Permission denied (publickey,password).",
    ].join("\n"),
  );
  expect(cause).toBe('its ssh server does not let "deploy" in');
  expect(advice.slice(0, 2)).toEqual([
    "keys tried:         /h/b, ana@laptop",
    "the server takes:   publickey, password",
  ]);
  expect(fault("deploy@h: Permission denied (publickey).").advice[0]).toBe("keys tried:         none");
});

test("no ssh, and an ssh that says nothing", () => {
  expect(fault("", 127).cause).toBe("ssh is not installed on this machine");
  expect(fault("", 255).cause).toBe("ssh failed: exit code 255");
});

describe("ssh works and no server answers", () => {
  const socket = "/opt/berth/run/berth.sock";
  const seen = (words: string, user = "deploy") =>
    serverFault({ socket, silence: "silent", user, seen: words.split(" ") });

  test.each(["folder", "folder enter socket"])("without permission: the group, after a new sign-in (%s)", (words) => {
    const { cause, advice, newSession } = seen(words);
    expect(cause).toBe(`ssh works, but "deploy" may not use the server's socket ${socket}`);
    expect(advice[0]).toContain("sudo usermod -aG berth deploy");
    expect(newSession).toBe(true);
  });

  test("the group is that of the server's folder, where the other machine tells it", () => {
    expect(seen("group=shop folder").advice).toEqual([
      "on the server:  sudo usermod -aG shop deploy",
      "members of the group shop have the rights of root",
    ]);
    expect(seen("group=root folder").advice[0]).toContain("usermod -aG berth deploy");
    expect(lookCommand(socket)).toContain("stat -c %G /opt/berth");
  });

  test("no socket, and a socket that is not forwarded", () => {
    expect(seen("folder enter").cause).toContain(`there is no socket ${socket}`);
    expect(seen("", "root").advice).toHaveLength(2);
    expect(seen("folder enter socket write")).toBe(silentFault);
    expect(silentFault.advice.join("\n")).toContain("AllowStreamLocalForwarding");
  });
});
