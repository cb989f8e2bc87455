import { afterEach, describe, expect, test } from "bun:test";
import type { JobRun } from "../../../../../src/orchestration/api/jobs.ts";
import { cronjob } from "../../../../support/manifests.ts";
import { thrownBy } from "../../../../support/failure.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
afterEach(() => it.close());

const minute = 60_000;
const hour = 60 * minute;
const target = { kind: "cronjob" as const, scope: "shop", name: "nightly" };
const key = { kind: "cronjob", scope: "shop", name: "nightly" };
const begun = { wait: false, actor: "ana" };
/** Over days, most of the work would be to ask whether the engine is there. */
const rarelyPinged = { enginePingMs: hour };
const many = { successful_history_limit: 100, failed_history_limit: 100 };

/** The world begins at 2026-01-01T00:00:00Z. */
async function withCronjob(spec: Record<string, unknown> = {}, jobSpec: Record<string, unknown> = {}): Promise<void> {
  it = await world();
  await it.apply(cronjob("shop", "nightly", { ...many, ...spec }, jobSpec));
  await it.quiet();
}

/** Oldest first. */
const runs = () => it.controller.listRuns(key, { limit: 1_000 }).runs.reverse();
const clockTime = (iso: string | undefined) => iso?.slice(11, 16);
const byInstant = () => runs().map(({ status, instant }) => `${clockTime(instant)} ${status}`);
const status = async () => (await it.describe("cronjob", "shop", "nightly")).status ?? {};

/** Names of the containers that run. */
const running = () =>
  it.runtime
    .containers()
    .filter(({ state }) => state === "running")
    .map(({ name }) => name);

/** Ends whatever runs well. */
async function finishAll(exitCode = 0): Promise<void> {
  for (const name of running()) it.runtime.finish(name, exitCode);
  await it.quiet();
}

describe("the cadence", () => {
  test("every instant gets one run, whose row is there at the instant", async () => {
    await withCronjob({ schedule: "*/5 * * * *" });
    await it.advance(5 * minute - 1);
    expect(runs()).toEqual([]);
    await it.advance(1);
    expect(runs()).toMatchObject([{ trigger: "schedule", instant: "2026-01-01T00:05:00.000Z", status: "running" }]);
    expect(it.store.runs.list(key)[0]?.startedAt).toBe(it.clock.now());
    await finishAll();
    await it.advance(10 * minute);
    expect(byInstant()).toEqual(["00:05 succeeded", "00:10 running", "00:15 running"]);
  });

  test("goes by the wall clock of its time zone, over a change of the clocks", async () => {
    it = await world({ limits: rarelyPinged });
    await it.stop();
    it.clock.moveTo(Date.UTC(2026, 2, 29));
    await it.restart();
    await it.apply(cronjob("shop", "nightly", { ...many, schedule: "30 4 * * *", timezone: "Europe/Berlin" }));
    await it.advance(27 * hour);
    expect(runs().map(({ instant }) => instant)).toEqual(["2026-03-29T02:30:00.000Z", "2026-03-30T02:30:00.000Z"]);
  });

  test("shows when it runs next and when it last ran", async () => {
    await withCronjob({ schedule: "*/5 * * * *", timezone: "Europe/Berlin" });
    expect(await status()).toMatchObject({
      phase: "ready",
      schedule: "*/5 * * * *",
      timezone: "Europe/Berlin",
      next_run: "2026-01-01T00:05:00.000Z",
      history: [],
    });
    await it.advance(5 * minute);
    const [run] = runs();
    await it.advance(1_000);
    await finishAll();
    expect(await status()).toMatchObject({
      next_run: "2026-01-01T00:10:00.000Z",
      last_run: "2026-01-01T00:05:01.000Z",
    });
    expect(((await status()).history as JobRun[]).map(({ run_id }) => run_id)).toEqual([run?.run_id ?? ""]);
  });

  test("what was due before this server took the place of another is missed, and not run twice", async () => {
    it = await world({ actsSince: () => it.clock.now() + 1 });
    await it.apply(cronjob("shop", "nightly", { schedule: "* * * * *" }));
    await it.advance(minute);
    expect(runs()).toMatchObject([
      { status: "missed", error: expect.stringContaining("took the place of another one") },
    ]);
    expect(it.containers()).toEqual([]);
  });

  test("one cron job's trouble does not hold up another", async () => {
    await withCronjob({}, { image: "nowhere:1" });
    await it.apply(cronjob("shop", "other"));
    await it.advance(minute);
    expect(it.containers()).toHaveLength(1);
    expect(runs()[0]).toMatchObject({ status: "failed", exit_code: -1 });
  });

  test("one whose row cannot be written does not keep the others from theirs", async () => {
    it = await world({
      wrapStore: (store) => {
        const write: typeof store.write = (change) =>
          store.write((tx) => {
            const get: typeof tx.runs.lastInstant = (one) => {
              if (one.name === "bad") throw new Error("unreadable");
              return tx.runs.lastInstant(one);
            };
            const runs = new Proxy(tx.runs, {
              get: (on, name) => (name === "lastInstant" ? get : Reflect.get(on, name)),
            });
            return change(new Proxy(tx, { get: (on, name) => (name === "runs" ? runs : Reflect.get(on, name)) }));
          });
        return new Proxy(store, { get: (on, name) => (name === "write" ? write : Reflect.get(on, name)) });
      },
    });
    await it.apply([cronjob("shop", "bad"), cronjob("shop", "nightly", many)]);
    await it.advance(2 * minute);
    expect(byInstant()).toEqual(["00:01 running", "00:02 running"]);
    expect(it.logged.some((line) => line.includes("cron job not looked at") && line.includes("shop/bad"))).toBe(true);
  });

  test("one that is deleted runs no more, and its containers go", async () => {
    await withCronjob();
    await it.advance(minute);
    await it.controller.deleteManifest(target, { prune: false, actor: "ana" });
    await it.advance(5 * minute);
    expect(it.containers()).toEqual([]);
  });
});

