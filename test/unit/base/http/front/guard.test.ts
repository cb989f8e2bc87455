import { describe, expect, test } from "bun:test";
import { guard, isLoopbackHost, type Transport } from "../../../../../src/base/http/front/guard.ts";
import { createHeadReader } from "../../../../../src/base/http/front/request-head.ts";

function ask(transport: Transport, ...lines: string[]) {
  return askListing([], transport, ...lines);
}

function askListing(allowedHosts: string[], transport: Transport, ...lines: string[]) {
  const head = `GET / HTTP/1.${lines.some((line) => line.startsWith("Host")) ? 1 : 0}\r\n${lines.map((line) => `${line}\r\n`).join("")}\r\n`;
  const step = createHeadReader({ headBytesMax: 4096, headersMax: 20 }).push(Buffer.from(head));
  if (step.kind !== "head") throw new Error(JSON.stringify(step));
  return guard(step.head, { transport, allowedHosts });
}

test.each(["localhost", "LOCALHOST:8686", "localhost.", "127.0.0.1", "127.8.9.255:1", "[::1]", "[::1]:8686"])(
  "%s is loopback",
  (host) => expect(isLoopbackHost(host)).toBe(true),
);

test.each([
  "",
  "example.com",
  "127.0.0.1.example.com",
  "127.0.0.256",
  "127.1",
  "128.0.0.1",
  "localhost.example.com",
  "[::2]",
  "::1",
  "localhost:x",
  "0.0.0.0",
  "localhost:8686:1",
])("%j is not loopback", (host) => expect(isLoopbackHost(host)).toBe(false));

describe("on TCP", () => {
  test("passes loopback hosts, and HTTP/1.0 without a host", () => {
    expect(ask("tcp", "Host: localhost:8686")).toBeUndefined();
    expect(ask("tcp")).toBeUndefined();
  });
  test("refuses a name that was pointed here, says which and what to do", () => {
    const refusal = ask("tcp", "Host: evil.example:8686");
    expect(refusal?.status).toBe(403);
    expect(refusal?.message).toContain('"evil.example:8686"');
    expect(refusal?.message).toContain("localhost");
  });
});

describe.each(["tcp", "unix"] as const)("a web page, on %s", (transport) => {
  test.each([
    "Origin: https://evil.example",
    "Origin: null",
    "Origin: http://localhost:3000",
    "Origin: https://localhost:8686",
    "Sec-Fetch-Site: cross-site",
    "Sec-Fetch-Site: same-site",
    "Sec-Fetch-Site: x",
  ])("%s is refused", (line) => {
    expect(ask(transport, "Host: localhost:8686", line)?.status).toBe(403);
  });
  test("own origin and typed addresses pass", () => {
    expect(ask(transport, "Host: localhost:8686", "Origin: http://LOCALHOST:8686")).toBeUndefined();
    expect(ask(transport, "Host: localhost:8686", "Sec-Fetch-Site: none")).toBeUndefined();
    expect(ask(transport, "Host: localhost:8686", "Sec-Fetch-Site: same-origin")).toBeUndefined();
  });
  test("a rebound name is refused although the origin agrees with it", () => {
    expect(ask(transport, "Host: evil.example", "Origin: http://evil.example")?.status).toBe(403);
  });
});

test("the unix socket does not look at Host otherwise", () => {
  expect(ask("unix", "Host: whatever")).toBeUndefined();
});

describe("a proxy in front, whose name is listed", () => {
  const listed = (...lines: string[]) => askListing(["berth.shop.test", "[fd00::1]"], "tcp", ...lines);
  test.each([
    [["Host: berth.shop.test"]],
    [["Host: BERTH.shop.test:8443"]],
    [["Host: [fd00::1]:80"]],
    [["Host: berth.shop.test", "Origin: https://berth.shop.test", "Sec-Fetch-Site: same-origin"]],
    [["Host: 127.0.0.1:8686", "Origin: https://berth.shop.test:8443"]],
  ])("passes %p", (lines) => {
    expect(listed(...lines)).toBeUndefined();
  });
  test.each([
    [["Host: evil.berth.shop.test"]],
    [["Host: berth.shop.test.evil"]],
    [["Host: berth.shop.test", "Origin: https://evil.test"]],
    [["Host: berth.shop.test", "Origin: https://berth.shop.test/x"]],
    [["Host: berth.shop.test", "Origin: https://berth.shop.test@evil.test"]],
    [["Host: berth.shop.test", "Origin: null"]],
    [["Host: berth.shop.test", "Origin: https://berth.shop.test", "Sec-Fetch-Site: cross-site"]],
    [["Host: berth.shop.test", "Sec-Fetch-Site: same-site"]],
  ])("refuses %p", (lines) => {
    expect(listed(...lines)?.status).toBe(403);
  });
  test("a name that is not listed is told how it would be", () => {
    expect(ask("tcp", "Host: berth.shop.test:443")?.message).toContain("--allowed-hosts berth.shop.test");
    expect(ask("tcp", "Host: a b")?.message).not.toContain("--allowed-hosts");
  });
});
