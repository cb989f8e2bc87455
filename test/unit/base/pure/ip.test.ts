import { describe, expect, test } from "bun:test";
import { isIpAddress, isNetwork } from "../../../../src/base/pure/ip.ts";

describe("addresses", () => {
  test.each(["1.2.3.4", "::1", "fe80::1", "::ffff:1.2.3.4"])("%s is one", (text) => {
    expect(isIpAddress(text)).toBe(true);
  });
  test.each(["", "1.2.3", "256.1.1.1", "host", "::g", ":", "1.2.3.4]:x", "::1]/?[", "fe80::1%eth0", "[::1]"])(
    "%p is not one",
    (text) => {
      expect(isIpAddress(text)).toBe(false);
    },
  );
});

describe("networks", () => {
  test.each(["10.0.0.0/8", "192.0.2.7", "0.0.0.0/0", "2001:db8::/32", "::1", "::/0", "::1/128"])(
    "%s is one",
    (text) => {
      expect(isNetwork(text)).toBe(true);
    },
  );
  test.each([
    "",
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/8/8",
    "10.0.0.0/08",
    "10.0.0.0/-1",
    "::/129",
    "10.0.0.0/8 1",
    "all",
  ])("%p is not one", (text) => {
    expect(isNetwork(text)).toBe(false);
  });
});
