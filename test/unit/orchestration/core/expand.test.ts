import { describe, expect, test } from "bun:test";
import { limits } from "../../../../src/config/config.ts";
import { expandApp } from "../../../../src/orchestration/core/expand.ts";
import { normaliseSpec } from "../../../../src/orchestration/core/normalise.ts";
import { validateSpec } from "../../../../src/orchestration/core/validate.ts";

const identity = { scope: "shop", name: "storefront" };

describe("an app", () => {
  test("with a host becomes a deployment and an ingress of the same identity", () => {
    const routing = {
      host: "a.test",
      tls: { email: "o@a.test" },
      locations: [{ path: "/" }],
      lb: { policy: "random" },
    };
    const running = { image: "web:1", replicas: 3, ports: ["8080"], health_check: "/up" };
    expect(expandApp({ kind: "app", ...identity, spec: { ...running, ...routing } })).toEqual([
      { kind: "deployment", ...identity, spec: running },
      { kind: "ingress", ...identity, spec: routing },
    ]);
  });
  test("with hosts too", () => {
    const drafts = expandApp({ kind: "app", ...identity, spec: { image: "a", hosts: ["a.test"] } });
    expect(drafts.map(({ kind }) => kind)).toEqual(["deployment", "ingress"]);
  });
  test("without a host is a deployment alone", () => {
    expect(expandApp({ kind: "app", ...identity, spec: { image: "a" } })).toEqual([
      { kind: "deployment", ...identity, spec: { image: "a" } },
    ]);
  });
  test("what comes out is valid", () => {
    const spec = { image: "web:1", host: "a.test", release: { command: ["x"] } };
    expect(validateSpec("app", spec, limits)).toEqual([]);
    for (const draft of expandApp({ kind: "app", ...identity, spec })) {
      expect(validateSpec(draft.kind, draft.spec, limits)).toEqual([]);
    }
  });
  test("keeps a condition on the revision with the deployment", () => {
    const drafts = expandApp({ kind: "app", ...identity, spec: { host: "a.test" }, ifRevision: 4 });
    expect(drafts.map(({ ifRevision }) => ifRevision)).toEqual([4, undefined]);
  });
});

test("other kinds pass through", () => {
  const draft = { kind: "ingress" as const, ...identity, spec: { host: "a.test" }, ifRevision: 2 };
  expect(expandApp(draft)).toEqual([draft]);
});

describe("normalising", () => {
  test("hosts are lower-cased, the rest stays as written", () => {
    expect(normaliseSpec("ingress", { host: "Shop.TEST", hosts: ["A.test"], port: 80 })).toEqual({
      host: "shop.test",
      hosts: ["a.test"],
      port: 80,
    });
    const spec = { image: "Web", host: "X" };
    expect(normaliseSpec("deployment", spec)).toEqual(spec);
  });
  test("it does not change its input and running it twice changes nothing", () => {
    const spec = { host: "A.test" };
    const once = normaliseSpec("app", spec);
    expect(spec).toEqual({ host: "A.test" });
    expect(normaliseSpec("app", once)).toEqual(once);
  });
});
