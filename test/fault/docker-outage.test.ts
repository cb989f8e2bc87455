import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { renameSync } from "node:fs";
import { type Dockerd, startDockerd } from "../support/dockerd.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

/** Docker goes away in every way it can; what runs goes on running, and berth says what is wrong and mends it. */
describe("an outage of Docker", () => {
  let daemon: Dockerd;
  let berth: Rig;
  beforeAll(async () => {
    daemon = await startDockerd();
    berth = await rig({ dockerHost: daemon.host });
    await berth.apply(deployment("away", "web", { replicas: 2 }), statefulset("away", "db"));
    await berth.ready("deployment", "away", "web");
    await berth.ready("statefulset", "away", "db");
  }, 120_000);
  afterAll(async () => {
    await daemon?.start();
    await berth?.close();
    await daemon?.close();
  }, 60_000);

  const ids = () => daemonIds(berth);
  const engineUp = async (wanted: boolean) =>
    waitFor(`the server to see Docker ${wanted ? "up" : "down"}`, async () => {
      const { body } = await berth.call("GET", "/system");
      return (body.data as unknown as { engine: { up: boolean } }).engine.up === wanted;
    });

  for (const how of ["stop", "kill"] as const) {
    test(`a ${how} is named, changes are stored meanwhile and happen on return, nothing restarts`, async () => {
      const before = ids();
      expect(before).toHaveLength(3);
      await daemon[how]();
      await engineUp(false);
      await berth.tells("deployment away/web", "EngineUnavailable", "docker cannot be reached");
      expect((await berth.call("GET", "/health")).status).toBe(200);
      const pods = await berth.call("GET", "/pods");
      expect(pods.status).toBe(503);
      expect(Number(pods.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(pods.body.error).toContain("docker cannot be reached");
      const name = `late-${how}`;
      const applied = await berth.cli(["apply", "-y", "-f", "-", "--timeout", "1s"], {
        stdin: JSON.stringify(deployment("away", name)),
      });
      expect(applied.exitCode).toBe(3);
      expect(applied.stderr).toContain("docker cannot be reached");

      await daemon.start();
      await engineUp(true);
      await berth.ready("deployment", "away", name);
      expect(ids()).toEqual(expect.arrayContaining(before));
      await berth.ready("deployment", "away", "web");
      expect((await berth.status("deployment", "away", "web")).ready_replicas).toBe(2);
      await berth.call("DELETE", `/apply?kind=deployment&scope=away&name=${name}`);
      await waitFor("the late one to go", () => ids().length === before.length);
    }, 120_000);
  }

  test("one log line for each turn, not for each try", async () => {
    const turns = berth.server
      .output()
      .split("\n")
      .filter((line) => line.includes('"engine down"') || line.includes('"engine up"'))
      .map((line) => JSON.parse(line).message);
    expect(turns).toEqual(["engine up", "engine down", "engine up", "engine down", "engine up"]);
  });

  test("what was frozen stays stopped through restarts of Docker and of the server, until start", async () => {
    const [pod = ""] = (await berth.pods("away", "web")).map(({ name }) => name).sort();
    expect((await berth.cli(["stop", pod])).exitCode).toBe(0);
    await daemon.stop();
    await engineUp(false);
    await berth.stop();
    await daemon.start();
    await berth.start();
    await engineUp(true);
    // Something else that has to be reconciled in between: by then the frozen one would have been looked at, too.
    await berth.apply(deployment("away", "other"));
    await berth.ready("deployment", "away", "other");
    const frozen = async () => (await berth.pods("away", "web")).find(({ name }) => name === pod);
    expect(await frozen()).toMatchObject({ frozen: true, running: false });
    expect((await berth.cli(["start", pod])).exitCode).toBe(0);
    await waitFor("two running again", async () => {
      const pods = await berth.pods("away", "web");
      return pods.length === 2 && pods.every(({ running, frozen: still }) => running && !still);
    });
  }, 120_000);

  test("a socket that is missing at the start is waited for", async () => {
    const socket = daemon.host.slice("unix://".length);
    const before = ids();
    await berth.stop();
    renameSync(socket, `${socket}.away`);
    await berth.start();
    await berth.tells("deployment away/web", "EngineUnavailable");
    const stored = await berth.apply(deployment("away", "early"));
    expect(stored.status).toBe(200);
    renameSync(`${socket}.away`, socket);
    await engineUp(true);
    await berth.ready("deployment", "away", "early");
    expect(ids()).toEqual(expect.arrayContaining(before));
  }, 60_000);
});

/** Ids and start times: a restart shows. */
function daemonIds(berth: Rig): string[] {
  const ids = berth
    .docker(["ps", "-q", "--no-trunc", "--filter", `label=createdby=${berth.prefix}`])
    .split("\n")
    .filter(Boolean);
  if (ids.length === 0) return [];
  return berth.docker(["inspect", "--format", "{{.Id}} {{.State.StartedAt}}", ...ids]).split("\n");
}
