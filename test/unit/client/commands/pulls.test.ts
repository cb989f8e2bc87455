import { expect, test } from "bun:test";
import { type Call, cli, pod, stored } from "../../../support/cli.ts";

const image_pulls = [
  { image: "web:latest", updated: true },
  { image: "base:1", updated: false },
  { image: "old:1", updated: false, warning: "registry is away; the copy here stays" },
];
const release = { id: "0t85s0067", revision: 7, status: "succeeded" };
const ready = {
  phase: "ready",
  replicas: 1,
  ready_replicas: 1,
  observed_revision: 7,
  conditions: [],
  last_reconcile_at: "2026-01-02T00:00:00Z",
};
const shown =
  "image web:latest: new version pulled\nimage base:1: up to date\n! image old:1: registry is away; the copy here stays\n";

function server(releases: unknown[]) {
  return ({ path, query }: Call): unknown => {
    if (path === "/restart") {
      return {
        kind: "deployment",
        scope: "shop",
        name: "web",
        unfroze: [],
        operation: "op1",
        image_pulls,
        release: release.id,
      };
    }
    if (path === "/operations/op1") return { id: "op1", state: "succeeded" };
    if (path === "/describe") {
      return { manifest: stored("deployment/shop/web"), status: { ...ready, releases }, pods: [pod("shop-web.a1b2c")] };
    }
    const applied = [stored("deployment/shop/web")];
    const plan = [{ ref: "deployment/shop/web", action: "unchanged", changed: [], replicas: [], notes: [] }];
    return query.dry_run === "true"
      ? { applied, pruned: [], dry_run: true, current: applied, plan }
      : { applied, pruned: [], image_pulls };
  };
}

const yaml = "kind: deployment\nscope: shop\nname: web\nspec:\n  image: web:latest\n";

test("apply --pull asks the registries once, after the plan, and tells what became of each image", async () => {
  const { err, code, calls } = await cli(["apply", "-f", "-", "--pull"], { stdin: yaml, server: server([release]) });
  expect(code).toBe(0);
  expect(calls.filter(({ path }) => path === "/apply").map(({ query }) => query)).toEqual([
    { dry_run: "true" },
    { force: "true" },
  ]);
  expect(err).toStartWith(shown);
});

test("restart --pull waits for the release that it became", async () => {
  const { err, code, calls } = await cli(["restart", "shop/web", "--pull"], { server: server([release]) });
  expect(code).toBe(0);
  expect(calls[0]?.query).toMatchObject({ pull: "true", wait: "false" });
  expect(calls.map(({ path }) => path)).not.toContain("/operations/op1");
  expect(err).toStartWith(shown);
  const failed = { ...release, status: "failed", error: "CrashLoop: x" };
  expect((await cli(["restart", "shop/web", "--pull"], { server: server([failed]) })).code).toBe(1);
});

test("without --pull neither asks", async () => {
  const { calls } = await cli(["restart", "shop/web"], { server: server([release]) });
  expect(calls[0]?.query).not.toHaveProperty("pull");
});