describe("concurrency_policy", () => {
  test("Allow: runs go side by side", async () => {
    await withCronjob();
    await it.advance(2 * minute);
    expect(byInstant()).toEqual(["00:01 running", "00:02 running"]);
    expect(it.containers()).toHaveLength(2);
  });

  test("Forbid: an instant during a run is skipped, as a row and an event that say why", async () => {
    await withCronjob({ concurrency_policy: "Forbid" });
    await it.advance(2 * minute);
    expect(byInstant()).toEqual(["00:01 running", "00:02 skipped"]);
    expect(runs()[1]?.error).toContain("concurrency_policy is Forbid");
    expect(runs()[1]?.exit_code).toBeUndefined();
    expect(it.events("run.skipped")[0]?.detail).toMatchObject({ instant: "2026-01-01T00:02:00.000Z" });
    await finishAll();
    await it.advance(minute);
    expect(byInstant().at(-1)).toBe("00:03 running");
  });

  test("Replace: the run under way is ended first, then the new one starts", async () => {
    await withCronjob({ concurrency_policy: "Replace" });
    await it.advance(minute);
    const ended = it.runtime.containers()[0]?.id ?? "";
    it.runtime.calls.length = 0;
    await it.advance(minute);
    expect(byInstant()).toEqual(["00:01 cancelled", "00:02 running"]);
    expect(runs()[0]?.error).toBe(`replaced by run ${runs()[1]?.run_id}`);
    expect(running()).toEqual([runs()[1]?.container ?? ""]);
    const order = it.runtime.calls.filter((call) => /^(stop|remove|create) /.test(call));
    expect(order).toContain(`stop ${ended}`);
    expect(order.at(-1)).toBe(`create ${running()[0]}`);
  });

  test("Replace survives a server that is killed after it wrote the rows", async () => {
    await withCronjob({ concurrency_policy: "Replace" });
    await it.advance(minute);
    const [first] = it.store.runs.list(key);
    if (first === undefined) throw new Error("no first run");
    await it.stop();
    const cancelled = { status: "cancelled" as const, endedAt: it.clock.now(), exitCode: -1 };
    await it.store.write((tx) => {
      tx.runs.put({ ...first, ...cancelled });
      tx.runs.put({ ...first, id: "after", instant: it.clock.now() + 1, status: "scheduled" });
    });
    await it.restart();
    expect(running()).toEqual(["shop-nightly.after"]);
  });

  test("more runs at once than the limit are skipped", async () => {
    it = await world({ limits: { runsAtOnceMax: 2 } });
    await it.apply(cronjob("shop", "nightly", many));
    await it.advance(3 * minute);
    expect(byInstant()).toEqual(["00:01 running", "00:02 running", "00:03 skipped"]);
    expect(runs()[2]?.error).toContain("at most 2");
  });
});

