import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Client } from "../../../src/base/wire/client.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import type { Grant } from "../../../src/observability/core/tokens/grant.ts";
import { listManifests } from "../../../src/orchestration/api/apply.ts";
import { getConfig, setConfig, unsetConfig } from "../../../src/orchestration/api/config.ts";
import { cancelRun, getRun, listRuns, runCronjob, runJob } from "../../../src/orchestration/api/jobs.ts";
import { getPod, listPods } from "../../../src/orchestration/api/pods.ts";
import { historyState, listHistory } from "../../../src/orchestration/api/history.ts";
import { listReleases } from "../../../src/orchestration/api/releases.ts";
import type { Controller } from "../../../src/orchestration/controller/controller.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

/** What a token may see is asked by the handlers, so it holds for the calls that the plane makes for a token as well. */
const stored = ["shop", "back"].flatMap((scope) => [
  { kind: "deployment", scope, name: "web", spec: { image: "web:1" } },
  { kind: "job", scope, name: "report", spec: { image: "web:1" } },
  { kind: "cronjob", scope, name: "nightly", spec: { schedule: "0 3 * * *", job: { image: "web:1" } } },
]);
const run = (scope: string) => ({ run_id: scope, kind: "job", scope, name: "report", status: "scheduled", tail: [] });

const pod = (scope: string) => ({ name: scope, kind: "deployment", scope, resource_name: "web", env: { A: "s3cret" } });

/** Newest first: more of one scope than fit one page, and then one of the other. */
const changes = [8, 7, 6, 5, 4, 3, 2].map((seq) => ({
  ...{ seq, at: "", kind: "deployment", scope: seq === 2 ? "shop" : "back", name: "web", actor: "pat:Ab3dEf" },
  ...{ cause: "apply", outcome: "changed" },
}));

const answers = {
  listManifests: (filter: Record<string, string | undefined>) =>
    stored.filter((one) =>
      (["kind", "scope", "name"] as const).every((key) => [undefined, one[key]].includes(filter[key])),
    ),
  listPods: async () => ({
    pods: ["shop", "back"].map(pod),
    degraded: ["shop", "back"].map((scope) => ({ kind: "deployment", scope, name: "web", reason: "crash loop" })),
  }),
  async getPod(name: string) {
    if (name === "shop" || name === "back") return { pod: pod(name) };
    throw new Failure("not_found", `no container "${name}"`);
  },
  listReleases: () => ({ releases: [] }),
  listHistory: ({ isSeen = () => true, limit }: { isSeen?: (one: object) => boolean; limit: number }) => ({
    changes: changes.filter(isSeen).slice(0, limit),
  }),
  historyState: ({ isSeen = () => true }: { isSeen?: (one: object) => boolean }) => ({
    ...{ at: "", begins: "", manifests: stored.filter(isSeen) },
  }),
  listRuns: ({ scope }: { scope: string }) => ({ runs: [run(scope)] }),
  getRun(id: string) {
    if (id === "shop" || id === "back") return run(id);
    throw new Failure("not_found", `no run "${id}"`);
  },
  runJob: async ({ scope }: { scope: string }) => run(scope),
  cancelRun: async (id: string) => run(id),
} as unknown as Partial<Controller>;

let it: PlaneWorld;
beforeEach(() => {
  it = planeWorld({ controller: answers });
});
afterEach(() => it.close());

const grant = (apps: string[]): Grant => ({ id: "a", name: undefined, scopes: ["read"], apps, expiresAt: undefined });
const as = (apps: string[]): Client => it.running.observability.platform.as("pat:a", grant(apps));

/** What each endpoint answers for what belongs to a scope. */
const about: Record<string, (client: Client, scope: string) => Promise<unknown>> = {
  "GET /apply": async (client, scope) => {
    const found = await client.call(listManifests);
    expect(found.map((one) => one.scope)).toContain(scope);
  },
  "GET /history": async (client, scope) => {
    const { changes: found } = await client.call(listHistory, { query: { scope, limit: "2" } });
    expect(found.map((one) => one.scope)).toContain(scope);
  },
  "GET /history/state": async (client, scope) => {
    const { manifests } = await client.call(historyState, { query: { scope, at: "2026-11-28T14:05:00Z" } });
    expect(manifests.map((one) => one.scope)).toContain(scope);
  },
  "GET /pods": async (client, scope) => {
    const { pods, degraded } = await client.call(listPods, { query: { detail: true } });
    expect([pods, degraded].map((rows) => rows.some((row) => row.scope === scope))).toEqual([true, true]);
    expect(JSON.stringify(pods)).not.toContain("s3cret");
  },
  "GET /pods/:name": async (client, scope) => {
    const { pod: found } = await client.call(getPod, { params: { name: scope } });
    expect(found.env).toEqual({ A: "********" });
  },
  "GET /releases": (client, scope) => client.call(listReleases, { query: { scope, name: "web" } }),
  "GET /config": (client, scope) => client.call(getConfig, { query: { scope } }),
  "POST /config": (client, scope) => client.call(setConfig, { query: { scope, name: "web" }, body: { A: "1" } }),
  "DELETE /config": (client, scope) => client.call(unsetConfig, { query: { scope, key: "A" } }),
  "GET /jobs/runs": (client, scope) => client.call(listRuns, { query: { scope, name: "report" } }),
  "GET /jobs/runs/:id": (client, scope) => client.call(getRun, { params: { id: scope } }),
  "POST /jobs/runs/:id/cancel": (client, scope) => client.call(cancelRun, { params: { id: scope } }),
  "POST /jobs/run": (client, scope) => client.call(runJob, { query: { scope, name: "report", wait: false } }),
  "POST /cronjobs/run": (client, scope) => client.call(runCronjob, { query: { scope, name: "nightly", wait: false } }),
};

test.each(Object.entries(about))("%s shows a token its own apps alone", async (_, ask) => {
  await ask(as([]), "back");
  await ask(as(["shop"]), "shop");
  expect(await ask(as(["shop"]), "back").catch(() => "refused")).toBe("refused");
  const changes = it.calls.filter(({ method }) => ["cancelRun", "runJob", "setConfig", "unsetConfig"].includes(method));
  expect(changes.length === 0 || changes.length === 2).toBe(true);
});

test("a token names a job by scope and name, and by kind where a cron job has the name too", async () => {
  const both = { ...stored[1], kind: "cronjob" } as (typeof stored)[number];
  stored.push(both);
  try {
    const ask = (kind?: string) => as(["shop"]).call(listRuns, { query: { kind, scope: "shop", name: "report" } });
    expect(ask()).rejects.toThrow("shop/report is a job and a cron job: add kind=job or kind=cronjob");
    expect(ask("nonsense")).rejects.toThrow("job shop/report does not exist, or this token may not see it");
    await ask("cronjob");
    expect(it.calls.at(-1)?.args[0]).toEqual({ kind: "cronjob", scope: "shop", name: "report" });
  } finally {
    stored.pop();
  }
});
