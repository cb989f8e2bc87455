import { expect, test } from "bun:test";
import { limits } from "../../../../src/config/config.ts";
import type { WritableKind } from "../../../../src/orchestration/api/kinds/schemas.ts";
import type { Spec } from "../../../../src/orchestration/api/manifest.ts";
import { validateSpec } from "../../../../src/orchestration/core/validate.ts";

const problems = (kind: WritableKind, spec: Spec) =>
  validateSpec(kind, spec, limits).map(({ path, message }) => `${path}: ${message}`);
const cronjob = (fields: Spec) => problems("cronjob", { schedule: "@daily", job: { image: "app:1" }, ...fields });
const job = (fields: Spec) => problems("job", { image: "app:1", ...fields });

test("every way to meet a run under way is a concurrency policy", () => {
  for (const concurrency_policy of ["Allow", "Forbid", "Replace"]) expect(cronjob({ concurrency_policy })).toEqual([]);
  expect(cronjob({ concurrency_policy: "replace" })[0]).toStartWith("spec.concurrency_policy: ");
});

test("the starting deadline is a duration above zero", () => {
  for (const starting_deadline of ["10s", "1h30m", "2d"]) expect(cronjob({ starting_deadline })).toEqual([]);
  expect(cronjob({ starting_deadline: "0s" })).toEqual(['spec.starting_deadline: "0s" must be above zero']);
  expect(cronjob({ starting_deadline: "soon" })[0]).toStartWith('spec.starting_deadline: "soon" is not a duration');
  expect(cronjob({ starting_deadline: 100 })[0]).toStartWith("spec.starting_deadline: ");
});

test("a failed run is tried again ten times at most, of a cron job as well", () => {
  for (const backoff_limit of [0, 3, 10]) {
    expect(job({ backoff_limit })).toEqual([]);
    expect(cronjob({ job: { image: "app:1", backoff_limit } })).toEqual([]);
  }
  for (const backoff_limit of [-1, 11, 1.5, "3"]) {
    expect(job({ backoff_limit })[0]).toStartWith("spec.backoff_limit: ");
    expect(cronjob({ job: { image: "app:1", backoff_limit } })[0]).toStartWith("spec.job.backoff_limit: ");
  }
});
