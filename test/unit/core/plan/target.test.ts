import { describe, expect, test } from "bun:test";
import type { Spec, StoredManifest } from "../../../../src/api/manifest.ts";
import { type TargetRelease, targetOf, withReplicas } from "../../../../src/core/plan/target.ts";

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

function release(status: TargetRelease["status"], image: string, good = status === "succeeded"): TargetRelease {
  return { status, good, hash: image, spec: { image, replicas: 2 }, preExitCode: undefined, exitCode: undefined };
}

const imageOf = (releases: TargetRelease[]) => targetOf(stored, releases, undefined)?.spec.image;

describe("what replicas are made from", () => {
  test("is what is stored, when nothing is known of releases", () => {
    expect(targetOf(stored, [], undefined)).toEqual(stored);
  });

  test("is nothing after the commands of a first release failed, and the last good one after later ones", () => {
    const failed = { ...release("failed", "app:2"), exitCode: 1 };
    expect(imageOf([failed])).toBeUndefined();
    expect(imageOf([{ ...release("failed", "app:2"), preExitCode: -1 }])).toBeUndefined();
    expect(imageOf([failed, release("succeeded", "app:1")])).toBe("app:1");
    expect(imageOf([{ ...failed, exitCode: 0 }])).toBe("app:2");
  });

  test.each(["running", "succeeded"] as const)("is what is stored, while its release is %s", (status) => {
    expect(imageOf([release(status, "app:2"), release("succeeded", "app:1")])).toBe("app:2");
  });

  test.each(["pending", "failed"] as const)("is the last good release, while the newest is %s", (status) => {
    const releases = [release(status, "app:2"), release("failed", "app:x"), release("succeeded", "app:1")];
    expect(targetOf(stored, releases, undefined)).toEqual({ ...stored, spec: { image: "app:1", replicas: 5 } });
  });

  test("is the newest of several good ones", () => {
    const good = [release("succeeded", "app:1"), release("succeeded", "app:0")];
    expect(imageOf([release("pending", "app:2"), ...good])).toBe("app:1");
  });

  test("is nothing before the commands of a first release have passed", () => {
    expect(targetOf(stored, [release("pending", "app:2")], undefined)).toBeUndefined();
    expect(targetOf(stored, [release("pending", "app:2"), release("failed", "app:1")], undefined)).toBeUndefined();
  });

  test("is what is stored when it failed and there is nothing good to return to", () => {
    expect(imageOf([release("failed", "app:2")])).toBe("app:2");
  });

  test("is of the generation that worked, after a config change that did not", () => {
    const releases = [release("succeeded", "app:2")];
    expect(targetOf(stored, releases, { generation: 9, goodGeneration: 4 })?.generation).toBe(4);
  });

  test("is of today's generation again after the next write", () => {
    const releases = [release("succeeded", "app:2")];
    expect(targetOf(stored, releases, { generation: 8, goodGeneration: 4 })?.generation).toBe(9);
  });
});

describe("the spec of a past release", () => {
  const past: Spec = { image: "app:1", replicas: 2, autoscale: { min: 1, max: 2 } };

  test("takes the replica count of today", () => {
    expect(withReplicas(past, { image: "app:2", replicas: 5 })).toEqual({ image: "app:1", replicas: 5 });
  });

  test("takes the autoscaling of today", () => {
    const autoscale = { min: 3, max: 9 };
    expect(withReplicas(past, { image: "app:2", autoscale })).toEqual({ image: "app:1", autoscale });
  });

  test("is without a count where today's is without", () => {
    expect(withReplicas(past, { image: "app:2" })).toEqual({ image: "app:1" });
  });

  test("is left as it was itself", () => {
    withReplicas(past, { replicas: 9 });
    expect(past.replicas).toBe(2);
  });
});
