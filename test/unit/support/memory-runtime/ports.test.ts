import { expect, test } from "bun:test";
import type { PortBinding } from "../../../../src/orchestration/core/workload.ts";
import { createPortTable } from "../../../support/memory-runtime/ports.ts";

const port = (hostPort: number | undefined, change: Partial<PortBinding> = {}): PortBinding => ({
  hostIp: "127.0.0.1",
  hostPort,
  containerPort: 80,
  protocol: "tcp",
  ...change,
});

test("a port everywhere clashes with the same on any address, two addresses do not clash", () => {
  const ports = createPortTable();
  ports.claim("a", [port(80)]);
  expect(ports.claim("b", [port(80, { hostIp: "127.0.0.2" })])).not.toHaveProperty("taken");
  expect(ports.claim("c", [port(80, { hostIp: "0.0.0.0" })])).toEqual({ taken: 80 });
  expect(ports.claim("c", [port(80, { hostIp: "" })])).toEqual({ taken: 80 });
  expect(ports.claim("c", [port(80, { protocol: "udp" })])).not.toHaveProperty("taken");
});

test("a claim that fails half way keeps nothing", () => {
  const ports = createPortTable();
  ports.claim("a", [port(81)]);
  expect(ports.claim("b", [port(80), port(81)])).toEqual({ taken: 81 });
  expect(ports.claim("c", [port(80)])).not.toHaveProperty("taken");
});

test("one container cannot have one port twice", () => {
  expect(createPortTable().claim("a", [port(80), port(80)])).toEqual({ taken: 80 });
});

test("free ports differ, and come round again when released", () => {
  const ports = createPortTable();
  const claimed = Array.from({ length: 100 }, (_, index) => ports.claim(`c${index}`, [port(undefined)]));
  const numbers = claimed.flatMap((rows) => ("taken" in rows ? [] : rows.map(({ hostPort }) => hostPort)));
  expect(new Set(numbers).size).toBe(100);
  ports.release("c0");
  expect(ports.claim("x", [port(Number(numbers[0]))])).not.toHaveProperty("taken");
});
