import { describe, expect, test } from "bun:test";
import type { PlannedPod } from "../../../../../src/orchestration/core/plan/pod.ts";
import { planWorkload } from "../../../../../src/orchestration/core/plan/workload.ts";
import { exited, now, old, pod, words, workload } from "./fixtures.ts";

function named(identity: string | number, containerName: string, change: Partial<PlannedPod> = {}): PlannedPod {
  return pod(identity, { containerName, ...change });
}

function plan(pods: PlannedPod[], change: Parameters<typeof workload>[0] = {}, frozenIds: string[] = []) {
  return planWorkload({ workload: workload({ replicas: pods.length, ...change }), pods, frozenIds, now });
}

function renames(...input: Parameters<typeof plan>): string[] {
  return plan(...input).steps.flatMap((step) =>
    step.type === "rename" ? [`${step.pod.containerName} → ${step.to}`] : [],
  );
}

describe("rename", () => {
  test("gives the name back, and says what was found", () => {
    const made = plan([named("a", "mine")]);
    expect(made).toMatchObject({
      done: false,
      steps: [{ type: "rename", to: "shop-web.a", why: 'it was renamed to "mine" by hand' }],
      waitingFor: "1 of 1 replicas ready; renaming shop-web.a",
    });
  });

  test("waits while another container holds the name, and goes on as soon as that one has left it", () => {
    const [b, c] = [named("b", "shop-web.c"), named("c", "mine")];
    expect(renames([named("a", "shop-web.b"), b, c])).toEqual(["shop-web.b → shop-web.a"]);
    expect(renames([pod("a"), b, c])).toEqual(["shop-web.c → shop-web.b"]);
    expect(renames([pod("a"), pod("b"), c])).toEqual(["mine → shop-web.c"]);
  });

  test("swapped names: those in the way step aside, then all get their own", () => {
    expect(renames([named("a", "shop-web.b"), named("b", "shop-web.a")])).toEqual([
      "shop-web.b → shop-web.b.aside",
      "shop-web.a → shop-web.a.aside",
    ]);
    expect(renames([named("a", "shop-web.b.aside"), named("b", "shop-web.a.aside")])).toEqual([
      "shop-web.b.aside → shop-web.a",
      "shop-web.a.aside → shop-web.b",
    ]);
  });

  test("a replica that stands on the name of a missing ordinal steps aside for it", () => {
    const foreign = pod("x", { containerName: "shop-web.0", role: "init" });
    expect(renames([named(0, "shop-web.1"), foreign], { kind: "statefulset", replicas: 2 })).toEqual([
      "shop-web.1 → shop-web.1.aside",
    ]);
  });

  test("what cannot have its name and is in nobody's way is left as it is", () => {
    const foreign = pod("x", { containerName: "shop-web.a", role: "init" });
    expect(plan([named("a", "mine"), foreign], { replicas: 1 })).toMatchObject({ steps: [], done: true });
  });

  test("of two containers with one identity, removed and kept, only the kept one is renamed", () => {
    const made = plan([named("a", "mine"), named("a", "copy", { id: "worse", ...old })], { replicas: 1 });
    expect(words(made.steps)).toEqual(["remove a", "rename a"]);
    expect(made.steps.find(({ type }) => type === "rename")).toMatchObject({ pod: { containerName: "mine" } });
  });

  test("a container that is started, removed or paused is not renamed in the same plan", () => {
    expect(words(plan([named("a", "mine", exited)]).steps)).toEqual(["start a"]);
    expect(words(plan([named("a", "mine")], { replicas: 0 }).steps)).toEqual(["remove a"]);
    expect(plan([named("a", "mine", { state: "paused" })]).steps).toEqual([]);
  });

  test("a frozen one gets its name back and stays as stopped as it is", () => {
    expect(renames([named("a", "mine", exited)], {}, ["a"])).toEqual(["mine → shop-web.a"]);
  });
});
