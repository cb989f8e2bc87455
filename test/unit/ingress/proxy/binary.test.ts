import { expect, test } from "bun:test";
import { toldBy } from "../../../../src/ingress/proxy/binary.ts";

test("what HAProxy says of itself is its version and what it can do", () => {
  const said =
    "HAProxy version 2.6.12-1+deb12u4 2024/03/01 - https://haproxy.org/\nFeature list : +EPOLL +LUA +OPENSSL\n";
  expect(toldBy("/usr/sbin/haproxy", said)).toEqual({
    ok: true,
    program: {
      version: "2.6.12-1+deb12u4",
      capabilities: { major: 2, minor: 6, lua: true, addServer: true },
    },
  });
});

test("one that is too old, or is none, says which", () => {
  expect(toldBy("the image haproxy:2.4", "HAProxy version 2.4.22\n")).toEqual({
    ok: false,
    problem: "HAProxy 2.4.22 of the image haproxy:2.4 is too old; version 2.6 or newer is needed",
  });
  expect(toldBy("/bin/true", "")).toEqual({ ok: false, problem: "/bin/true did not tell its version" });
});
