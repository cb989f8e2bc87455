import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { type Dockerd, startDockerd } from "../support/dockerd.ts";
import { deployment, job } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

// Longer than a busy machine needs for a command; two attempts that failed in the hang would restart the container.
const probe = { exec: { command: ["true"] }, period: "1s", timeout: "2s", failure_threshold: 2 };
const sleeper = { command: ["sleep", "100000"] };
/** Of a hang: the interval of the pings, their limit, and a busy machine. */
const toldWithinMs = 25_000;
/** What a command may take that does not wait for the engine: less than one ping may, which is ten seconds. */
const doorMs = 9_000;

/** Docker takes connections and answers nothing, as with a process that is stopped; what runs goes on. */
describe("Docker that hangs", () => {
  let daemon: Dockerd;
  let berth: Rig;
  beforeAll(async () => {
    daemon = await startDockerd();
    berth = await rig({ dockerHost: daemon.host });
    const probes = { liveness: probe, readiness: probe };
    await berth.apply(
      deployment("hung", "web", { ...sleeper, replicas: 2, probes }),
      deployment("hung", "talk", { command: ["sh", "-c", "while :; do date; sleep 1; done"] }),
      job("hung", "long", { command: ["sleep", "5"] }),
    );
    await berth.ready("deployment", "hung", "web");
    await berth.ready("deployment", "hung", "talk");
    await berth.apply(deployment("hung", "broken", { image: "missing-image:1" }));
    await berth.tells("deployment hung/broken", "missing-image:1");
  }, 120_000);
  afterAll(async () => {
    if (daemon !== undefined) process.kill(daemon.pid, "SIGCONT");
    await berth?.close();
    await daemon?.close();
  }, 60_000);

  const engine = async () => {
    const { body } = await berth.call("GET", "/system");
    return (body.data as unknown as { engine: { up: boolean; error?: string } }).engine;
  };
  const started = () => {
    const ids = berth.docker(["ps", "-q", "--no-trunc", "--filter", `label=createdby=${berth.prefix}`]);
    return berth
      .docker(["inspect", "--format", "{{.Id}} {{.State.StartedAt}}", ...ids.split("\n")])
      .split("\n")
      .sort();
  };

  test("for a moment is waited for: nothing is called down, and no liveness probe restarts anything", async () => {
    const before = started();
    process.kill(daemon.pid, "SIGSTOP");
    const asked = berth.call("GET", "/pods");
    await Bun.sleep(6_000);
    process.kill(daemon.pid, "SIGCONT");
    expect((await asked).status).toBe(200);
    await Bun.sleep(5_000);
    expect(started()).toEqual(before);
    expect(berth.server.output()).not.toContain('"engine down"');
    expect((await berth.pods("hung", "web")).map(({ ready }) => ready)).toEqual([true, true]);
  });

  test("is told within seconds by every door, ends what was under way, and is over when it goes on", async () => {
    const before = started();
    const [pod = ""] = (await berth.pods("hung", "web")).map(({ name }) => name);
    const under = [
      berth.cli(["exec", pod, "--", "sleep", "1000"]),
      berth.cli(["run", "hung/web", "--", "sleep", "1000"]),
    ];
    const run = berth.call("POST", "/jobs/run?scope=hung&name=long");
    await waitFor("all of them to run", () => started().length === before.length + 2);
    process.kill(daemon.pid, "SIGSTOP");
    const begun = performance.now();
    const pods = berth.call("GET", "/pods");
    await waitFor("the server to see it", async () => !(await engine()).up, toldWithinMs);
    expect(performance.now() - begun).toBeLessThan(toldWithinMs);

    for (const answer of [await pods, await berth.call("GET", "/pods"), await run]) {
      expect([answer.status, answer.body.reason]).toEqual([503, "EngineUnavailable"]);
      expect(answer.body.error).toMatch(/docker has not answered (for|since) /);
      expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
    }
    for (const { exitCode, stderr } of await Promise.all(under)) {
      expect([exitCode === 0, stderr]).toEqual([false, expect.stringContaining("docker has not answered for ")]);
    }
    const status = await berth.cli(["status"]);
    expect(status.exitCode).toBe(1);
    expect(status.stdout).toMatch(/^engine +not reached for \d+s$/m);
    expect(status.stdout).toContain("docker has not answered since ");
    expect(status.stdout).toContain("systemctl status docker, journalctl -u docker");
    await berth.tells(
      "deployment hung/broken",
      "EngineUnavailable",
      "docker has not answered since",
      "missing-image:1",
    );
    for (const door of [
      ["logs", pod],
      ["exec", pod, "--", "true"],
      ["run", "hung/web", "--", "true"],
      ["run", "hung/long"],
      ["stop", pod],
      ["stats"],
      ["prune", "-y"],
      ["cp", "/etc/hostname", `${pod}:/tmp/name`],
    ]) {
      const asked = performance.now();
      const { exitCode, stderr } = await berth.cli(door);
      expect([door, exitCode === 0, stderr]).toEqual([
        door,
        false,
        expect.stringContaining("docker has not answered "),
      ]);
      expect(performance.now() - asked).toBeLessThan(doorMs);
    }

    process.kill(daemon.pid, "SIGCONT");
    await waitFor("the server to see it back", async () => (await engine()).up);
    await berth.ready("deployment", "hung", "web");
    expect(started()).toEqual(expect.arrayContaining(before));
    const { restarts } = (await berth.pods("hung", "web"))[0] ?? {};
    expect(restarts).toBe(0);
  });

  test("from before the start of the server is told as well, and holds up no end of it", async () => {
    await berth.stop();
    process.kill(daemon.pid, "SIGSTOP");
    await berth.start();
    await waitFor(
      "the reason",
      async () => (await engine()).error?.includes("docker has not answered since"),
      toldWithinMs,
    );
    // `stop` rejects where the process does not end by itself: connections of requests that were given up would keep it.
    await berth.stop();
    await berth.start();
    process.kill(daemon.pid, "SIGCONT");
    await waitFor("the engine", async () => (await engine()).up);
    await berth.ready("deployment", "hung", "web");
  });
});
