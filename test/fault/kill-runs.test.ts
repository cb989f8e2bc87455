import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { JobRun } from "../../src/orchestration/api/jobs.ts";
import { limits } from "../../src/config/config.ts";
import { cronjob, job } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

const kills = Number(process.env.BERTH_TEST_KILLS ?? 3);
const perKillMs = 90_000;
const cronjobs = ["tick0", "tick1", "tick2", "tick3"];
const keepAll = { successful_history_limit: 10_000, failed_history_limit: 10_000 };
const minuteMs = 60_000;
/** Between two runs that are asked for, at most: what is checked at the end is one page of the history, 1,000 runs. */
const pauseMs = Math.max(1_000, kills * 40);
/** How long runs are asked for before an instant of the cron jobs. */
const askedMs = 3_000;

describe("kill -9 of the server during runs of jobs and at instants of cron jobs", () => {
  let berth: Rig;
  let out = "";
  /** Runs that the server said it had begun. */
  const acknowledged = new Set<string>();

  beforeAll(async () => {
    berth = await rig();
    out = join(berth.root, "out");
    mkdirSync(out, { mode: 0o777 });
    const manifests = [
      job("kill", "report", { ...keepAll, ...leaveMark("report") }),
      ...cronjobs.map((name) => cronjob("kill", name, keepAll, leaveMark(name))),
    ];
    expect((await berth.apply(...manifests)).status).toBe(200);
  });
  afterAll(async () => berth?.close());

  const leaveMark = (name: string) => ({
    command: ["sh", "-c", `echo begun >>/out/${name}; sleep 1`],
    volumes: [`${out}:/out`],
  });

  /** Asks for runs until the server is gone. */
  async function runUntilDead(): Promise<void> {
    for (;;) {
      try {
        const answer = await berth.call("POST", "/jobs/run?scope=kill&name=report&wait=false");
        if (answer.status === 202) acknowledged.add((answer.body.data as unknown as JobRun).run_id);
        // The engine is being reached, or as many runs are under way as one job may have.
        else expect([503, 409]).toContain(answer.status);
      } catch {
        return;
      }
      await Bun.sleep(Math.random() * pauseMs);
    }
  }

  async function runsOf(kind: string, name: string): Promise<JobRun[]> {
    const answer = await berth.call("GET", `/jobs/runs?kind=${kind}&scope=kill&name=${name}&limit=1000`);
    expect(answer.status).toBe(200);
    return (answer.body.data as unknown as { runs: JobRun[] }).runs;
  }

  /** How often a container of it really ran. */
  function marks(name: string): number {
    const file = join(out, name);
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").filter(Boolean).length : 0;
  }

  /** Every third kill comes around the instant of the cron jobs. */
  const isAtInstant = (round: number) => round % 3 === 2;
  const untilInstant = () => minuteMs - (Date.now() % minuteMs);

  /** Nothing is asked for until shortly before that instant: each run that is asked for is a container. */
  async function momentOfAsking(round: number): Promise<void> {
    if (isAtInstant(round)) await Bun.sleep(Math.max(0, untilInstant() - askedMs));
  }

  async function momentOfDeath(round: number): Promise<void> {
    if (isAtInstant(round)) await Bun.sleep(untilInstant());
    await Bun.sleep(Math.random() * (isAtInstant(round) ? 400 : 2_000));
  }

  test(
    `${kills} kills: no run twice, no record lost, nothing left running unseen`,
    async () => {
      for (let round = 0; round < kills; round++) {
        await momentOfAsking(round);
        const asking = runUntilDead();
        await momentOfDeath(round);
        await berth.stop("SIGKILL");
        await asking;
        await berth.start();
      }
      // The schedule ends here, so that what is counted stands still.
      const paused = cronjobs.map((name) => cronjob("kill", name, { ...keepAll, suspend: true }, leaveMark(name)));
      expect((await berth.apply(...paused)).status).toBe(200);
      const all = [["job", "report"], ...cronjobs.map((name) => ["cronjob", name])] as [string, string][];
      const ended = async () => {
        const lists = await Promise.all(all.map(([kind, name]) => runsOf(kind, name)));
        return lists.flat().every(({ status }) => status !== "running" && status !== "scheduled");
      };
      await waitFor("all runs to end", ended, perKillMs);

      const reports = await runsOf("job", "report");
      expect(reports.length).toBeLessThan(1_000);
      const ids = new Set(reports.map(({ run_id }) => run_id));
      expect(ids.size).toBe(reports.length);
      expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([]);
      for (const [kind, name] of all) {
        const runs = await runsOf(kind, name);
        const odd = runs.filter(({ status }) => status !== "succeeded" && status !== "missed");
        expect(odd).toEqual([]);
        expect({ name, ran: marks(name) }).toEqual({
          name,
          ran: runs.filter(({ status }) => status === "succeeded").length,
        });
        if (kind === "cronjob") checkInstants(runs);
      }
      const filter = ["--filter", `label=createdby=${berth.prefix}`];
      await waitFor("no container to run", () => berth.docker(["ps", "-q", ...filter]).trim() === "");
      for (const [, name] of all) {
        const own = ["--filter", `label=${berth.prefix}.name=${name}`];
        const isBounded = () => berth.docker(["ps", "-aq", ...own]).split("\n").length <= limits.runContainersKept;
        await waitFor(`the containers of ${name} to be as many as are kept`, isBounded);
      }
    },
    kills * perKillMs,
  );

  /** One run each, and none left out between the first and the last. */
  function checkInstants(runs: JobRun[]): void {
    const instants = runs.map(({ instant }) => Date.parse(instant ?? "")).sort((a, b) => a - b);
    const [first = 0] = instants;
    expect(instants).toEqual(instants.map((_, index) => first + index * minuteMs));
  }
});
