import { describe, expect, test } from "bun:test";
import { addressText, parseSshAddress, readName, readSocket } from "../../../../src/client/remote/address.ts";

describe("an ssh address", () => {
  test.each([
    ["shop.example", { host: "shop.example" }],
    ["deploy@shop.example", { host: "shop.example", user: "deploy" }],
    ["deploy@shop.example:2222", { host: "shop.example", user: "deploy", port: 2222 }],
    ["deploy@[::1]:22", { host: "::1", user: "deploy", port: 22 }],
    ["deploy@10.0.0.5", { host: "10.0.0.5", user: "deploy" }],
  ])("%p is read, and shown as it was written", (text, address) => {
    expect(parseSshAddress(text)).toEqual(address);
    expect(addressText(address)).toBe(text);
  });

  test.each([
    "",
    "@host",
    "user@",
    "-oProxyCommand=x",
    "user@-oProxyCommand=x",
    "-l@host",
    "a b@host",
    "u@h:0",
    "u@h:65536",
    "u@h:x",
    "ssh://u@h",
    "u@h:~/key",
    "u@h;id",
    "u@$(id)",
  ])("%p is refused", (text) => {
    expect(() => parseSshAddress(text)).toThrow(/is not/);
  });
});

test.each(["", "local", "Prod", "a b", "-a", "a/b", "a@b", "a".repeat(41)])(
  "%p cannot be the name of a remote",
  (name) => {
    expect(() => readName(name)).toThrow();
  },
);

test.each(["run.sock", "/a b", "/a:b", "/a%h", "/a$HOME", "/a'b", "/a\nb"])("ssh could not forward %p", (path) => {
  expect(() => readSocket(path)).toThrow("is not a path that ssh can forward");
});