describe("while the server is away", () => {
  test("missed instants become rows and one event, and only the newest within the deadline runs", async () => {
    await withCronjob();
    await it.advance(minute);
    await finishAll();
    await it.stop();
    await it.advance(5 * minute + 30_000);
    await it.restart();
    expect(byInstant()).toEqual([
      "00:01 succeeded",
      "00:02 missed",
      "00:03 missed",
      "00:04 missed",
      "00:05 missed",
      "00:06 running",
    ]);
    expect(runs()[1]?.error).toContain("late");
    expect(it.events("run.missed")).toHaveLength(1);
    expect(it.events("run.missed")[0]?.detail).toMatchObject({ count: 4, first: "2026-01-01T00:02:00.000Z" });
  });

  test("an instant later than starting_deadline is missed", async () => {
    await withCronjob({ schedule: "0 * * * *", starting_deadline: "10m" });
    await it.stop();
    await it.advance(hour + 11 * minute);
    await it.restart();
    expect(byInstant()).toEqual(["01:00 missed"]);
    expect(it.containers()).toEqual([]);
  });

  test("an instant within starting_deadline runs late", async () => {
    await withCronjob({ schedule: "0 * * * *", starting_deadline: "10m" });
    await it.stop();
    await it.advance(hour + 9 * minute);
    await it.restart();
    expect(byInstant()).toEqual(["01:00 running"]);
  });

  test("a restart at any time makes no second run of an instant", async () => {
    await withCronjob({ successful_history_limit: 0, failed_history_limit: 0 });
    await it.advance(minute);
    await finishAll();
    for (let count = 0; count < 3; count++) await it.restart();
    expect(it.runtime.calls.filter((call) => call.startsWith("create"))).toHaveLength(1);
    expect(runs()).toEqual([]);
  });

  test("a run under way is taken up, and Forbid still counts it", async () => {
    await withCronjob({ concurrency_policy: "Forbid" });
    await it.advance(minute);
    await it.restart();
    await it.advance(minute);
    expect(byInstant()).toEqual(["00:01 running", "00:02 skipped"]);
    await finishAll(7);
    expect(byInstant()).toEqual(["00:01 failed", "00:02 skipped"]);
  });

  test("an absence of years costs a bounded number of rows", async () => {
    await withCronjob({ failed_history_limit: 1_000 });
    await it.stop();
    it.clock.moveTo(Date.UTC(2030, 0, 1));
    await it.restart();
    expect(runs()).toHaveLength(100);
    expect(it.events("run.missed")[0]?.detail).toMatchObject({ count: 99 });
  });
});

