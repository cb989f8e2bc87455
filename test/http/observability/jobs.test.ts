import { afterEach, beforeEach, expect, test } from "bun:test";
import type { JobView } from "../../../src/observability/api/jobs.ts";
import type { JobRun } from "../../../src/orchestration/api/jobs.ts";
import type { Controller } from "../../../src/orchestration/controller/controller.ts";
import { fixedAnswers } from "../../support/recording-controller.ts";
import { type PlaneWorld, planeWorld } from "../../support/observability.ts";

const cron = { schedule: "0 3 * * *", timezone: "Europe/Berlin", job: { image: "backup:1" } };
const stored = [
  { kind: "job", scope: "shop", name: "migrate", spec: { image: "web:1" } },
  { kind: "cronjob", scope: "shop", name: "nightly", spec: cron },
  { kind: "cronjob", scope: "back", name: "nightly", spec: { ...cron, suspend: true } },
];

const run = (kind: string, scope: string, name: string, id: string): JobRun => ({
  ...{ run_id: id, kind, scope, name, container: `${scope}-${name}.${id}`, status: "failed", trigger: "schedule" },
  ...{ attempt: 1, started_at: "2026-01-01T00:00:00.000Z", exit_code: 1, error: "exit code 1", tail: ["no rows"] },
});
const runs = [run("cronjob", "shop", "nightly", "r2"), run("cronjob", "back", "nightly", "r1")];

const answers = {
  listManifests: (filter: { kind?: string; scope?: string; name?: string }) =>
    stored.filter(
      ({ kind, scope, name }) =>
        kind === filter.kind && [scope, undefined].includes(filter.scope) && [name, undefined].includes(filter.name),
    ),
  listRuns: () => ({ runs }),
  getRun: (id: string) => runs.find((one) => one.run_id === id) ?? fixedAnswers.getRun(id),
  apply: async () => ({ applied: [], pruned: [] }),
} as unknown as Partial<Controller>;

let it: PlaneWorld;
beforeEach(() => {
  it = planeWorld({ controller: answers });
});
afterEach(() => it.close());

test("jobs come with their next times and how the last runs went", async () => {
  const { data } = await it.ask("GET /jobs", { token: await it.token() });
  const jobs = data.jobs as JobView[];
  expect(jobs.map(({ kind, scope, name }) => `${kind}/${scope}/${name}`)).toEqual([
    "job/shop/migrate",
    "cronjob/shop/nightly",
    "cronjob/back/nightly",
  ]);
  expect(jobs[0]).toMatchObject({ image: "web:1", suspended: false, next_runs: [], runs: [] });
  expect(jobs[1]).toMatchObject({ image: "backup:1", schedule: "0 3 * * *", timezone: "Europe/Berlin", running: 0 });
  expect(jobs[1]?.next_runs).toHaveLength(10);
  expect(jobs[1]?.last_run?.tail).toEqual(["no rows"]);
  expect(jobs[1]?.runs).toHaveLength(1);
  expect(jobs[2]?.suspended).toBe(true);
});

test("a token for some apps sees, runs and ends theirs alone", async () => {
  const token = await it.token(["read", "actions"], { apps: ["shop"] });
  const { data } = await it.ask("GET /jobs", { token });
  expect((data.jobs as JobView[]).map(({ scope }) => scope)).toEqual(["shop", "shop"]);
  for (const request of ["GET /jobs/back/nightly/runs", "POST /jobs/back/nightly/run", "GET /runs/r1"]) {
    const answer = await it.ask(request, { token });
    expect([request, answer.status]).toEqual([request, 404]);
  }
  const ended = await it.ask("POST /runs/r1/cancel", { token });
  expect([ended.status, it.calls.some(({ method }) => method === "cancelRun")]).toEqual([404, false]);
});

test("run now answers 202 and does not wait, with the token on record", async () => {
  const token = await it.token(["read", "actions"]);
  const answer = await it.ask("POST /jobs/shop/nightly/run", { token });
  expect(answer.status).toBe(202);
  const begun = it.calls.map(({ args }) => JSON.stringify(args)).find((args) => args.includes('"wait":false'));
  expect(begun).toContain("nightly");
  expect(begun).toContain(`pat:${token.slice(4, 10)}`);
});

test("pause applies the manifest with suspend, and a job cannot be paused", async () => {
  const token = await it.token(["read", "actions"]);
  const answer = await it.ask("POST /jobs/shop/nightly/pause", { token });
  expect(answer.data).toEqual({ scope: "shop", name: "nightly", suspended: true });
  const [body] = it.calls.find(({ method }) => method === "apply")?.args ?? [];
  expect(body).toEqual([{ kind: "cronjob", scope: "shop", name: "nightly", spec: { ...cron, suspend: true } }]);
  const refused = await it.ask("POST /jobs/shop/migrate/pause", { token });
  expect([refused.status, refused.error]).toEqual([
    404,
    "cron job shop/migrate does not exist, or this token may not see it",
  ]);
});
