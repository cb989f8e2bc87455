import { describe, expect, test } from "bun:test";
import { type Call, cli, stored } from "../../../support/cli.ts";

const removing = "0 of 0 replicas ready; removing shop-docs.a1b2c";
const conditions = [
  { type: "Ready", status: true, reason: "Asleep", message: "asleep, the first request starts it" },
  { type: "Progressing", status: true, reason: "Reconciling", message: removing, detail: "removing shop-docs.a1b2c" },
  { type: "Degraded", status: false, reason: "Healthy", message: "no fault known" },
];
const status = { phase: "asleep", replicas: 0, ready_replicas: 0, observed_revision: 3, conditions, releases: [] };
const docs = { ...stored("deployment/shop/docs", { image: "docs:1", wake: true }), status };

/** An app that was put to sleep a moment ago. */
function server({ method, path }: Call): unknown {
  switch (`${method} ${path}`) {
    case "GET /apply":
      return [docs];
    case "GET /pods":
      return { pods: [], degraded: [] };
    case "GET /describe":
      return { manifest: docs, status, pods: [] };
    case "POST /scale":
      return { kind: "deployment", scope: "shop", name: "docs", replicas: 0, previous: 2, revision: 3 };
    case "POST /wake":
      return { kind: "deployment", scope: "shop", name: "docs", woken: true, revision: 3 };
    case "GET /why":
      return {
        kind: "deployment",
        scope: "shop",
        name: "docs",
        deleted: false,
        phase: "asleep",
        conditions,
        events: [],
      };
    default:
      return {};
  }
}

const berth = (...words: string[]) => cli(words, { server });

describe("an app that is asleep", () => {
  test("has no reason in the list: nothing is wrong, also while its last replicas go", async () => {
    const { out } = await berth("get", "apps");
    expect(out).toMatch(/^shop\/docs +asleep +0\/1/m);
    expect(out).not.toContain("REASON");
  });

  test("is described by what it does now", async () => {
    const { out } = await berth("describe", "shop/docs");
    expect(out).toStartWith("deployment/shop/docs  asleep\n");
    expect(out).toMatch(/^ {2}now +0 of 0 replicas ready; removing shop-docs\.a1b2c$/m);
  });

  test("is explained by what starts it", async () => {
    const { out, code } = await berth("why", "shop/docs");
    expect([out.split("\n").slice(0, 2), code]).toEqual([
      ["deployment/shop/docs  asleep", "  it was not in use; the first request to its ingress starts it"],
      0,
    ]);
  });

  test("is what a scale to 0 waits for", async () => {
    const { out, err, code } = await berth("scale", "shop/docs=0");
    expect([out, code]).toEqual(["deployment/shop/docs: 2 → 0 replicas\n", 0]);
    expect(err).toEndWith("✓ deployment/shop/docs is asleep, the first request starts it\n");
  });

  test("is woken by start", async () => {
    const { out, calls, code } = await berth("start", "shop/docs");
    expect([out, code]).toEqual(["waking deployment/shop/docs\n", 0]);
    expect(calls.at(-1)).toMatchObject({ method: "POST", path: "/wake", query: { scope: "shop", name: "docs" } });
    const json = await berth("start", "shop/docs", "-o", "json");
    expect(JSON.parse(json.out)).toMatchObject({ data: { pods: [], woken: [{ name: "docs" }] } });
  });

  test("is not stopped, and how it stays away is told", async () => {
    const { err, code } = await berth("stop", "shop/docs");
    expect(err).toContain("to keep it stopped, apply it with replicas: 0 and without wake");
    expect(code).toBe(1);
  });
});