describe("changes", () => {
  test("suspended it does not run, and what came meanwhile is not made up for", async () => {
    await withCronjob();
    await it.advance(90_000);
    await it.apply(cronjob("shop", "nightly", { ...many, suspend: true }));
    await it.advance(5 * minute);
    expect((await status()).next_run).toBeUndefined();
    await it.apply(cronjob("shop", "nightly", { ...many, suspend: false }));
    await it.advance(minute);
    expect(byInstant()).toEqual(["00:01 running", "00:07 running"]);
  });

  test("a resume over a restart of the server is not made up for either", async () => {
    await withCronjob({ suspend: true });
    await it.advance(5 * minute + 30_000);
    await it.apply(cronjob("shop", "nightly", many));
    await it.restart();
    await it.advance(minute);
    expect(byInstant()).toEqual(["00:06 running"]);
  });

  test("a new schedule counts from its change on", async () => {
    await withCronjob({ schedule: "0 3 * * *" });
    await it.advance(2 * hour + 30 * minute);
    await it.apply(cronjob("shop", "nightly", { ...many, schedule: "0 * * * *" }));
    expect((await status()).next_run).toBe("2026-01-01T03:00:00.000Z");
    await it.advance(hour);
    expect(byInstant()).toEqual(["03:00 running"]);
  });

  test("a change of the time zone alone counts too", async () => {
    await withCronjob({ schedule: "0 12 * * *" });
    await it.apply(cronjob("shop", "nightly", { ...many, schedule: "0 12 * * *", timezone: "Asia/Tokyo" }));
    await it.advance(3 * hour);
    expect(byInstant()).toEqual(["03:00 running"]);
  });

  test("an instant of the former schedule that came before the change still runs", async () => {
    await withCronjob({ schedule: "5 0 * * *" });
    await it.stop();
    await it.advance(5 * minute);
    await it.store.write((tx) => {
      const spec = cronjob("shop", "nightly", { ...many, schedule: "0 3 * * *" }).spec;
      tx.manifests.put({ kind: "cronjob", scope: "shop", name: "nightly", spec }, it.clock.now());
    });
    await it.advance(10_000);
    await it.restart();
    expect(byInstant()).toEqual(["00:05 running"]);
  });

  test("a change of the container alone loses no instant", async () => {
    await withCronjob();
    for (let count = 0; count < 12; count++) {
      await it.advance(25_000);
      await it.apply(cronjob("shop", "nightly", many, { env: { N: String(count) } }));
    }
    expect(byInstant()).toEqual(["00:01", "00:02", "00:03", "00:04", "00:05"].map((at) => `${at} running`));
  });

  test("deleted and applied again it begins anew", async () => {
    await withCronjob();
    await it.advance(90_000);
    await it.controller.deleteManifest(target, { prune: false, actor: "ana" });
    await it.advance(3 * minute);
    await it.apply(cronjob("shop", "nightly", many));
    await it.advance(minute);
    expect(byInstant()).toEqual(["00:05 running"]);
  });
});

