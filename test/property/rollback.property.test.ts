import { expect, test } from "bun:test";
import fc from "fast-check";
import type { PodKind, Spec } from "../../src/orchestration/api/manifest.ts";
import { limits } from "../../src/config/config.ts";
import { rolledBackSpec } from "../../src/orchestration/core/rollback.ts";
import { specHash } from "../../src/orchestration/core/spec-hash.ts";
import { specValidators } from "../../src/orchestration/core/spec-validators.ts";
import { specs } from "./core-specs.ts";

const podKind = fc.constantFrom<PodKind>("deployment", "statefulset");
const pair = podKind.chain((kind) => fc.record({ kind: fc.constant(kind), goal: specs[kind], present: specs[kind] }));
/** Ports that only one replica can hold, so that settings and containers may not fit together. */
const fixed = fc.constantFrom<Spec>({}, { ports: ["8080:80"], replicas: 1 });

test("a rollback makes the containers of the past release, keeps the rules of an apply, and is done when done twice", () => {
  fc.assert(
    fc.property(pair, fixed, ({ kind, goal: past, present }, ports) => {
      const { autoscale: _, ...rest } = past;
      const goal = "ports" in ports ? { ...rest, ...ports, rollout: {} } : past;
      const faultsOf = (spec: Spec) => specValidators[kind](spec, limits).length;
      const back = rolledBackSpec(goal, present, faultsOf);
      expect(specHash(kind, back)).toBe(specHash(kind, goal));
      expect(faultsOf(back)).toBeLessThanOrEqual(faultsOf(goal));
      expect(rolledBackSpec(goal, back, faultsOf)).toEqual(back);
      expect(rolledBackSpec(goal, goal, faultsOf)).toEqual(goal);
    }),
    { numRuns: Number(process.env.BERTH_TEST_CASES ?? 150) },
  );
});
