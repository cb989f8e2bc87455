import { afterEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../src/base/wire/failure.ts";
import type { JobRun } from "../../../../src/orchestration/api/jobs.ts";
import type { RunRecord } from "../../../../src/orchestration/store/store.ts";
import { cronjob, job } from "../../../support/manifests.ts";
import { type World, world } from "../../../support/world.ts";

let it: World;
afterEach(() => it.close());

const target = { kind: "job" as const, scope: "shop", name: "report" };
const begun = { wait: false, actor: "ana" };
const now = (run: JobRun) => it.controller.getRun(run.run_id);
const engineLost = new Failure("unavailable", "the engine cannot be reached", { reason: "EngineUnavailable" });

async function running(spec: Record<string, unknown> = {}): Promise<JobRun> {
  it = await world();
  await it.apply(job("shop", "report", spec));
  const run = await it.controller.runJob(target, begun);
  await it.quiet();
  return run;
}

/** A row as a server left it that was killed. */
async function leftBehind(change: Partial<RunRecord>): Promise<RunRecord> {
  const run: RunRecord = {
    ...target,
    id: "left2",
    status: "scheduled",
    trigger: "manual",
    instant: undefined,
    attempt: 1,
    startedAt: it.clock.now(),
    endedAt: undefined,
    exitCode: undefined,
    error: undefined,
    tail: [],
    ...change,
  };
  await it.stop();
  await it.store.write((tx) => tx.runs.put(run));
  return run;
}

const statesOf = () => it.runtime.containers().map(({ state }) => state);

describe("a server that goes away during a run", () => {
  test("leaves it running; the next one takes it up with its whole output", async () => {
    const run = await running();
    it.runtime.writeLog(run.container, "before\n");
    await it.restart();
    expect(it.containers()).toEqual([run.container]);
    expect(now(run).status).toBe("running");
    it.runtime.writeLog(run.container, "after\n");
    it.runtime.finish(run.container, 4);
    await it.quiet();
    expect(now(run)).toMatchObject({ status: "failed", exit_code: 4, tail: ["before", "after"] });
    expect(statesOf()).toEqual(["exited"]);
  });

  test("finds the end of a run that came meanwhile", async () => {
    const run = await running();
    await it.stop();
    it.runtime.finish(run.container, 0);
    const ended = new Date(it.clock.now()).toISOString();
    it.clock.moveTo(it.clock.steady() + 3_600_000);
    await it.restart();
    // When it ended, not when somebody looked.
    expect(now(run)).toMatchObject({ status: "succeeded", exit_code: 0, ended_at: ended });
    expect(statesOf()).toEqual(["exited"]);
  });

  test("keeps counting its timeout from the start of the container", async () => {
    const run = await running({ timeout: "60s" });
    await it.advance(40_000);
    await it.restart();
    await it.advance(19_000);
    expect(now(run).status).toBe("running");
    await it.advance(1_000);
    expect(now(run).status).toBe("timed_out");
  });

  test("says so when the container is gone: how it ended is not known", async () => {
    const run = await running();
    await it.stop();
    it.runtime.removeByHand(run.container);
    await it.restart();
    expect(now(run)).toMatchObject({ status: "failed", exit_code: -1 });
    expect(now(run).error).toContain("the container is gone");
  });

  test("starts a run that it had written down and not begun", async () => {
    it = await world();
    await it.apply(job("shop", "report"));
    const run = await leftBehind({});
    await it.restart();
    expect(it.containers()).toEqual([`shop-report.${run.id}`]);
    expect(it.store.runs.get(run.id)?.status).toBe("running");
  });

  test("does not start what is too old by then: it says why", async () => {
    it = await world();
    await it.apply(job("shop", "report"));
    const run = await leftBehind({ startedAt: it.clock.now() - 101_000 });
    await it.restart();
    expect(it.containers()).toEqual([]);
    expect(it.store.runs.get(run.id)).toMatchObject({ status: "failed", exitCode: -1 });
    expect(it.store.runs.get(run.id)?.error).toContain("too late to start");
  });

  test("takes up a container whose start was never written down, instead of making a second one", async () => {
    const run = await running();
    await it.stop();
    await it.store.write((tx) => {
      const row = tx.runs.get(run.run_id);
      if (row !== undefined) tx.runs.put({ ...row, status: "scheduled" });
    });
    it.runtime.calls.length = 0;
    await it.restart();
    expect(it.containers()).toEqual([run.container]);
    expect(it.runtime.calls.filter((call) => call.startsWith("create"))).toEqual([]);
    expect(now(run).status).toBe("running");
  });

  test("goes on with the tries that are left", async () => {
    const run = await running({ backoff_limit: 1 });
    it.runtime.finish(run.container, 1);
    await it.quiet();
    await it.restart();
    await it.advance(1_000);
    expect(it.containers()).toEqual([`${run.container}-2`]);
    it.runtime.finish(`${run.container}-2`, 0);
    await it.quiet();
    expect(now(run)).toMatchObject({ status: "succeeded", attempt: 2 });
  });

  test("ends containers of runs that have ended", async () => {
    const run = await running();
    await it.stop();
    const ended = { status: "failed" as const, endedAt: it.clock.now(), exitCode: 1 };
    await it.store.write((tx) => {
      const row = tx.runs.get(run.run_id);
      if (row !== undefined) tx.runs.put({ ...row, ...ended });
    });
    await it.restart();
    await it.advance(1_000);
    expect(statesOf()).toEqual(["exited"]);
  });

  test("leaves them alone after a restore that was not confirmed", async () => {
    const run = await running();
    await it.stop();
    await it.store.write((tx) => {
      const row = tx.runs.get(run.run_id);
      if (row !== undefined) tx.runs.put({ ...row, status: "failed", endedAt: it.clock.now() });
    });
    Object.defineProperty(it.store, "collectionHeld", { value: true });
    await it.restart();
    await it.advance(1_000);
    expect(it.containers()).toEqual([run.container]);
  });
});

describe("an engine that goes away during a run", () => {
  test("the run is taken up when it is back", async () => {
    const run = await running();
    it.runtime.engineDown();
    await it.advance(5_000);
    expect(now(run).status).toBe("running");
    it.runtime.engineUp();
    await it.advance(20_000);
    it.runtime.finish(run.container, 0);
    await it.quiet();
    expect(now(run).status).toBe("succeeded");
  });

  test("a start that failed for its sake is made again", async () => {
    it = await world();
    await it.apply(job("shop", "report"));
    it.runtime.fail("create", engineLost, 1);
    const run = await it.controller.runJob(target, begun);
    await it.advance(2_000);
    expect(now(run).status).toBe("running");
    expect(it.containers()).toEqual([run.container]);
  });

  test("a scheduled run that finds no engine until it is too late is missed, with why", async () => {
    it = await world();
    await it.apply(cronjob("shop", "nightly"));
    await it.advance(30_000);
    it.runtime.engineDown();
    await it.advance(30_000);
    const [run] = it.controller.listRuns({}, { limit: 1 }).runs;
    expect(run).toMatchObject({ status: "scheduled", instant: "2026-01-01T00:01:00.000Z" });
    await it.apply(cronjob("shop", "nightly", { suspend: true }));
    await it.advance(101_000);
    const after = it.controller.getRun(run?.run_id ?? "");
    expect(after.status).toBe("missed");
    expect(after.error).toContain("away");
    it.runtime.engineUp();
    await it.advance(60_000);
    expect(it.containers()).toEqual([]);
  });

  test("a container removed by somebody else ends the run", async () => {
    const run = await running();
    it.runtime.removeByHand(run.container);
    await it.quiet();
    expect(now(run).status).toBe("failed");
  });

  test("a disk that is full when a run ends: the record is written once there is room", async () => {
    let full = false;
    it = await world({
      wrapStore: (store) => {
        const write: typeof store.write = async (change) => {
          if (full) throw new Failure("storage_full", "no space");
          return store.write(change);
        };
        return new Proxy(store, { get: (object, name) => (name === "write" ? write : Reflect.get(object, name)) });
      },
    });
    await it.apply(job("shop", "report"));
    const run = await it.controller.runJob(target, begun);
    await it.quiet();
    full = true;
    it.runtime.finish(run.container, 5);
    await it.advance(5_000);
    expect(now(run).status).toBe("running");
    full = false;
    await it.advance(5_000);
    expect(now(run)).toMatchObject({ status: "failed", exit_code: 5 });
    expect(statesOf()).toEqual(["exited"]);
  });
});
