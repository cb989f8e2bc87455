import { expect, test } from "bun:test";
import { limits } from "../../../../../src/config/config.ts";
import { specValidators } from "../../../../../src/orchestration/core/spec-validators.ts";

const problems = (
  rollout: unknown,
  spec: Record<string, unknown> = {},
  kind: "deployment" | "statefulset" = "deployment",
) =>
  specValidators[kind]({ image: "web:1", rollout, ...spec }, limits).map(({ path, message }) => `${path}: ${message}`);

test("steps are a weight, or a weight with a pause", () => {
  const canary = [{ weight: "5%", pause: "2m" }, { weight: "25%", pause: "forever" }, "100%"];
  expect(problems({ canary, keep: "10m" })).toEqual([]);
});

test.each([
  [["5"], 'spec.rollout.canary[0]: "5" is not a share; write it like "5%" or "0.5%"'],
  [["0.5%"], 'spec.rollout.canary[0]: "0.5%" must be from 1% to 100%'],
  [
    ["25%", { weight: "25%" }],
    'spec.rollout.canary[1].weight: "25%" is not above the step before; each step takes a larger share of the requests',
  ],
  [
    [{ weight: "5%", pause: "soon" }],
    'spec.rollout.canary[0].pause: "soon" is not a duration; write it like "30s", "1h30m", "500ms" or "2d", at most 24d, or "forever"',
  ],
])("%j is refused with the field", (canary, problem) => {
  expect(problems({ canary })).toEqual([problem]);
});

test("a step of another shape, and no step at all, are refused", () => {
  expect(problems({ canary: [{ weight: "5%", wait: "2m" }] })[0]).toContain("spec.rollout.canary[0]");
  expect(problems({ canary: [5] })[0]).toContain("spec.rollout.canary[0]");
  expect(problems({ canary: [] })[0]).toContain("spec.rollout.canary");
});

test("what cannot run old and new replicas beside each other is refused", () => {
  const canary = ["50%"];
  expect(problems({ canary, strategy: "recreate" })[0]).toContain("needs old and new replicas at the same time");
  expect(problems({ canary }, { ports: ["8080:80"] })[0]).toContain("cannot work with the fixed host port 8080");
  expect(problems({ canary }, { replicas: 1 }, "statefulset")[0]).toContain("does not apply to a statefulset");
});

test("keep needs steps, and a time", () => {
  expect(problems({ keep: "10m" })[0]).toStartWith("spec.rollout.keep: needs canary");
  expect(problems({ keep: "long", canary: ["100%"] })[0]).toContain('"long" is not a duration');
});
