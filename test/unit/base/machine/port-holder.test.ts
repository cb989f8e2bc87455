import { expect, test } from "bun:test";
import {
  holderOf,
  ipOf,
  type Listening,
  listeningOn,
  onlyFor,
  type PortHolder,
  portTaken,
} from "../../../../src/base/machine/port-holder.ts";
import { freePort } from "../../../support/ports.ts";

test.each([
  ["0100007F", "127.0.0.1"],
  ["00000000", "0.0.0.0"],
  ["00000000000000000000000000000000", "::"],
  ["00000000000000000000000001000000", "::1"],
  ["0000000000000000FFFF00000100007F", "127.0.0.1"],
  ["B80D0120000000000000000001000000", "2001:db8::1"],
])("reads the address %s of the kernel as %s", (hex, ip) => {
  expect(ipOf(hex)).toBe(ip);
});

test("who has the port of an address is found by every spelling of the address, and by no other address", async () => {
  using server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  for (const host of ["127.0.0.1", "localhost", "0.0.0.0", "", "[::]"]) {
    expect((await holderOf(await listeningOn(`${host}:${server.port}`)))?.pid).toBe(process.pid);
  }
  expect(await listeningOn(`127.0.0.2:${server.port}`)).toEqual([]);
  expect(await listeningOn(`127.0.0.1:${await freePort()}`)).toEqual([]);
});

const nginx: PortHolder = {
  pid: 812,
  program: "nginx",
  startedBy: { pid: 1, program: "systemd" },
  command: ["nginx"],
  unit: undefined,
};

test.each<[string, Partial<PortHolder> | undefined, string]>([
  ["a program", {}, 'by process 812 (nginx); end it with "kill 812", or'],
  ["a service", { unit: "nginx.service" }, 'by process 812 (nginx); end it with "systemctl stop nginx.service", or'],
  ["a worker", { startedBy: { pid: 800, program: "nginx" } }, 'by process 812 (nginx); end it with "kill 800", or'],
  [
    "a container",
    { program: "docker-proxy" },
    'find its container with "docker ps --filter publish=80" and stop it, or',
  ],
  ["no process that can be seen", undefined, "is in use, stop what uses it or"],
])("the text says how to free a port that is held by %s", async (_, change, part) => {
  const text = await portTaken("127.0.0.1:80", change === undefined ? undefined : { ...nginx, ...change });
  expect(text).toStartWith("address 127.0.0.1:80 is in use");
  expect(text).toContain(part);
  expect(text).toEndWith("or choose another address");
});

test("what another user has on IPv4 shows that a listener on :: is for IPv6 alone", async () => {
  const socket = (ip: string, uid: string): Listening => ({ ip, uid, port: 1, protocol: "tcp", inode: ip });
  const six = socket("::", "1000");
  for (const [uid, found] of [
    ["0", []],
    ["1000", [six]],
  ] as const) {
    expect(await onlyFor("0.0.0.0", [six], [six, socket("127.0.0.1", uid)])).toEqual([...found]);
    expect(await onlyFor("::", [six], [six, socket("127.0.0.1", uid)])).toEqual([six]);
  }
});
