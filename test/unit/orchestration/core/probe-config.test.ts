import { expect, test } from "bun:test";
import { probeConfig } from "../../../../src/orchestration/core/probe-config.ts";

test("defaults are filled in, and only what is declared is there", () => {
  expect(probeConfig({ readiness: { tcp_socket: { port: 80 } } })).toEqual({
    readiness: {
      action: { type: "tcp", port: 80 },
      initialDelayMs: 0,
      periodMs: 10_000,
      timeoutMs: 1_000,
      failureThreshold: 3,
      successThreshold: 1,
    },
  });
  expect(probeConfig({})).toEqual({});
  expect(probeConfig(undefined)).toEqual({});
});

test("everything written is taken over, times in milliseconds", () => {
  const times = { initial_delay: "1m", period: "500ms", timeout: "2s", failure_threshold: 5, success_threshold: 2 };
  expect(probeConfig({ startup: { exec: { command: ["true"] }, ...times } })).toEqual({
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
    probeConfig({ liveness: { http_get } }).liveness?.action;
  expect(action({ path: "/up", port: 80 })).toEqual({
    type: "http",
    path: "/up",
    port: 80,
    scheme: "http",
    headers: {},
  });
  expect(action({ path: "/up", port: 80, scheme: "https" })).toMatchObject({ scheme: "https" });
  const withHeaders = { path: "/", port: 1, http_headers: { Host: "x" } };
  expect(probeConfig({ liveness: { http_get: withHeaders } }).liveness?.action).toMatchObject({
    headers: { Host: "x" },
  });
});

test("stored texts that are no durations fall back, a probe without an action is left out", () => {
  expect(probeConfig({ liveness: { tcp_socket: { port: 1 }, period: "soon" } }).liveness?.periodMs).toBe(10_000);
  expect(probeConfig({ liveness: {} })).toEqual({});
});
