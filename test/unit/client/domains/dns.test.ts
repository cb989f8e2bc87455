import { describe, expect, test } from "bun:test";
import { checkHost, isPublic, recordText, statusText } from "../../../../src/client/domains/dns.ts";

const server = ["203.0.113.5", "2001:db8::5", "10.0.0.5"];

describe("a host", () => {
  test.each<[string[], string[], string, string, string]>([
    [["203.0.113.5"], server, "ok", "ok", ""],
    [["203.0.113.5", "2001:db8::5"], server, "ok", "ok", ""],
    [["10.0.0.5"], server, "ok", "ok", ""],
    [[], server, "missing", "does not resolve", "A 203.0.113.5, AAAA 2001:db8::5"],
    [
      ["198.51.100.7"],
      server,
      "elsewhere",
      "leads to 198.51.100.7, not to the server",
      "A 203.0.113.5, AAAA 2001:db8::5",
    ],
    [
      ["203.0.113.5", "198.51.100.7"],
      server,
      "partly",
      "leads to 203.0.113.5, 198.51.100.7, of which not all are the server",
      "A 203.0.113.5, AAAA 2001:db8::5",
    ],
    [
      ["198.51.100.7"],
      [],
      "unknown",
      "leads to 198.51.100.7; is that the server?",
      "A (the public address of the server)",
    ],
    // Behind NAT the server does not know its public address.
    [
      ["198.51.100.7"],
      ["10.0.0.5"],
      "unknown",
      "leads to 198.51.100.7; is that the server?",
      "A (the public address of the server)",
    ],
    [
      ["127.0.0.1"],
      ["10.0.0.5"],
      "elsewhere",
      "leads to 127.0.0.1, not to the server",
      "A (the public address of the server)",
    ],
    [[], [], "missing", "does not resolve", "A (the public address of the server)"],
  ])("that resolves to %j, with the server at %j, is %s", (addresses, own, status, text, record) => {
    const check = checkHost("a.example.com", addresses, own);
    expect([check.status, statusText(check), recordText(check)]).toEqual([status as never, text, record]);
  });
});

test.each([
  ["203.0.113.5", true],
  ["10.1.2.3", false],
  ["172.16.0.1", false],
  ["172.32.0.1", true],
  ["192.168.1.1", false],
  ["127.0.0.1", false],
  ["169.254.1.1", false],
  ["100.64.0.1", false],
  ["100.128.0.1", true],
  ["2001:db8::1", true],
  ["::1", false],
  ["::", false],
  ["fd00::1", false],
  ["fe80::1", false],
])("%s is public: %p", (address, is) => {
  expect(isPublic(address)).toBe(is);
});
