import { expect, test } from "bun:test";
import { worstFirst } from "../../../../../src/observability/core/apps/problems.ts";
import { serverProblems } from "../../../../../src/observability/core/apps/server-problems.ts";

const well = {
  ...{ engine: { up: true, since: 0, error: undefined }, proxy: undefined, certificates: [], runs: [] },
  ...{ disk: { used_bytes: 1, total_bytes: 100 }, collectionHeld: false },
};
const run = {
  ...{ run_id: "1", kind: "job", scope: "shop", name: "nightly", container: "", trigger: "manual", attempt: 1 },
  ...{ status: "failed" as const, exit_code: 1, tail: [] },
};

test("a machine that is well is no problem, also before forwarding was tried", () => {
  expect(serverProblems(well, 0)).toEqual([]);
  expect(serverProblems({ ...well, forwarding: { state: "untested", detail: "" }, disks: [{ path: "/" }] }, 0)).toEqual(
    [],
  );
});

test("what is wrong with the machine leads, and names the apps that it may explain", () => {
  const facts = {
    ...well,
    forwarding: { state: "blocked", detail: "a firewall drops packets between containers" },
    disks: [{ path: "/var/lib/docker", read_only: true }],
    disk: { used_bytes: 99, total_bytes: 100 },
    hit: ["shop/web", "shop/api", "a/1", "a/2", "a/3", "a/4"],
    runs: [run],
  };
  const app = { kind: "deployment", scope: "a", name: "a" };
  const crash = { id: "crash_loop/a", severity: "critical" as const, type: "crash_loop", title: "", cause: "", app };
  const sorted = [...serverProblems(facts, 0), crash].sort(worstFirst);
  expect(sorted.map(({ type }) => type)).toEqual(["disk", "disk", "network", "crash_loop", "failed_run"]);
  expect(sorted.find(({ type }) => type === "network")?.cause).toBe(
    "a firewall drops packets between containers; this may be why shop/web, shop/api, a/1, a/2, a/3 and 1 more are not well",
  );
  expect(serverProblems({ ...facts, hit: ["shop/web"] }, 0)[0]?.cause).toEndWith("why shop/web is not well");
});
