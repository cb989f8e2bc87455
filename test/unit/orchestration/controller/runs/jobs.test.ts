import { afterEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import type { JobRun } from "../../../../../src/orchestration/api/jobs.ts";
import { cronjob, fixtureImage, job } from "../../../../support/manifests.ts";
import { thrownBy } from "../../../../support/failure.ts";
import { type World, world } from "../../../../support/world.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

let it: World;
afterEach(() => it.close());

const target = (name: string, scope = "shop") => ({ kind: "job" as const, scope, name });
const waiting = { wait: true, actor: "ana" };
const begun = { wait: false, actor: "ana" };

async function withJob(spec: Record<string, unknown> = {}): Promise<void> {
  it = await world();
  await it.apply(job("shop", "report", spec));
  await it.quiet();
}

/** Starts a run without waiting for it and lets its container start. */
async function start(name = "report"): Promise<JobRun> {
  const run = await it.controller.runJob(target(name), begun);
  await it.quiet();
  return run;
}

/** Names of the containers that run. */
const running = () =>
  it.runtime
    .containers()
    .filter(({ state }) => state === "running")
    .map(({ name }) => name);

async function outputOf(name: string): Promise<string> {
  const options = { follow: false, tail: undefined, since: undefined, timestamps: false };
  const bytes = await it.controller.podLogs(name, { ...options, signal: new AbortController().signal });
  return Buffer.concat(await Array.fromAsync(bytes)).toString();
}

const now = (run: JobRun) => it.controller.getRun(run.run_id);

describe("a run of a job", () => {
  test("answers with the record when its process has ended, with exit code and last lines", async () => {
    await withJob();
    const answer = it.controller.runJob(target("report"), waiting);
    await it.quiet();
    const [name = ""] = it.containers();
    it.runtime.writeLog(name, "counting\n42 rows\n");
    await it.advance(5_000);
    it.runtime.finish(name, 0);
    await it.quiet();
    const run = await answer;
    expect(run).toMatchObject({ kind: "job", scope: "shop", name: "report", status: "succeeded", exit_code: 0 });
    expect(run).toMatchObject({ attempt: 1, trigger: "manual", tail: ["counting", "42 rows"], container: name });
    expect(Date.parse(run.ended_at ?? "") - Date.parse(run.started_at ?? "")).toBe(5_000);
    expect(run.error).toBeUndefined();
  });

  test("its container carries identity and role, never restarts, and stays for its output", async () => {
    await withJob({ labels: { team: "shop", "berth.kind": "deployment" } });
    const run = await start();
    const [container] = it.runtime.containers();
    expect(container?.name).toBe(`shop-report.${run.run_id}`);
    expect(container?.labels).toMatchObject({
      "berth.kind": "job",
      "berth.scope": "shop",
      "berth.name": "report",
      "berth.replica_id": run.run_id,
      "berth.role": "job",
      team: "shop",
    });
    expect(container?.restartPolicy).toBe("no");
    it.runtime.writeLog(run.container, "42 rows\n");
    it.runtime.finish(run.container, 0);
    await it.quiet();
    const { pods } = await it.controller.listPods({ kind: "job" }, { detail: false, spec: false });
    expect(pods).toMatchObject([{ name: run.container, state: "exited", exit_code: 0, ready: false }]);
    expect(await outputOf(run.container)).toBe("42 rows\n");
  });

  test("containers stay as long as their records, the newest of a long history, and go with the job", async () => {
    await withJob({ successful_history_limit: 2, failed_history_limit: 0 });
    const names: string[] = [];
    for (const exitCode of [0, 0, 5, 0]) {
      const run = await start();
      names.push(run.container);
      it.runtime.finish(run.container, exitCode);
      await it.quiet();
    }
    expect(it.containers()).toEqual([names[1] ?? "", names[3] ?? ""].sort());
    await it.restart();
    await it.advance(10 * 60_000);
    expect(it.containers()).toHaveLength(2);
    await it.controller.deleteManifest(target("report"), { prune: false, actor: "ana" });
    await it.settle();
    expect(it.containers()).toEqual([]);
  });

  test("a long history keeps the records, and the containers up to a limit", async () => {
    it = await world({ limits: { runContainersKept: 2 } });
    await it.apply(job("shop", "report", { successful_history_limit: 10 }));
    await it.quiet();
    for (let turn = 0; turn < 4; turn++) {
      const run = await start();
      it.runtime.finish(run.container, 0);
      await it.quiet();
    }
    expect(it.store.runs.list(target("report"))).toHaveLength(4);
    expect(it.containers()).toHaveLength(2);
  });

  test("a non-zero exit code is a failed run and no error of the call", async () => {
    await withJob();
    const answer = it.controller.runJob(target("report"), waiting);
    await it.quiet();
    it.runtime.finish(it.containers()[0] ?? "", 3);
    await it.quiet();
    expect(await answer).toMatchObject({ status: "failed", exit_code: 3, error: "exit code 3" });
    expect(it.events("run.failed")[0]?.detail).toMatchObject({ exit_code: 3, why: "exit code 3" });
  });

  test("wait=false answers before the end; the run shows as running, then as ended", async () => {
    await withJob();
    const run = await it.controller.runJob(target("report"), begun);
    expect(run).toMatchObject({ status: "scheduled", started_at: expect.any(String) });
    await it.quiet();
    expect(now(run).status).toBe("running");
    it.runtime.finish(run.container, 0);
    await it.quiet();
    expect(now(run).status).toBe("succeeded");
  });

  test("the row is written before the container is made", async () => {
    let rows = 0;
    it = await world({
      wrapRuntime: (runtime) => ({
        ...runtime,
        create(spec) {
          rows = it.store.runs.list({ kind: "job", scope: "shop", name: "report" }).length;
          return runtime.create(spec);
        },
      }),
    });
    await it.apply(job("shop", "report"));
    await start();
    expect(rows).toBe(1);
  });

  test("several runs of one job go side by side, up to a limit", async () => {
    it = await world({ limits: { runsAtOnceMax: 2 } });
    await it.apply(job("shop", "report"));
    const first = await start();
    const second = await start();
    expect(it.containers().sort()).toEqual([first.container, second.container].sort());
    const failure = await thrownBy(() => it.controller.runJob(target("report"), begun));
    expect(failure.code).toBe("conflict");
    expect(failure.message).toContain("at most 2");
  });

  test("env, config and asset references are those of the moment of the run", async () => {
    it = await world();
    await it.apply([
      { kind: "asset", scope: "shop", name: "queries", spec: { files: { main: "select 1" } } },
      job("shop", "report", {
        env: { MODE: "full" },
        command: ["run", "--file=${asset.queries.main}"],
        volumes: ["${asset.queries.main}:/q.sql:ro"],
      }),
    ]);
    await it.controller.setConfig({ scope: "shop", name: "report" }, { KEY: "1" }, { restart: true, actor: "t" });
    const first = await start();
    await it.controller.setConfig({ scope: "shop", name: "report" }, { KEY: "2" }, { restart: true, actor: "t" });
    const second = await start();
    const env = async (run: JobRun) => (await it.runtime.inspect(podRef(run.container)))?.env;
    expect(await env(first)).toMatchObject({ MODE: "full", KEY: "1", BERTH_SCOPE: "shop", BERTH_NAME: "report" });
    expect(await env(second)).toMatchObject({ KEY: "2" });
    const [mount] = (await it.runtime.inspect(podRef(first.container)))?.mounts ?? [];
    expect(mount?.source).toContain(it.layout.assets);
    expect((await it.runtime.inspect(podRef(first.container)))?.command[1]).toBe(`--file=${mount?.source}`);
  });
});

describe("who may be run", () => {
  test("unknown is 404, no name 400, and a name in several scopes 400 with the scopes", async () => {
    await withJob();
    await it.apply(job("bank", "report"));
    const code = async (name: string | undefined, scope?: string) =>
      (await thrownBy(() => it.controller.runJob({ kind: "job", scope, name }, begun))).code;
    expect(await code("nothing")).toBe("not_found");
    expect(await code("report", "other")).toBe("not_found");
    expect(await code(undefined)).toBe("invalid");
    const failure = await thrownBy(() => it.controller.runJob({ kind: "job", name: "report" }, begun));
    expect(failure.code).toBe("invalid");
    expect(failure.message).toContain("bank, shop");
  });

  test("nothing is written while the engine is away", async () => {
    await withJob();
    it.runtime.engineDown();
    await it.quiet();
    expect((await thrownBy(() => it.controller.runJob(target("report"), begun))).code).toBe("unavailable");
    expect(it.controller.listRuns({}, { limit: 10 }).runs).toEqual([]);
  });

  test("a job is not found under cron jobs, nor the other way round", async () => {
    await withJob();
    const wrong = { kind: "cronjob" as const, scope: "shop", name: "report" };
    expect((await thrownBy(() => it.controller.runJob(wrong, begun))).code).toBe("not_found");
  });
});

describe("what goes wrong before the process runs", () => {
  test("an image that cannot be pulled fails the run with the reason", async () => {
    await withJob({ image: "nowhere/none:1" });
    const run = await it.controller.runJob(target("report"), waiting);
    expect(run).toMatchObject({ status: "failed", exit_code: -1 });
    expect(run.error).toContain("nowhere/none:1");
    expect(it.containers()).toEqual([]);
  });

  test("a container that cannot start fails the run and leaves nothing", async () => {
    await withJob();
    it.runtime.fail("start", new Failure("conflict", "no such program", { reason: "StartFailed" }), 1);
    const run = await it.controller.runJob(target("report"), waiting);
    expect(run).toMatchObject({ status: "failed", exit_code: -1, error: "no such program" });
    expect(it.containers()).toEqual([]);
  });

  test("an image is pinned by the first run: a tag that moves later is not taken", async () => {
    await withJob();
    const first = await start();
    const pinned = (await it.runtime.inspect(podRef(first.container)))?.imageId;
    it.runtime.addImage(fixtureImage, { id: "sha256:other" });
    const second = await start();
    expect((await it.runtime.inspect(podRef(second.container)))?.imageId).toBe(pinned);
  });

  test("pull: always asks the registry for every run", async () => {
    await withJob({ image: "registry.test/tools:1", pull: "always" });
    it.runtime.addRemoteImage("registry.test/tools:1");
    await start();
    await start();
    expect(it.runtime.calls.filter((call) => call.startsWith("pull"))).toHaveLength(2);
  });
});

describe("time-outs and cancelling", () => {
  test("a run that takes longer than its timeout is ended and not tried again", async () => {
    await withJob({ timeout: "30s", backoff_limit: 3 });
    const run = await start();
    await it.advance(29_000);
    expect(now(run).status).toBe("running");
    await it.advance(1_000);
    expect(now(run)).toMatchObject({ status: "timed_out", attempt: 1, exit_code: 143 });
    expect(now(run).error).toContain("30s");
    expect(running()).toEqual([]);
  });

  test("cancelling stops the container and answers with the record", async () => {
    await withJob({ backoff_limit: 3 });
    const run = await start();
    const answer = it.controller.cancelRun(run.run_id, { actor: "ana" });
    await it.quiet();
    expect(await answer).toMatchObject({ status: "cancelled", exit_code: 143, error: "cancelled by ana" });
    expect(running()).toEqual([]);
    expect(it.events("run.cancelled")).toHaveLength(1);
  });

  test("whoever waits for a run that another cancels is told", async () => {
    await withJob();
    const answer = it.controller.runJob(target("report"), waiting);
    await it.quiet();
    const [run] = it.controller.listRuns({}, { limit: 1 }).runs;
    void it.controller.cancelRun(run?.run_id ?? "", { actor: "ana" });
    await it.quiet();
    expect((await answer).status).toBe("cancelled");
  });

  test("a run that has ended cannot be cancelled, an unknown one is not found", async () => {
    await withJob();
    const run = await start();
    it.runtime.finish(run.container, 0);
    await it.quiet();
    const again = await thrownBy(() => it.controller.cancelRun(run.run_id, { actor: "ana" }));
    expect(again.code).toBe("conflict");
    expect(again.message).toContain("succeeded");
    expect((await thrownBy(() => it.controller.cancelRun("zzzzz", { actor: "ana" }))).code).toBe("not_found");
    expect((await thrownBy(async () => it.controller.getRun("zzzzz"))).code).toBe("not_found");
  });

  test("a run is cancelled while its image is being pulled", async () => {
    await withJob({ image: "registry.test/big:1" });
    it.runtime.addRemoteImage("registry.test/big:1");
    it.runtime.delay("pull", 600_000);
    const run = await start();
    const answer = it.controller.cancelRun(run.run_id, { actor: "ana" });
    await it.quiet();
    expect((await answer).status).toBe("cancelled");
  });
});

describe("tries", () => {
  test("a failed run is tried again after 1 s, 2 s …, each try counted in the one record", async () => {
    await withJob({ backoff_limit: 2 });
    const run = await start();
    it.runtime.finish(run.container, 1);
    await it.quiet();
    expect(now(run)).toMatchObject({ status: "scheduled", attempt: 2, error: "try 1 of 3: exit code 1" });
    expect(it.containers()).toEqual([]);
    await it.advance(1_000);
    expect(it.containers()).toEqual([`${run.container}-2`]);
    it.runtime.finish(`${run.container}-2`, 1);
    await it.advance(1_999);
    expect(it.containers()).toEqual([]);
    await it.advance(1);
    it.runtime.finish(`${run.container}-3`, 0);
    await it.quiet();
    expect(now(run)).toMatchObject({ status: "succeeded", attempt: 3, exit_code: 0 });
    expect(now(run).error).toBeUndefined();
    expect(it.controller.listRuns({}, { limit: 10 }).runs).toHaveLength(1);
  });

  test("after the last one it has failed", async () => {
    await withJob({ backoff_limit: 1 });
    const run = await start();
    it.runtime.finish(run.container, 1);
    await it.advance(1_000);
    it.runtime.finish(`${run.container}-2`, 9);
    await it.quiet();
    expect(now(run)).toMatchObject({ status: "failed", attempt: 2, exit_code: 9, error: "exit code 9" });
    await it.advance(600_000);
    expect(it.containers()).toEqual([`${run.container}-2`]);
  });

  test("cancelling between two tries ends it", async () => {
    await withJob({ backoff_limit: 5 });
    const run = await start();
    it.runtime.finish(run.container, 1);
    await it.quiet();
    const answer = it.controller.cancelRun(run.run_id, { actor: "ana" });
    await it.quiet();
    expect((await answer).status).toBe("cancelled");
    await it.advance(600_000);
    expect(it.containers()).toEqual([]);
  });
});

describe("history", () => {
  test("keeps the newest succeeded and failed ones as the limits say, and those under way", async () => {
    await withJob({ successful_history_limit: 2, failed_history_limit: 1 });
    for (const code of [0, 1, 0, 2, 0]) {
      const run = await start();
      await it.advance(1_000);
      it.runtime.finish(run.container, code);
      await it.quiet();
    }
    const running = await start();
    const { runs } = it.controller.listRuns({ scope: "shop", name: "report" }, { limit: 100 });
    expect(runs.map(({ exit_code }) => exit_code)).toEqual([undefined, 0, 2, 0]);
    const { status } = await it.describe("job", "shop", "report");
    expect(status).toMatchObject({ phase: "ready", image: fixtureImage, running: 1, last_run: running.started_at });
    const history = status?.history;
    if (!Array.isArray(history)) throw new Error("no history");
    expect(history.map(({ run_id }) => run_id)).toEqual(runs.map(({ run_id }) => run_id));
  });

  test("with limits of 0 nothing is kept, and the caller still gets the record", async () => {
    await withJob({ successful_history_limit: 0 });
    const answer = it.controller.runJob(target("report"), waiting);
    await it.quiet();
    it.runtime.finish(it.containers()[0] ?? "", 0);
    await it.quiet();
    const run = await answer;
    expect(run.status).toBe("succeeded");
    expect(it.controller.listRuns({}, { limit: 100 }).runs).toEqual([]);
    expect(now(run)).toEqual(run);
  });

  test("is listed by kind, scope and name; a name nobody has is not found", async () => {
    await withJob();
    await it.apply([job("bank", "report"), cronjob("shop", "nightly", { schedule: "0 3 * * *" })]);
    await start();
    await it.controller.runJob(target("report", "bank"), begun);
    await it.controller.runJob({ kind: "cronjob", name: "nightly" }, begun);
    const names = (filter: object) =>
      it.controller.listRuns(filter, { limit: 100 }).runs.map(({ kind, scope, name }) => `${kind}/${scope}/${name}`);
    expect(names({}).sort()).toEqual(["cronjob/shop/nightly", "job/bank/report", "job/shop/report"]);
    expect(names({ scope: "shop", kind: "jobs" })).toEqual(["job/shop/report"]);
    expect(names({ name: "nightly" })).toEqual(["cronjob/shop/nightly"]);
    expect((await thrownBy(async () => names({ name: "nothing" }))).code).toBe("not_found");
    expect((await thrownBy(async () => names({ kind: "deployment" }))).code).toBe("invalid");
  });

  test("only the last lines of a flood are kept", async () => {
    await withJob();
    const run = await start();
    it.runtime.writeLog(run.container, Array.from({ length: 5_000 }, (_, n) => `line ${n}\n`).join(""));
    it.runtime.finish(run.container, 0);
    await it.quiet();
    expect(now(run).tail).toHaveLength(50);
    expect(now(run).tail.at(-1)).toBe("line 4999");
  });
});

describe("deleting a job", () => {
  test("cancels its runs and removes their containers", async () => {
    await withJob();
    const answer = it.controller.runJob(target("report"), waiting);
    await it.quiet();
    await it.controller.deleteManifest(target("report"), { prune: false, actor: "ana" });
    await it.advance(60_000);
    expect(await answer).toMatchObject({ status: "cancelled", error: "the manifest was deleted" });
    expect(it.containers()).toEqual([]);
    expect(it.store.deletions.list()).toEqual([]);
  });

  test("deleted and applied again at once, the former run does not go on unseen", async () => {
    await withJob();
    await start();
    const options = { prune: false, actor: "ana" };
    await it.controller.deleteManifest(target("report"), options);
    await it.apply(job("shop", "report"));
    await it.advance(60_000);
    expect(it.containers()).toEqual([]);
    expect(it.controller.listRuns({}, { limit: 10 }).runs).toEqual([]);
  });
});
