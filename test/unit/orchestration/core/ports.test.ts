import { describe, expect, test } from "bun:test";
import { parsePort, portsClash } from "../../../../src/orchestration/core/ports.ts";

const binding = (text: string) => {
  const port = parsePort(text);
  if (!port.ok) throw new Error(port.error);
  return port.value;
};

describe("publish syntax", () => {
  test.each([
    ["80", { hostIp: "127.0.0.1", hostPort: undefined, containerPort: 80, protocol: "tcp" }],
    ["8080:80", { hostIp: "127.0.0.1", hostPort: 8080, containerPort: 80, protocol: "tcp" }],
    ["0.0.0.0:8080:80", { hostIp: "0.0.0.0", hostPort: 8080, containerPort: 80, protocol: "tcp" }],
    ["10.0.0.1::80", { hostIp: "10.0.0.1", hostPort: undefined, containerPort: 80, protocol: "tcp" }],
    ["[::1]:8080:80", { hostIp: "::1", hostPort: 8080, containerPort: 80, protocol: "tcp" }],
    ["0.0.0.0:5432", { hostIp: "0.0.0.0", hostPort: 5432, containerPort: 5432, protocol: "tcp" }],
    ["[::1]:53/udp", { hostIp: "::1", hostPort: 53, containerPort: 53, protocol: "udp" }],
    ["[::]::53/udp", { hostIp: "::", hostPort: undefined, containerPort: 53, protocol: "udp" }],
    ["53:53/udp", { hostIp: "127.0.0.1", hostPort: 53, containerPort: 53, protocol: "udp" }],
    ["1:65535/sctp", { hostIp: "127.0.0.1", hostPort: 1, containerPort: 65535, protocol: "sctp" }],
  ] as const)("%s", (text, expected) => {
    expect(parsePort(text)).toEqual({ ok: true, value: expected });
  });

  test.each([
    ...["", "0", "65536", "x", "80:", ":80", "80:x", "0:80", "1:2:3", "host:80:80", "1.2.3.4:5:6:7", "80/http"],
    ...[
      "80/tcp/udp",
      "[::1]",
      "0.0.0.0",
      "0.0.0.0:",
      "0.0.0.0:x",
      "1.2.3.4.5:80",
      "[::1:80:80",
      "[x]:80:80",
      "999.0.0.1:80:80",
      "1.2.3.4:80:",
      "-80",
      "8e1",
      "80 ",
    ],
  ])("%j is refused with the text in quotes", (text) => {
    const port = parsePort(text);
    expect(port.ok).toBe(false);
    if (!port.ok) expect(port.error).toContain(`"${text}"`);
  });

  test("ranges are named as such", () => {
    expect(parsePort("8000-8010")).toEqual({
      ok: false,
      error: '"8000-8010" is a range of ports; write one entry per port',
    });
  });
});

describe("clashes", () => {
  test.each([
    ["80:80", "80:81", true],
    ["80:80", "0.0.0.0:80:80", true],
    ["80:80", "10.0.0.1:80:80", false],
    ["80:80", "80:80/udp", false],
    ["80", "80", false],
  ])("%s and %s: %p", (a, b, expected) => {
    expect(portsClash(binding(a), binding(b))).toBe(expected);
    expect(portsClash(binding(b), binding(a))).toBe(expected);
  });
});
