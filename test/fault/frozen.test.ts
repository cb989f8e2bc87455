import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { deployment, statefulset } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

/** Stopped with freeze stays stopped, whatever else happens, until start, restart or delete. */
describe("a frozen replica", () => {
  let berth: Rig;
  let frozen: string;
  beforeAll(async () => {
    berth = await rig();
  });
  afterAll(() => berth?.close());
  beforeEach(async () => {
    await berth.apply(deployment("ice", "web", { replicas: 2 }));
    await berth.ready("deployment", "ice", "web");
    const [pod] = await berth.pods("ice", "web");
    frozen = pod?.name ?? "";
    expect(await berth.cli(["stop", frozen])).toMatchObject({
      exitCode: 0,
      stdout: `stopped ${frozen}, frozen until start\n`,
    });
  });
  afterEach(async () => {
    await berth.call("DELETE", "/scope?scope=ice&prune=true");
  });

  const standing = async () => {
    const pods = await berth.pods("ice", "web");
    return {
      frozen: pods.filter((pod) => pod.frozen).map(({ name, running }) => ({ name, running })),
      running: pods.filter(({ running }) => running).length,
    };
  };
  const stillFrozen = async (others: number) =>
    expect(await standing()).toEqual({ frozen: [{ name: frozen, running: false }], running: others });

  test("is told by describe, and costs the others nothing", async () => {
    await berth.tells("deployment ice/web", "ready", "1 frozen", "exited, frozen");
    await stillFrozen(1);
  });

  test("through changes of the spec and of the count", async () => {
    await berth.apply(deployment("ice", "web", { replicas: 2, env: { NEW: "1" } }));
    await berth.ready("deployment", "ice", "web");
    await stillFrozen(1);
    await berth.apply(deployment("ice", "web", { replicas: 4, env: { NEW: "1" } }));
    await berth.ready("deployment", "ice", "web");
    await stillFrozen(3);
    await berth.apply(deployment("ice", "web", { replicas: 2, env: { NEW: "1" } }));
    await berth.ready("deployment", "ice", "web");
    await stillFrozen(1);
  });

  test("through the end and the kill of the server", async () => {
    for (const signal of ["SIGTERM", "SIGKILL"] as const) {
      await berth.stop(signal);
      await berth.start();
      await berth.apply(deployment("ice", `after-${signal.toLowerCase()}`));
      await berth.ready("deployment", "ice", `after-${signal.toLowerCase()}`);
      await stillFrozen(1);
    }
  });

  test("until start: it is made anew with what is stored now", async () => {
    await berth.call("POST", "/config?scope=ice&name=web&restart=false", { FRESH: "yes" });
    const { exitCode, stdout } = await berth.cli(["start", frozen]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `starting a new ${frozen}, no longer frozen\n` });
    await waitFor("two running", async () => (await standing()).running === 2);
    expect((await standing()).frozen).toEqual([]);
    const fresh = (await berth.pods("ice", "web")).map(({ name }) => berth.docker(["exec", name, "env"]));
    expect(fresh.filter((env) => env.includes("FRESH=yes"))).toHaveLength(1);
  });

  test("all of them: stopped and not ready, also where somebody starts one by hand, until start", async () => {
    expect((await berth.cli(["stop", "ice/web"])).exitCode).toBe(0);
    await berth.tells("deployment ice/web", "stopped", "all 2 replicas are frozen");
    const waited = await berth.cli(["apply", "-f", "-"], {
      stdin: JSON.stringify(deployment("ice", "web", { replicas: 2 })),
    });
    expect(waited.exitCode).toBe(1);
    expect(waited.stdout + waited.stderr).toContain("all 2 replicas are frozen");
    berth.docker(["start", frozen]);
    await berth.tells("deployment ice/web", "stopped", `${frozen} runs although frozen`, "frozen but started by hand");
    expect(await standing()).toMatchObject({
      running: 1,
      frozen: expect.arrayContaining([{ name: frozen, running: true }]),
    });
    expect((await berth.cli(["start", "ice/web"])).exitCode).toBe(0);
    await berth.ready("deployment", "ice", "web");
    expect(await standing()).toEqual({ running: 2, frozen: [] });
  });

  test("until restart, which names it", async () => {
    const restarted = await berth.cli(["restart", "ice/web"]);
    expect(restarted.exitCode).toBe(0);
    expect(restarted.stdout).toContain(`no longer frozen: ${frozen.split(".").at(-1)}`);
    expect(await standing()).toEqual({ frozen: [], running: 2 });
  });

  test("until delete: the same name applied again knows nothing of it", async () => {
    await berth.call("DELETE", "/apply?kind=deployment&scope=ice&name=web&prune=true");
    await berth.apply(deployment("ice", "web", { replicas: 2 }));
    await berth.ready("deployment", "ice", "web");
    expect(await standing()).toEqual({ frozen: [], running: 2 });
  });

  test("an ordinal of a statefulset holds its place", async () => {
    await berth.apply(statefulset("ice", "db", { replicas: 3 }));
    await berth.ready("statefulset", "ice", "db");
    await berth.cli(["stop", "ice/db.1"]);
    await berth.apply(statefulset("ice", "db", { replicas: 3, env: { NEW: "1" } }));
    await berth.ready("statefulset", "ice", "db");
    const pods = (await berth.pods("ice", "db")).map(({ name, running, frozen: is }) => `${name} ${running} ${is}`);
    expect(pods).toEqual(["ice-db.0 true false", "ice-db.1 false true", "ice-db.2 true false"]);
    await berth.cli(["start", "ice/db.1"]);
    await waitFor(
      "all three",
      async () => (await berth.pods("ice", "db")).filter(({ running }) => running).length === 3,
    );
  });

  test("without freeze it comes back by itself", async () => {
    await berth.cli(["start", frozen]);
    await waitFor("two running", async () => (await standing()).running === 2);
    const [pod] = await berth.pods("ice", "web");
    const stopped = await berth.cli(["stop", pod?.name ?? "", "--no-freeze"]);
    expect(stopped.stdout).toBe(`stopped ${pod?.name}\n`);
    await waitFor("two running again", async () => (await standing()).running === 2);
  });
});
