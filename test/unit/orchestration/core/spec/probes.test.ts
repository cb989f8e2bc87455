import { expect, test } from "bun:test";
import { decodeProbes } from "../../../../../src/orchestration/core/spec/probes.ts";

test("defaults are filled in, and only what is declared is there", () => {
  expect(decodeProbes({ readiness: { tcp_socket: { port: 80 } } })).toEqual({
    readiness: {
      action: { type: "tcp", port: 80 },
      initialDelayMs: 0,
      periodMs: 10_000,
      timeoutMs: 1_000,
      failureThreshold: 3,
      successThreshold: 1,
    },
  });
  expect(decodeProbes({})).toEqual({});
  expect(decodeProbes(undefined)).toEqual({});
});

test("everything written is taken over, times in milliseconds", () => {
  const times = { initial_delay: "1m", period: "500ms", timeout: "2s", failure_threshold: 5, success_threshold: 2 };
  expect(decodeProbes({ startup: { exec: { command: ["true"] }, ...times } })).toEqual({
    startup: {
      action: { type: "exec", command: ["true"] },
      initialDelayMs: 60_000,
      periodMs: 500,
      timeoutMs: 2_000,
      failureThreshold: 5,
      successThreshold: 2,
    },
  });
});

test("http asks over http unless https is written", () => {
  const action = (http_get: { path: string; port: number; scheme?: "http" | "https" }) =>
    decodeProbes({ liveness: { http_get } }).liveness?.action;
  expect(action({ path: "/up", port: 80 })).toEqual({
    type: "http",
    path: "/up",
    port: 80,
    scheme: "http",
    headers: {},
  });
  expect(action({ path: "/up", port: 80, scheme: "https" })).toMatchObject({ scheme: "https" });
  const withHeaders = { path: "/", port: 1, http_headers: { Host: "x" } };
  expect(decodeProbes({ liveness: { http_get: withHeaders } }).liveness?.action).toMatchObject({
    headers: { Host: "x" },
  });
});

test("stored texts that are no durations fall back, a probe without an action is left out", () => {
  expect(decodeProbes({ liveness: { tcp_socket: { port: 1 }, period: "soon" } }).liveness?.periodMs).toBe(10_000);
  expect(decodeProbes({ liveness: {} })).toEqual({});
});

test("what another version has written counts as absent", () => {
  const odd = { exec: null, http_get: { path: 7, port: "80" }, tcp_socket: { port: 5432 }, failure_threshold: "many" };
  expect(decodeProbes({ readiness: odd }).readiness).toMatchObject({ action: { type: "tcp" }, failureThreshold: 3 });
  for (const probes of [null, 5, [], "x", { liveness: null }, { liveness: { exec: null } }]) {
    expect(decodeProbes(probes)).toEqual({});
  }
});
