import { describe, expect, test } from "bun:test";
import { parsePort, portsClash, portTexts } from "../../../../src/orchestration/core/ports.ts";

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

  test.each([
    ["8000-8002", ["8000", "8001", "8002"]],
    ["9000-9001:8000-8001/udp", ["9000:8000/udp", "9001:8001/udp"]],
    ["0.0.0.0:80-81:90-91", ["0.0.0.0:80:90", "0.0.0.0:81:91"]],
    ["[::1]::53-54/udp", ["[::1]::53/udp", "[::1]::54/udp"]],
    ["10.0.0.1:53-54", ["10.0.0.1:53", "10.0.0.1:54"]],
    ["80-80", ["80"]],
    ["80:80", ["80:80"]],
  ])("%s is a range, and means its ports", (text, ports) => {
    expect(portTexts(text)).toEqual(ports);
    for (const port of ports) expect(parsePort(port).ok).toBe(true);
  });

  test.each(["8010-8000", "8000-8001:9000-9005", "8000-8001:80", "16384-32768/udp", "1-2-3", "1-2:x"])(
    "%s is no range that can be published",
    (text) => {
      expect(portTexts(text)).toEqual([text]);
      expect(parsePort(text)).toMatchObject({ ok: false });
    },
  );
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
