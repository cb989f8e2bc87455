import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { berth as executed } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

/** The disk of the root is full: writes are refused with the reason, all else goes on, and room heals it. */
describe("a full disk", () => {
  let berth: Rig;
  let filler: string;
  beforeAll(async () => {
    const root = mkdtempSync(join(tmpdir(), "berth-small."));
    run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", root]);
    filler = join(root, "filler");
    berth = await rig({ root });
    await berth.apply(deployment("full", "web"));
    await berth.ready("deployment", "full", "web");
  });
  afterAll(async () => {
    await berth?.stop();
    if (berth !== undefined) run(["umount", "-l", berth.root]);
    await berth?.close();
  });

  const big = (name: string) => deployment("full", name, { replicas: 0, env: { BIG: "x".repeat(100_000) } });
  const stored = async () => {
    const { body } = await berth.call("GET", "/apply?scope=full");
    return (body.data as unknown as { name: string }[]).map(({ name }) => name).sort();
  };

  test("507 names the file and stores nothing, reads and containers go on, room makes it well", async () => {
    fill(filler);
    const before = await stored();
    const refused = await berth.apply(big("one"), big("two"));
    expect(refused.status).toBe(507);
    expect(refused.body).toEqual({
      status: "error",
      code: "storage_full",
      error: `no space left for database "${join(berth.root, "state.db")}": free some disk space, nothing of this change was stored`,
    });
    expect((await berth.call("POST", "/config?scope=full", { KEY: "x".repeat(200_000) })).status).toBe(507);
    const asset = { kind: "asset", scope: "full", name: "page", spec: { files: { a: "y".repeat(300_000) } } };
    expect((await berth.apply(asset)).status).toBe(507);
    expect(await stored()).toEqual(before);
    expect((await berth.call("GET", "/health")).status).toBe(200);
    expect((await berth.call("GET", "/describe?kind=deployment&scope=full&name=web")).status).toBe(200);
    expect((await berth.pods("full", "web")).map(({ running }) => running)).toEqual([true]);
    const told = await berth.cli(["apply", "-y", "-f", "-"], { stdin: JSON.stringify(big("one")) });
    expect(told).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no space left for database") });

    rmSync(filler);
    expect((await berth.apply(big("one"))).status).toBe(200);
    expect(await stored()).toEqual(["one", "web"]);
    expect(berth.server.output()).not.toContain("a bug in berth");
  });

  test("what dies is started again, what is gone is made again, and describe tells", async () => {
    await berth.apply(deployment("full", "web", { replicas: 2 }));
    await berth.ready("deployment", "full", "web");
    fill(filler);
    const names = (await berth.pods("full", "web")).map(({ name }) => name);
    const [first = "", second = ""] = names;
    berth.docker(["rm", "-f", first]);
    berth.docker(["kill", second]);
    await waitFor("two pods that run, one of them new", async () => {
      const pods = await berth.pods("full", "web");
      return pods.length === 2 && pods.every(({ running, name }) => running && name !== first);
    });
    await berth.ready("deployment", "full", "web");
    const lines = berth.server.output().split("\n");
    expect(lines.filter((line) => line.includes("disk is full"))).toHaveLength(1);
    expect(berth.server.output()).not.toContain("a bug in berth");
    rmSync(filler);
  });

  test("the server starts, names no trouble that there is not, and heals", async () => {
    await berth.stop();
    const before = berth.docker(["ps", "-aq", "--filter", `label=createdby=${berth.prefix}`]).split("\n");
    berth.docker(["rm", "-f", before[0] ?? ""]);
    fill(filler);
    await berth.start();
    await waitFor("two pods that run", async () => {
      const pods = await berth.pods("full", "web");
      return pods.filter(({ running }) => running).length === 2;
    });
    const second = await berth.cli(["serve", "--root", berth.root]).catch(() => undefined);
    expect(second?.stderr ?? "").toContain(`in use by pid ${berth.server.pid}`);
    rmSync(filler);
    expect((await berth.apply(big("three"))).status).toBe(200);
    expect(await stored()).toEqual(["one", "three", "web"]);
  });

  test("so it does after a kill", async () => {
    await berth.stop("SIGKILL");
    fill(filler);
    await berth.start();
    await waitFor("two pods that run", async () => {
      const pods = await berth.pods("full", "web");
      return pods.filter(({ running }) => running).length === 2;
    });
    rmSync(filler);
    expect((await berth.apply(big("four"))).status).toBe(200);
  });
});

test("a server that starts leaves the last room of a disk to others", async () => {
  const root = mkdtempSync(join(tmpdir(), "berth-small."));
  run(["mount", "-t", "tmpfs", "-o", "size=10m", "tmpfs", root]);
  const berth = await rig({ root, flags: ["--observability-addr", "127.0.0.1:0"] });
  const { bavail, bsize } = statfsSync(root);
  await berth.stop();
  run(["umount", "-l", root]);
  await berth.close();
  expect(bavail * bsize).toBeGreaterThan(8 * 1024 * 1024);
});

describe("a start on a full disk", () => {
  const root = mkdtempSync(join(tmpdir(), "berth-small."));
  const filler = join(root, "filler");
  let berth: Rig;
  beforeAll(async () => {
    run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", root]);
    const [http, identity, plane] = await Promise.all([freePort(), freePort(), freePort()]);
    const ingress = ["--ingress-http-addr", `127.0.0.1:${http}`];
    const planes = ["--identity-addr", `127.0.0.1:${identity}`, "--observability-addr", `127.0.0.1:${plane}`];
    berth = await rig({ root, flags: [...ingress, ...planes, "--observability-tls", "self-signed"] });
  });
  afterAll(async () => {
    await berth?.stop();
    run(["umount", "-l", root]);
    await berth?.close();
  });
  const portFiles = ["receiver.port", "door.port"].map((name) => join(root, "ingress", name));

  test("every listener serves, with and without the files of the last server, and what is missing is written later", async () => {
    await berth.stop();
    fill(filler);
    await berth.start();
    const addresses = JSON.stringify(berth.server.ready.addresses);
    expect((await berth.call("GET", "/health")).status).toBe(200);
    expect(berth.server.output()).not.toContain("is not kept yet");

    await berth.stop();
    for (const file of portFiles) rmSync(file);
    fill(filler);
    await berth.start();
    expect((await berth.call("GET", "/health")).status).toBe(200);
    expect(Object.keys(JSON.parse(addresses))).toEqual(["orchestration", "identity", "observability"]);
    expect(berth.server.output()).toContain("is not kept yet");
    rmSync(filler);
    await waitFor("the files", () => portFiles.every((file) => existsSync(file)));
  });

  test("a root that was never used ends the start with the reason, and the next one serves", async () => {
    await berth.stop();
    const fresh = join(root, "fresh");
    mkdirSync(fresh);
    fill(filler);
    const flags = berth.flags.map((word) => (word === root ? fresh : word));
    const { exitCode, stderr } = await executed(["serve", ...flags]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/^error: no space left /m);
    expect(stderr).not.toContain("did not end by itself");
    rmSync(filler);
    await berth.start();
  });
});

/** To the last byte. */
function fill(file: string): void {
  const handle = openSync(file, "w");
  for (const size of [65_536, 4_096, 512]) {
    try {
      for (;;) writeSync(handle, Buffer.alloc(size));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    }
  }
  closeSync(handle);
}

function run(command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}
