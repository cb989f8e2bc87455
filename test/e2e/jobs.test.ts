import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { JobRun } from "../../src/orchestration/api/jobs.ts";
import { executable } from "../support/executable.ts";
import { cronjob, job } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

const sh = (script: string) => ({ command: ["sh", "-c", script] });

describe("jobs and cron jobs through the executable, on a real engine", () => {
  let berth: Rig;
  beforeAll(async () => {
    berth = await rig();
    const keep = { successful_history_limit: 50, failed_history_limit: 50 };
    const answer = await berth.apply(
      job("ops", "report", { ...keep, ...sh('echo "for $CUSTOMER"; sleep 1; echo done >&2') }),
      job("ops", "broken", { ...keep, ...sh("echo no luck; exit 7") }),
      job("ops", "short", sh("echo no luck; exit 7")),
      job("ops", "flaky", {
        ...keep,
        ...sh("test -e /state/once && echo second || { echo first; touch /state/once; exit 1; }"),
        backoff_limit: 2,
        volumes: [`${berth.prefix}-state:/state`],
      }),
      job("ops", "endless", { ...keep, ...sh("sleep 100000"), timeout: "2s" }),
      job("ops", "long", { ...keep, ...sh("sleep 100000") }),
      job("ops", "flood", { ...keep, ...sh("seq 1 200000") }),
      job("ops", "cut", {
        ...keep,
        ...sh("sleep 0.3; seq 1 20000"),
        logs: { max_size: "20k", max_files: 2 },
      }),
      job("ops", "imageless", { ...keep, image: "nowhere.invalid/none:1" }),
      cronjob("ops", "yearly", { ...keep, schedule: "0 0 1 1 *", concurrency_policy: "Forbid" }, sh("sleep 100000")),
    );
    expect(answer.status).toBe(200);
    await waitFor("the engine to be reached", async () => (await berth.call("GET", "/pods")).status === 200);
  });
  afterAll(async () => {
    await berth?.close();
    berth?.docker(["volume", "rm", "-f", `${berth.prefix}-state`]);
  });

  const runs = async (name: string) => {
    const { body } = await berth.call("GET", `/jobs/runs?scope=ops&name=${name}`);
    return (body.data as unknown as { runs: JobRun[] }).runs;
  };
  /** Those that run; with "-a" the ended ones as well. */
  const containers = (name: string, ...more: string[]) =>
    berth
      .docker(["ps", "-q", ...more, "--filter", `label=${berth.prefix}.name=${name}`])
      .split("\n")
      .filter(Boolean);

  test("run shows the output and exits with 0; config counts from the next run on", async () => {
    expect((await berth.cli(["config", "set", "ops/report", "CUSTOMER=acme"])).exitCode).toBe(0);
    const { exitCode, stdout } = await berth.cli(["run", "ops/report"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "for acme\ndone\n" });
    expect(await runs("report")).toMatchObject([{ status: "succeeded", exit_code: 0, tail: ["for acme", "done"] }]);
    expect(containers("report")).toEqual([]);
  });

  test("logs of a run says where the beginning of its output is gone, and nothing where it is whole", async () => {
    for (const name of ["ops/cut", "ops/report"]) expect((await berth.cli(["run", name])).exitCode).toBe(0);
    const cut = await berth.cli(["logs", "ops/cut"]);
    expect(cut.stdout).toEndWith("20000\n");
    expect(cut.stdout.split("\n").length).toBeLessThan(20_000);
    expect(cut.stderr).toContain("the beginning of the output of ops-cut.");
    expect((await berth.cli(["logs", "ops/report"])).stderr).toBe("");
  });

  test("run exits with the exit code of the job", async () => {
    const { exitCode, stdout, stderr } = await berth.cli(["run", "ops/broken"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 7, stdout: "no luck\n" });
    expect(stderr).toContain("exit code 7");
  });

  test("ended runs can be read and are listed as such, as many as the history keeps", async () => {
    for (let turn = 0; turn < 2; turn++) await berth.cli(["run", "ops/short"]);
    await waitFor("the first run to be removed", () => containers("short", "-a").length === 1);
    expect((await berth.cli(["logs", "ops/short"])).stdout).toContain("no luck\n");
    expect((await berth.cli(["get", "pods", "ops/short"])).stdout).toMatch(/ops-short\.\w+ +job +failed, exit code 7/);
    await berth.stop();
    await berth.start();
    await waitFor("the engine to be reached", async () => (await berth.call("GET", "/pods")).status === 200);
    expect(containers("short", "-a")).toHaveLength(1);
    expect((await berth.cli(["get", "pods", "ops/report"])).stdout).toMatch(/ops-report\.\w+ +job +succeeded/);
  });

  test("a failed try is made again, and is told with what it said", async () => {
    const { exitCode, stdout, stderr } = await berth.cli(["run", "ops/flaky"]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: "first\nsecond\n" });
    expect(stderr).toContain("try 1 of 3: exit code 1; trying again");
    expect(await runs("flaky")).toMatchObject([{ status: "succeeded", attempt: 2 }]);
  });

  test("a timeout ends the run", async () => {
    expect((await berth.cli(["run", "ops/endless"])).exitCode).toBe(3);
    expect(await runs("endless")).toMatchObject([{ status: "timed_out", exit_code: 137 }]);
    expect(containers("endless")).toEqual([]);
  });

  test("the pod of a run is neither stopped nor started by hand, and the run goes on", async () => {
    await berth.call("POST", "/jobs/run?scope=ops&name=long&wait=false");
    const { run_id: id, container } = await waitFor("the run", async () =>
      (await runs("long")).find((run) => run.status === "running" && run.container !== undefined),
    );
    await waitFor("its container", async () => containers("long").length === 1);
    for (const verb of ["start", "stop", "stop?freeze=false"]) {
      const { status, body } = await berth.call("POST", `/pods/${container}/${verb}`);
      expect({ verb, status }).toEqual({ verb, status: 409 });
      expect(body.error).toContain(`berth cron cancel ${id}`);
    }
    const refused = await berth.cli(["start", container ?? ""]);
    expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("belongs to the run") });
    expect((await runs("long"))[0]).toMatchObject({ run_id: id, status: "running" });
    expect((await berth.cli(["cron", "cancel", id])).exitCode).toBe(0);
    await waitFor("the end", async () => containers("long").length === 0);
    // Its container stays within the history of the job, and belongs to the run.
    expect((await berth.call("POST", `/pods/${container}/start`)).status).toBe(409);
    expect((await berth.call("POST", "/pods/ops-long.nothing/start")).status).toBe(404);
  });

  test("an image that cannot be had fails the run with the reason", async () => {
    const { exitCode, stderr } = await berth.cli(["run", "ops/imageless"]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain("nowhere.invalid/none:1");
  });

  test("a flood of output passes through, and the record keeps the end of it", async () => {
    const { exitCode, stdout } = await berth.cli(["run", "ops/flood"]);
    expect(exitCode).toBe(0);
    expect(stdout.endsWith("\n200000\n")).toBe(true);
    const [run] = await runs("flood");
    expect(run?.tail).toHaveLength(50);
    expect(run?.tail.at(-1)).toBe("200000");
  });

  test("a client that is killed leaves the run alone; another ends it", async () => {
    const client = Bun.spawn([executable, "run", "ops/long", "--endpoint", berth.endpoint], {
      stdin: "ignore",
      stdout: "ignore",
      stderr: "ignore",
    });
    await waitFor("the run to begin", async () => (await runs("long"))[0]?.status === "running");
    client.kill("SIGKILL");
    await client.exited;
    const [run] = await runs("long");
    expect(run?.status).toBe("running");
    const { exitCode, stdout } = await berth.cli(["run", "--cancel", run?.run_id ?? ""]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `run ${run?.run_id} of job/ops/long cancelled\n` });
    expect(containers("long")).toEqual([]);
  });

  test("a server that ends leaves the run alone and takes it up again", async () => {
    const answer = await berth.call("POST", "/jobs/run?scope=ops&name=long&wait=false");
    const { run_id: id } = answer.body.data as unknown as JobRun;
    const status = async () => (await berth.call("GET", `/jobs/runs/${id}`)).body.data as unknown as JobRun;
    await waitFor("the run to begin", async () => (await status()).status === "running");
    const [container] = containers("long");
    await berth.stop();
    await berth.start();
    expect(containers("long")).toEqual([container ?? ""]);
    expect((await status()).status).toBe("running");
    await waitFor("the engine to be reached", async () => (await berth.call("GET", "/pods")).status === 200);
    berth.docker(["kill", container ?? ""]);
    await waitFor("its end to be noticed", async () => (await status()).status === "failed");
    expect((await status()).exit_code).toBe(137);
  });

  test("cron run beside the schedule, refused by Forbid, listed, ended by the delete of the cron job", async () => {
    const { exitCode, stdout } = await berth.cli(["cron", "run", "ops/yearly", "--no-wait"]);
    expect(exitCode).toBe(0);
    const refused = await berth.cli(["cron", "run", "ops/yearly"]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("Forbid");
    await waitFor("the run to begin", async () => (await runs("yearly"))[0]?.status === "running");
    expect((await berth.cli(["cron", "list", "ops"])).stdout).toMatch(/ops\/yearly +0 0 1 1 \* +UTC +in \d+d/);
    expect((await berth.cli(["cron", "history", "ops/yearly"])).stdout).toContain(stdout.trim());
    expect((await berth.call("DELETE", "/apply?kind=cronjob&scope=ops&name=yearly")).status).toBe(200);
    await waitFor("its container to go", () => containers("yearly", "-a").length === 0);
  });
});
