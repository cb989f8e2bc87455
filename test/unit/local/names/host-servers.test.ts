import { expect, test } from "bun:test";
import { hostServers } from "../../../../src/local/names/host-servers.ts";

const given = (files: Record<string, string>) => hostServers((path) => files[path] ?? "");

test("the servers and search domains of resolv.conf", () => {
  const text =
    "# by dhcp\nnameserver 192.0.2.1\nsearch a.example\nnameserver  192.0.2.2\nnameserver 2001:db8::1\nsearch Corp.Example. b.example\n";
  expect(given({ "/etc/resolv.conf": text })).toEqual({
    servers: ["192.0.2.1", "192.0.2.2"],
    search: ["corp.example", "b.example"],
  });
});

test("behind the stub of systemd-resolved, what the stub asks", () => {
  const files = {
    "/etc/resolv.conf": "nameserver 127.0.0.53\noptions edns0\n",
    "/run/systemd/resolve/resolv.conf": "nameserver 192.0.2.3\ndomain corp.example\n",
  };
  expect(given(files)).toEqual({ servers: ["192.0.2.3"], search: ["corp.example"] });
});

test("what Docker was told comes first", () => {
  const files = {
    "/etc/resolv.conf": "nameserver 127.0.0.1\n",
    "/etc/docker/daemon.json": '{"dns": ["192.0.2.8"], "live-restore": true}',
  };
  expect(given(files)).toEqual({ servers: ["192.0.2.8"], search: [] });
});

test("without a server that containers can ask, what is wrong", () => {
  expect(given({ "/etc/resolv.conf": "nameserver 127.0.0.1\n" })).toEqual({
    problem: "this machine asks 127.0.0.1, which containers cannot reach",
  });
  const none = { problem: "/etc/resolv.conf names no name server with an IPv4 address" };
  expect(given({})).toEqual(none);
  expect(given({ "/etc/resolv.conf": "nameserver 2001:db8::1\n", "/etc/docker/daemon.json": "{" })).toEqual(none);
});
