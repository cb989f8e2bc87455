import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import type { PodRecord } from "../../src/orchestration/api/pods.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

/** Somebody works on the containers with docker itself. */
describe("changes by hand", () => {
  let berth: Rig;
  let victim: PodRecord;
  beforeAll(async () => {
    berth = await rig();
  }, 30_000);
  afterAll(() => berth?.close(), 60_000);
  beforeEach(async () => {
    await berth.apply(deployment("hand", "web", { replicas: 2 }));
    await berth.ready("deployment", "hand", "web");
    const [first] = await berth.pods("hand", "web");
    if (first === undefined) throw new Error("no pod");
    victim = first;
  }, 30_000);
  afterEach(async () => {
    await berth.call("DELETE", "/scope?scope=hand&prune=true");
  }, 30_000);

  const names = async () => (await berth.pods("hand", "web")).map(({ name }) => name).sort();
  const bothRun = () =>
    waitFor("two replicas running", async () => {
      const pods = await berth.pods("hand", "web");
      return pods.length === 2 && pods.every(({ running, ready }) => running && ready);
    });
  const idOf = (name: string) => berth.docker(["inspect", "--format", "{{.Id}}", name]);

  test("removed: another takes its place", async () => {
    berth.docker(["rm", "-f", victim.name]);
    await bothRun();
    expect(await names()).not.toContain(victim.name);
  });

  for (const how of ["stop", "kill"]) {
    test(`${how}: the same container starts again, and the event log says why`, async () => {
      const id = idOf(victim.name);
      berth.docker(how === "stop" ? ["stop", "-t", "0", victim.name] : ["kill", victim.name]);
      await bothRun();
      expect(idOf(victim.name)).toBe(id);
      const { stdout } = await berth.cli(["events", "hand/web"]);
      expect(stdout).toMatch(/reconciler +replica\.start .*exit code 137/);
    });
  }

  test("disconnected from the platform's network: another takes its place", async () => {
    berth.docker(["network", "disconnect", `${berth.prefix}0`, victim.name]);
    await waitFor("a replica in its place", async () => !(await names()).includes(victim.name), 45_000);
    await bothRun();
    const { stdout } = await berth.cli(["events", "hand/web"]);
    expect(stdout).toContain(`cut off from network "${berth.prefix}0"`);
  }, 90_000);

  test("renamed: it gets its name back without a restart", async () => {
    const started = berth.docker(["inspect", "--format", "{{.State.StartedAt}}", victim.name]);
    berth.docker(["rename", victim.name, `${berth.prefix}-mine`]);
    await waitFor("its name", async () => (await names()).includes(victim.name));
    expect(berth.docker(["inspect", "--format", "{{.State.StartedAt}}", victim.name])).toBe(started);
  });

  test("paused: it is left alone, and described as what it is", async () => {
    berth.docker(["pause", victim.name]);
    await berth.tells("deployment hand/web", "paused", "1 of 2 ready");
    berth.docker(["unpause", victim.name]);
    await berth.ready("deployment", "hand", "web");
    expect(await names()).toContain(victim.name);
  });

  test("all of them removed at once: all come back", async () => {
    berth.docker(["rm", "-f", ...(await names())]);
    await bothRun();
  });

  test("a container of somebody else with the same name pattern is nobody's business", async () => {
    const name = "hand-web.other";
    berth.docker(["run", "-d", "--name", name, "--network", "none", "berth-fixture:1"]);
    try {
      await berth.apply(deployment("hand", "web", { replicas: 1 }));
      await berth.ready("deployment", "hand", "web");
      await berth.call("DELETE", "/apply?kind=deployment&scope=hand&name=web&prune=true");
      expect(berth.docker(["inspect", "--format", "{{.State.Running}}", name])).toBe("true");
    } finally {
      berth.docker(["rm", "-f", name]);
    }
  });

  test("the network removed under a stopped server: it is made again", async () => {
    await berth.stop();
    berth.docker([
      "rm",
      "-f",
      ...berth.docker(["ps", "-aq", "--filter", `label=createdby=${berth.prefix}`]).split("\n"),
    ]);
    berth.docker(["network", "rm", `${berth.prefix}0`]);
    await berth.start();
    await bothRun();
  });

  describe("claim volumes", () => {
    const volume = () => `${berth.prefix}-hand-db-data-0`;
    const database = (replicas: number) =>
      statefulset("hand", "db", {
        replicas,
        volume_claims: [{ name: "data", mount_path: "/data" }],
        command: ["sh", "-c", "date >> /data/starts; exec sleep 100000"],
      });
    const isThere = () => berth.docker(["volume", "inspect", "--format", "{{.Name}}", volume()]) === volume();
    /** Scaled to nothing, the volume is in nobody's use and can be removed by hand. */
    const losesItsVolume = async () => {
      await berth.apply(database(1));
      await berth.ready("statefulset", "hand", "db");
      await berth.apply(database(0));
      await waitFor("no pod", async () => (await berth.pods("hand", "db")).length === 0);
      berth.docker(["volume", "rm", volume()]);
      expect(isThere()).toBe(false);
      await berth.apply(database(1));
      await berth.tells("statefulset hand/db", "VolumeMissing", volume(), "berth delete hand/db.0 --prune");
      expect(isThere()).toBe(false);
    };

    test("one that is gone is not replaced by an empty one; it heals when it is back", async () => {
      await losesItsVolume();
      berth.docker(["volume", "create", volume()]);
      await berth.ready("statefulset", "hand", "db", 40_000);
      expect(berth.docker(["exec", "hand-db.0", "cat", "/data/starts"])).not.toBe("");
      const pruned = await berth.cli(["delete", "hand/db", "--prune", "-y"]);
      expect({ exitCode: pruned.exitCode, there: isThere() }).toEqual({ exitCode: 0, there: false });
    }, 60_000);

    test("or it starts empty, when that is said", async () => {
      await losesItsVolume();
      const deleted = await berth.cli(["delete", "hand/db.0", "--prune", "-y"]);
      expect(deleted.exitCode).toBe(0);
      await berth.ready("statefulset", "hand", "db");
      expect(isThere()).toBe(true);
    }, 60_000);

    test("a volume of another installation is neither mounted nor pruned", async () => {
      const labels = { createdby: berth.prefix, installation: "another", scope: "hand", name: "db" };
      const flags = Object.entries(labels).flatMap(([key, value]) => [
        "--label",
        `${key === "createdby" ? key : `${berth.prefix}.${key}`}=${value}`,
      ]);
      berth.docker(["volume", "create", ...flags, volume()]);
      try {
        await berth.apply(database(1));
        await berth.tells("statefulset hand/db", "VolumeForeign", volume());
        await berth.cli(["delete", "hand/db", "--prune", "-y"]);
        expect(isThere()).toBe(true);
      } finally {
        berth.docker(["volume", "rm", volume()]);
      }
    }, 60_000);
  });
});
