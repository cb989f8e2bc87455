import { describe, expect, test } from "bun:test";
import { type DeployNews, deployPayload, probePayload } from "../../../../src/orchestration/core/webhook-payload.ts";

const key = { kind: "deployment", scope: "shop", name: "web" };
const startedAt = Date.UTC(2026, 0, 1);

const news: DeployNews = {
  outcome: "success",
  releaseId: "l8x2k1abc",
  image: "web:2",
  startedAt,
  completedAt: startedAt + 1_500,
  error: undefined,
};

describe("a deploy", () => {
  test("that succeeded tells who, what and when, and no error", () => {
    expect(deployPayload(key, news)).toEqual({
      kind: "deployment",
      scope: "shop",
      name: "web",
      status: "success",
      release_id: "l8x2k1abc",
      image: "web:2",
      started_at: "2026-01-01T00:00:00.000Z",
      completed_at: "2026-01-01T00:00:01.500Z",
    });
  });

  test("that failed tells why; what is not known is left out", () => {
    const payload = deployPayload(key, { ...news, outcome: "failure", releaseId: undefined, image: "", error: "boom" });
    expect(payload).toMatchObject({ status: "failure", error: "boom" });
    expect(Object.keys(payload)).not.toContain("release_id");
    expect(Object.keys(payload)).not.toContain("image");
  });

  test("cuts an endless error, never in the middle of a character", () => {
    const { error = "" } = deployPayload(key, {
      ...news,
      outcome: "failure",
      error: "x".repeat(4_095) + "😀".repeat(9),
    });
    expect(error.length).toBe(4_096);
    expect(error.isWellFormed()).toBe(true);
  });
});

test("a probe tells the pod, the probe and the transition; a recovery has no error", () => {
  const change = {
    pod: "shop-web.ab1cd",
    image: "web:2",
    probe: "readiness",
    reason: "connection refused",
    transitionId: "0123456789ab",
    at: startedAt,
  } as const;
  expect(probePayload(key, { ...change, transition: "failure" })).toEqual({
    ...key,
    status: "failure",
    image: "web:2",
    error: "connection refused",
    pod: "shop-web.ab1cd",
    probe: "readiness",
    transition: "failure",
    transition_id: "0123456789ab",
    reason: "connection refused",
    timestamp: "2026-01-01T00:00:00.000Z",
  });
  const recovery = probePayload(key, { ...change, transition: "recovery" });
  expect(recovery).toMatchObject({ status: "recovery", transition: "recovery" });
  expect(recovery.error).toBeUndefined();
});
