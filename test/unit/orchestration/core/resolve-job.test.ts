import { describe, expect, test } from "bun:test";
import type { Spec, StoredManifest } from "../../../../src/orchestration/api/manifest.ts";
import { jobOf } from "../../../../src/orchestration/core/spec/decode.ts";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import { resolveJob } from "../../../../src/orchestration/core/resolve-job.ts";

const digest = "a".repeat(64);

function resolved(kind: "job" | "cronjob", spec: Spec) {
  const manifest: StoredManifest = {
    ...{ kind, scope: "shop", name: "report", spec, revision: 3, generation: 2, createdAt: 0, updatedAt: 0 },
  };
  return resolveJob({
    manifest,
    config: { KEY: "config", MODE: "config" },
    envFrom: [{ KEY: "other", FAR: "1" }],
    assetPath: (hash) => `/assets/${hash}`,
    isPlainVolume: () => false,
    findReferenced: () => undefined,
    names: naming(),
  });
}

describe("a job", () => {
  test("is resolved like a deployment", () => {
    const { job, problems } = resolved("job", {
      image: "tools:1",
      command: ["run", "${asset.q.main}"],
      env: { MODE: "own" },
      resources: { limits: { cpu: "500m", memory: "64Mi" } },
      timeout: "25m",
      backoff_limit: 4,
      pull: "always",
      _asset_digests: { "q.main": digest },
    });
    expect(problems).toEqual([]);
    expect(job).toMatchObject({ kind: "job", image: "tools:1", pullable: true, pull: "always", generation: 2 });
    expect(job).toMatchObject({ timeoutMs: 1_500_000, retries: 4 });
    expect(job.container.command).toEqual(["run", `/assets/${digest}`]);
    expect(job.container).toMatchObject({ nanoCpus: 500_000_000, memoryBytes: 64 * 1024 * 1024 });
    expect(job.container.env).toEqual({
      ...{ KEY: "config", FAR: "1", MODE: "own", BERTH_SCOPE: "shop", BERTH_NAME: "report" },
    });
  });

  test("without an image runs the one that is built here", () => {
    expect(resolved("job", {}).job).toMatchObject({ image: "shop-report:latest", pullable: false, retries: 0 });
    expect(resolved("job", {}).job.timeoutMs).toBeUndefined();
  });

  test("has labels of its own, but none of the platform's", () => {
    const { job } = resolved("job", { labels: { team: "x", "berth.kind": "deployment", createdby: "me" } });
    expect(job.container.options.labels).toEqual({ team: "x" });
  });
});

describe("a cron job", () => {
  test("is resolved from the job inside it", () => {
    const { job } = resolved("cronjob", { schedule: "@daily", job: { image: "tools:2", backoff_limit: 1 } });
    expect(job).toMatchObject({ kind: "cronjob", image: "tools:2", retries: 1 });
  });

  test("problems name the path inside it", () => {
    const { problems } = resolved("cronjob", { schedule: "@daily", job: { command: ["${asset.q.main}"] } });
    expect(problems).toMatchObject([{ path: "spec.job.command[0]", reason: "AssetUnavailable" }]);
  });

  test("its hash moves with the container and not with the schedule", () => {
    const hash = (schedule: string, image: string) => resolved("cronjob", { schedule, job: { image } }).job.hash;
    expect(hash("@daily", "a:1")).toBe(hash("@hourly", "a:1"));
    expect(hash("@daily", "a:1")).not.toBe(hash("@daily", "a:2"));
  });
});

test("history limits: those of the cron job, then those of the job inside, then 3 and 1", () => {
  expect(jobOf({ kind: "job", spec: {} })?.history).toEqual({ succeeded: 3, failed: 1 });
  expect(jobOf({ kind: "job", spec: { successful_history_limit: 0, failed_history_limit: 7 } })?.history).toEqual({
    ...{ succeeded: 0, failed: 7 },
  });
  const inner = { successful_history_limit: 9, failed_history_limit: 9 };
  expect(jobOf({ kind: "cronjob", spec: { job: inner, failed_history_limit: 2 } })?.history).toEqual({
    succeeded: 9,
    failed: 2,
  });
});
