import { describe, expect, test } from "bun:test";
import type { StoredManifest } from "../../../../../src/orchestration/api/manifest.ts";
import { type HaltedConfig, type TargetRelease, targetOf } from "../../../../../src/orchestration/core/plan/target.ts";

const stored: StoredManifest = {
  kind: "deployment",
  scope: "shop",
  name: "web",
  spec: { image: "app:2", replicas: 5 },
  revision: 7,
  generation: 9,
  createdAt: 1,
  updatedAt: 2,
};

function release(status: TargetRelease["status"], image: string): TargetRelease {
  const codes = { preExitCode: undefined, exitCode: undefined };
  return { status, good: status === "succeeded", hash: image, spec: { image, replicas: 2 }, ...codes };
}

const target = (releases: TargetRelease[], halted?: HaltedConfig) =>
  targetOf({ manifest: stored, releases, halted, faultsOf: () => 0 });
const imageOf = (releases: TargetRelease[]) => target(releases)?.spec.image;

describe("what replicas are made from", () => {
  test("is what is stored, when nothing is known of releases", () => {
    expect(target([])).toEqual(stored);
  });

  test.each(["running", "succeeded"] as const)("is what is stored, while its release is %s", (status) => {
    expect(imageOf([release(status, "app:2"), release("succeeded", "app:1")])).toBe("app:2");
  });

  test.each(["pending", "failed"] as const)("is the last good release, while the newest is %s", (status) => {
    const releases = [release(status, "app:2"), release("failed", "app:x"), release("succeeded", "app:1")];
    expect(target(releases)).toEqual({ ...stored, spec: { image: "app:1", replicas: 5 } });
  });

  test("is the newest of several good ones", () => {
    const good = [release("succeeded", "app:1"), release("succeeded", "app:0")];
    expect(imageOf([release("pending", "app:2"), ...good])).toBe("app:1");
  });

  test("is nothing before the commands of a first release have passed", () => {
    expect(target([release("pending", "app:2")])).toBeUndefined();
    expect(target([release("pending", "app:2"), release("failed", "app:1")])).toBeUndefined();
  });

  test("is what is stored when it failed and there is nothing good to return to", () => {
    expect(imageOf([release("failed", "app:2")])).toBe("app:2");
  });

  test.each([{ preExitCode: 1 }, { preExitCode: 0, exitCode: -1 }])(
    "is nothing after the commands of a first release failed: %j",
    (codes) => {
      expect(imageOf([{ ...release("failed", "app:2"), ...codes }])).toBeUndefined();
      expect(imageOf([{ ...release("failed", "app:2"), ...codes }, release("succeeded", "app:1")])).toBe("app:1");
    },
  );

  test("is what is stored when the commands passed and the replicas failed", () => {
    expect(imageOf([{ ...release("failed", "app:2"), preExitCode: 0, exitCode: 0 }])).toBe("app:2");
  });

  test("is of the generation that worked, after a config change that did not", () => {
    const releases = [release("succeeded", "app:2")];
    expect(target(releases, { generation: 9, goodGeneration: 4 })?.generation).toBe(4);
  });

  test("is of today's generation again after the next write", () => {
    const releases = [release("succeeded", "app:2")];
    expect(target(releases, { generation: 8, goodGeneration: 4 })?.generation).toBe(9);
  });
});