describe("a wall clock that jumps", () => {
  let offMs = 0;

  /** Only the server's clock jumps; timers run on as before. */
  async function withJumpyClock(spec: Record<string, unknown>): Promise<void> {
    offMs = 0;
    it = await world({
      limits: rarelyPinged,
      wrapClock: (clock) => ({ sleep: clock.sleep, steady: clock.steady, now: () => clock.now() + offMs }),
    });
    await it.apply(cronjob("shop", "nightly", { ...many, ...spec }));
    await it.quiet();
  }

  test("an hour back: no instant runs twice, and it goes on where it was", async () => {
    await withJumpyClock({ schedule: "*/10 * * * *" });
    await it.advance(2 * hour);
    await finishAll();
    const before = runs().length;
    offMs = -hour;
    await it.advance(hour);
    expect(runs()).toHaveLength(before);
    await it.advance(11 * minute);
    expect(runs().at(-1)?.instant).toBe("2026-01-01T02:10:00.000Z");
    const instants = runs().map(({ instant }) => instant);
    expect(new Set(instants).size).toBe(instants.length);
  });

  test("an hour forward: noticed within a minute, what was jumped over is missed", async () => {
    await withJumpyClock({ schedule: "*/20 * * * *" });
    offMs = hour;
    await it.advance(minute);
    expect(byInstant()).toEqual(["00:20 missed", "00:40 missed", "01:00 running"]);
  });

  test.each([1, 24, 30])(
    "%i h ahead by mistake and back: what it passed over runs when it comes, once",
    async (hours) => {
      await withJumpyClock({ schedule: "*/20 * * * *" });
      await it.advance(30 * minute);
      await finishAll();
      offMs = hours * hour;
      await it.advance(2 * minute);
      await finishAll();
      offMs = 0;
      for (let third = 0; third < 3 * (hours + 2); third++) {
        await it.advance(20 * minute);
        await finishAll();
      }
      const ran = runs().filter(({ status }) => status === "succeeded");
      const instants = ran.map(({ instant }) => Date.parse(instant ?? ""));
      const first = Date.parse("2026-01-01T00:20:00.000Z");
      const every = Array.from({ length: instants.length }, (_, index) => first + index * 20 * minute);
      expect(instants.toSorted((a, b) => a - b)).toEqual(every);
      expect(every.length).toBeGreaterThan(3 * (hours + 1));
      expect(runs().filter(({ status }) => status === "missed")).toEqual([]);
    },
  );

  test("ahead by mistake, and back behind what it passed over: nothing before it runs twice", async () => {
    await withJumpyClock({ schedule: "*/20 * * * *" });
    await it.advance(2 * hour);
    await finishAll();
    const before = runs().length;
    offMs = hour;
    await it.advance(2 * minute);
    await finishAll();
    offMs = -hour;
    await it.advance(58 * minute);
    expect(runs().filter(({ status }) => status === "succeeded")).toHaveLength(before + 1);
    await it.advance(30 * minute);
    expect(clockTime(runs().find(({ status }) => status === "running")?.instant)).toBe("02:20");
  });

  test("years ahead by mistake and back: it is not silent until then", async () => {
    await withJumpyClock({ schedule: "*/10 * * * *" });
    offMs = 4 * 365 * 24 * hour;
    await it.advance(minute);
    offMs = 0;
    await it.advance(30 * minute);
    const here = runs().filter(({ instant }) => instant?.startsWith("2026-01-01T00:"));
    expect(here.map(({ instant }) => clockTime(instant)).sort()).toEqual(["00:10", "00:20", "00:30"]);
  });
});

describe("a run asked for by hand", () => {
  test("goes beside the schedule, which stays as it is", async () => {
    await withCronjob({ schedule: "*/5 * * * *" });
    await it.advance(2 * minute);
    const run = await it.controller.runJob(target, begun);
    await it.quiet();
    expect(run).toMatchObject({ kind: "cronjob", trigger: "manual" });
    expect(run.instant).toBeUndefined();
    expect((await status()).next_run).toBe("2026-01-01T00:05:00.000Z");
    await it.advance(3 * minute);
    expect(runs().map(({ trigger }) => trigger)).toEqual(["manual", "schedule"]);
    expect(it.events("run.start")[0]).toMatchObject({ actor: "ana", name: "nightly" });
  });

  test("runs while suspended too, and the schedule stays as it is", async () => {
    await withCronjob({ suspend: true });
    const run = await it.controller.runJob(target, begun);
    expect(run).toMatchObject({ kind: "cronjob", trigger: "manual" });
    await it.quiet();
    expect(it.containers()).toEqual([run.container]);
    await it.advance(20 * minute);
    expect(runs()).toHaveLength(1);
    expect(await status()).toMatchObject({ suspended: true });
  });

  test("is refused while Forbid meets a run; nothing is run", async () => {
    await withCronjob({ concurrency_policy: "Forbid" });
    const first = await it.controller.runJob(target, begun);
    const second = await thrownBy(() => it.controller.runJob(target, begun));
    expect(second.code).toBe("conflict");
    expect(second.message).toContain(first.run_id);
    await it.quiet();
    expect(it.containers()).toEqual([first.container]);
  });

  test("with Replace takes the place of the run under way", async () => {
    await withCronjob({ concurrency_policy: "Replace" });
    const first = await it.controller.runJob(target, begun);
    await it.quiet();
    const second = await it.controller.runJob(target, begun);
    await it.quiet();
    expect(it.controller.getRun(first.run_id)).toMatchObject({ status: "cancelled" });
    expect(running()).toEqual([second.container]);
  });
});
