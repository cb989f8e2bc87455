import { expect, test } from "bun:test";
import type { Context } from "../../../../../src/orchestration/controller/state/context.ts";
import type { Pod } from "../../../../../src/orchestration/controller/state/pod.ts";
import { specOf } from "../../../../../src/orchestration/controller/state/pod-spec.ts";

const kind = "deployment";
const today = { image: "web:3" };
const releases = [
  { kind, hash: "h2", spec: { image: "web:2" } },
  { kind, hash: "h1", spec: { image: "web:1" } },
];
const context = (manifest: { kind: string; spec: object } | undefined) =>
  ({ store: { releases: { list: () => releases }, manifests: { get: () => manifest } } }) as unknown as Context;
const pod = (hash: string) => ({ key: { kind: "deployment", scope: "shop", name: "web" }, hash }) as Pod;

test("the spec of a container is that of the release with its hash, else that of today", () => {
  expect(specOf(context({ kind, spec: today }), pod("h1"))?.image).toBe("web:1");
  expect(specOf(context({ kind, spec: today }), pod("h9"))?.image).toBe(today.image);
  expect(specOf(context(undefined), pod("h9"))).toBeUndefined();
});
