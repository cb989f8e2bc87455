import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { deployment, fixtureImage } from "../support/manifests.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

/** What Docker refuses is named in describe with its reason, tried again with growing pauses, and heals. */
describe("what Docker refuses", () => {
  let berth: Rig;
  beforeAll(async () => {
    berth = await rig();
  });
  afterAll(() => berth?.close(), 60_000);

  const nextTry = async (name: string) => (await berth.status("deployment", "no", name)).next_retry_at;

  test("an image that no registry gives: named, retried, and well as soon as it is imported", async () => {
    const image = `127.0.0.1:1/${berth.prefix}:1`;
    try {
      await berth.apply(deployment("no", "image", { image }));
      const text = await berth.tells("deployment no/image", "ImagePull", image, "next try", "0 of 1 ready");
      expect(text).toContain("connection refused");
      const first = await waitFor("a time of the next try", () => nextTry("image"));
      await waitFor("another try", async () => (await nextTry("image")) !== first);
      await waitFor("three tries make it failing", async () => {
        return (await berth.status("deployment", "no", "image")).phase === "failing";
      });
      const { body } = await berth.call("GET", "/pods?scope=no&name=image");
      expect(body.data as unknown).toMatchObject({ pods: [], degraded: [{ name: "image" }] });

      berth.docker(["tag", fixtureImage, image]);
      await berth.ready("deployment", "no", "image", 40_000);
      const well = await berth.status("deployment", "no", "image");
      expect(well).not.toHaveProperty("last_reconcile_error");
      expect(well).not.toHaveProperty("next_retry_at");
    } finally {
      await berth.call("DELETE", "/apply?kind=deployment&scope=no&name=image&prune=true");
      berth.docker(["rmi", image]);
    }
  }, 90_000);

  test("a host port that another program holds: named with the port and its holder, and well once it is free", async () => {
    const squatter = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    const { port } = squatter;
    try {
      await berth.apply(deployment("no", "port", { ports: [`${port}:80`] }));
      await berth.tells("deployment no/port", "PortTaken", `port ${port}`, `process ${process.pid}`);
      // Only the container that cannot start is in question: nothing half made stays behind.
      await waitFor("no pod", async () => (await berth.pods("no", "port")).length === 0);
    } finally {
      squatter.stop(true);
    }
    await berth.ready("deployment", "no", "port", 40_000);
    const [pod] = await berth.pods("no", "port");
    expect(berth.docker(["port", pod?.name ?? ""])).toContain(`127.0.0.1:${port}`);
  }, 90_000);

  test("a port of another resource of ours: the second says who has it", async () => {
    const port = await freePort();
    await berth.apply(deployment("no", "first", { ports: [`${port}:80`] }));
    await berth.ready("deployment", "no", "first");
    await berth.apply(deployment("no", "second", { ports: [`${port}:80`] }));
    await berth.tells("deployment no/second", "PortTaken", String(port));
    expect(await berth.status("deployment", "no", "first")).toMatchObject({ phase: "ready" });
  }, 60_000);

  test("a port that another program or a foreign container holds: the plan names it, and the old replica serves on", async () => {
    const foreign = `${berth.prefix}-foreign`;
    const squatter = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
    const taken = await freePort();
    try {
      berth.docker(["run", "-d", "--name", foreign, "-p", `127.0.0.1:${taken}:80`, fixtureImage, "sleep", "1d"]);
      await berth.apply(deployment("no", "moves", { ports: [`${await freePort()}:80`] }));
      await berth.ready("deployment", "no", "moves");
      const [old] = await berth.pods("no", "moves");
      const holders = [
        [squatter.port, `process ${process.pid}`],
        [taken, `container "${foreign}"`],
      ] as const;
      for (const [port, holder] of holders) {
        const { body } = await berth.apply(deployment("no", "moves", { ports: [`${port}:80`] }));
        const text = `host port ${port} is held by ${holder}`;
        expect((body.data as { warnings?: string[] } | undefined)?.warnings?.join()).toContain(text);
        await berth.tells("deployment no/moves", "PortTaken", text);
        expect(await berth.pods("no", "moves")).toMatchObject([{ name: old?.name, running: true }]);
      }
    } finally {
      squatter.stop(true);
      berth.docker(["rm", "-f", foreign]);
    }
    await berth.ready("deployment", "no", "moves", 40_000);
    const [pod] = await berth.pods("no", "moves");
    expect(berth.docker(["port", pod?.name ?? ""])).toContain(`127.0.0.1:${taken}`);
  }, 90_000);

  test("a command that does not exist: the engine's own words, and no pile of dead containers", async () => {
    await berth.apply(deployment("no", "command", { command: ["/no/such/command"] }));
    await berth.tells("deployment no/command", "StartFailed", "/no/such/command", "correct command", "failed");
    const left = berth.docker(["ps", "-aq", "--filter", `label=${berth.prefix}.name=command`]);
    expect(left.split("\n").filter(Boolean).length).toBeLessThanOrEqual(1);
    await berth.apply(deployment("no", "command"));
    await berth.ready("deployment", "no", "command");
  }, 60_000);

  test("an update that cannot be made leaves what runs alone", async () => {
    await berth.apply(deployment("no", "keep", { replicas: 2 }));
    await berth.ready("deployment", "no", "keep");
    const before = (await berth.pods("no", "keep")).map(({ name }) => name).sort();
    await berth.apply(deployment("no", "keep", { replicas: 2, image: `127.0.0.1:1/${berth.prefix}:2` }));
    await berth.tells("deployment no/keep", "ImagePull", "failing");
    const after = await berth.pods("no", "keep");
    expect(after.map(({ name }) => name).sort()).toEqual(before);
    expect(after.every(({ running }) => running)).toBe(true);
  }, 60_000);

  test("an app that ends again and again is told with its exit code, and is not started without pause", async () => {
    // Without a time in which it must hold, a replica that was seen running before its end would do.
    const rollout = { min_ready: "5s", progress_deadline: "6s" };
    await berth.apply(deployment("no", "crash", { command: ["sh", "-c", "echo no database; exit 3"], rollout }));
    await berth.tells("deployment no/crash", "ReleaseFailed", "restarted", "last exit code 3");
    const [pod] = await berth.pods("no", "crash");
    const runs = () =>
      berth
        .docker(["logs", pod?.name ?? ""])
        .split("\n")
        .filter(Boolean).length;
    const restarts = async () => (await berth.pods("no", "crash"))[0]?.restarts;
    await waitFor("restarts to be counted once each", async () => (await restarts()) === runs() - 1);
    const { stdout } = await berth.cli(["events", "no/crash"]);
    expect(stdout).toMatch(/replica\.crash .*exit_code=3[^\n]*\n +\| no database/);
    expect((await berth.cli(["get", "pods", "no/crash"])).stdout).toContain("exit code 3");
  }, 60_000);
});
