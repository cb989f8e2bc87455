import { expect, test } from "bun:test";
import { cli, pod, type Server, stored } from "../../../support/cli.ts";

const at = "2026-01-01T23:59:30.000Z";
const words = "0 of 1 replicas ready; shop-web.a1b2c restarted 6 times";
const error = `ProgressDeadline: not ready within the progress deadline of 6 s: ${words}`;
const conditions = [
  { type: "Ready", status: false, reason: "ReplicasNotReady", message: words, at },
  { type: "Progressing", status: false, reason: "ReleaseFailed", message: error, at },
  { type: "Degraded", status: true, reason: "ReleaseFailed", message: error, at },
];
const release = { id: "0t1", cause: "apply", status: "failed", error, revision: 2, image: "web:1", started_at: at };
const event = {
  seq: 1,
  at,
  actor: "reconciler",
  action: "release.failed",
  kind: "deployment",
  scope: "shop",
  name: "web",
};
const death = {
  replica_id: "a1b2c",
  container_id: "c",
  at,
  exit_code: 3,
  oom_killed: false,
  reason: error,
  image: "web:1",
};

/** A server with one release that failed, and what runs: put back, or left as it is. */
const server =
  (phase: "ready" | "failed"): Server =>
  ({ path }) => {
    const back = { ...release, id: "0t2", cause: "auto_rollback", status: "succeeded", error: undefined };
    const status = {
      ...{ phase, replicas: 1, ready_replicas: phase === "ready" ? 2 : 0, updated_replicas: 1 },
      conditions: phase === "ready" ? [] : conditions,
      releases: phase === "ready" ? [back, release] : [release],
    };
    const manifest = { ...stored("deployment/shop/web", { image: "web:1" }), status };
    const pods = phase === "ready" ? [pod("shop-web.a1b2c"), pod("shop-web.d3e4f")] : [];
    if (path === "/describe") return { manifest, status, pods };
    if (path === "/pods") return { pods, degraded: [] };
    if (path === "/releases") return { releases: status.releases };
    if (path === "/events") return { events: [{ ...event, detail: { release: "0t1", error } }] };
    if (path === "/why") {
      const failed = { ...release, output: [] };
      return {
        ...{ kind: "deployment", scope: "shop", name: "web", deleted: false, at, phase, conditions: status.conditions },
        ...{ failed_release: failed, death: { ...death, logs: [], probes: [] }, deaths: 1, events: [] },
      };
    }
    if (path === "/system") {
      return {
        ...{ version: "1", installation: "i", prefix: "berth", root: "/r", started_at: at },
        ...{ engine: { up: true, since: at, host: "unix:///d.sock", version: "27" } },
        ...{ store: { manifests: 1, collection_held: false }, reconciler: { queued: 0, failing: 0 } },
      };
    }
    if (path === "/ingress") return { proxy: { state: "running" }, sites: [] };
    if (path === "/certificates") return { certificates: [] };
    return path === "/apply" ? [manifest] : { alerts: [], drains: [], targets: [] };
  };

const commands = [
  ["get", "deployment", "shop/web"],
  ["describe", "deployment", "shop/web"],
  ["why", "shop/web"],
  ["status"],
  ["releases", "shop/web"],
];

test.each(commands.flatMap((argv) => [[argv, "failed"] as const, [argv, "ready"] as const]))(
  "%j says once why a release failed, while the app is %s",
  async (argv, phase) => {
    const { out } = await cli([...argv], { server: server(phase) });
    // Of an app that was put back, the table shows only that it is well.
    const times = argv[0] === "get" && phase === "ready" ? 0 : 1;
    expect([out, out.split(words).length - 1]).toEqual([out, times]);
    expect(out).not.toMatch(/\b2(?:\/| of )1\b/);
  },
);

test("while replicas are replaced, those beyond the wanted ones do not count as ready", async () => {
  expect((await cli(["get", "deployment"], { server: server("ready") })).out).toMatch(/ready +1\/1 /);
  const { out } = await cli(["describe", "deployment", "shop/web"], { server: server("ready") });
  expect(out).toContain("1 of 1 ready");
});
