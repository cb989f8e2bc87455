import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";

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
      error: `no space left for database "${join(berth.root, "state.db")}": free some disk space, nothing of this change was stored`,
    });
    expect((await berth.call("POST", "/config?scope=full", { KEY: "x".repeat(200_000) })).status).toBe(507);
    const asset = { kind: "asset", scope: "full", name: "page", spec: { files: { a: "y".repeat(300_000) } } };
    expect((await berth.apply(asset)).status).toBe(507);
    expect(await stored()).toEqual(before);
    expect((await berth.call("GET", "/health")).status).toBe(200);
    expect((await berth.call("GET", "/describe?kind=deployment&scope=full&name=web")).status).toBe(200);
    expect((await berth.pods("full", "web")).map(({ running }) => running)).toEqual([true]);
    const told = await berth.cli(["apply", "-f", "-"], { stdin: JSON.stringify(big("one")) });
    expect(told).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no space left for database") });

    rmSync(filler);
    expect((await berth.apply(big("one"))).status).toBe(200);
    expect(await stored()).toEqual(["one", "web"]);
    expect(berth.server.output()).not.toContain("a bug in berth");
  });

  test("a start on a full disk works, or says what is in the way", async () => {
    await berth.stop();
    fill(filler);
    const started = await berth.start().then(
      () => "",
      (error: Error) => error.message,
    );
    expect(started).not.toContain("a bug in berth");
    if (started !== "") expect(started).toContain("no space left");
    rmSync(filler);
    await berth.stop();
    await berth.start();
    await berth.ready("deployment", "full", "web");
    expect(await stored()).toEqual(["one", "web"]);
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
