import { existsSync, mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { berth as run } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

const readOnly = "its disk is read-only, as a disk with errors becomes: dmesg says why; repair it";

/** The disk of the root becomes read-only, as the kernel does it when a disk has errors. */
describe.skipIf(!existsSync("/dev/loop-control"))("a disk that becomes read-only", () => {
  const root = mkdtempSync(join(tmpdir(), "berth-locked."));
  const image = `${root}.img`;
  let berth: Rig;
  beforeAll(async () => {
    command("truncate", "-s", "64m", image);
    command("mkfs.ext4", "-q", image);
    command("mount", "-o", "loop", image, root);
    command("rmdir", join(root, "lost+found"));
    berth = await rig({ root });
    await berth.apply(deployment("locked", "web", { replicas: 2 }));
    await berth.ready("deployment", "locked", "web");
    // As after an error of the disk: what is open for writing does not hold it up.
    command("mount", "-o", "remount,abort", root);
    // The kernel notices it with the next change of a folder.
    expect(Bun.spawnSync(["touch", join(root, "x")]).exitCode).toBe(1);
  });
  afterAll(async () => {
    await berth?.stop();
    command("umount", "-l", root);
    command("rm", "-f", image);
    await berth?.close();
  });

  test("refuses changes with the way out, and every door names it", async () => {
    const refused = await berth.apply(deployment("locked", "two"));
    expect([refused.status, refused.body.error]).toEqual([503, expect.stringContaining("dmesg and berth doctor")]);
    const status = await berth.cli(["status"]);
    expect([status.exitCode, status.stdout]).toEqual([
      1,
      expect.stringContaining(`${root} is read-only, so no change`),
    ]);
    const doctor = await berth.cli(["doctor", ...berth.flags.slice(0, 2)]);
    expect(doctor.stdout).toMatch(/^fail +disk of berth +.* is read-only: nothing can be stored$/m);
  });

  test("keeps no replica from being started or made again, and is told once in the log", async () => {
    const [killed = "", removed = ""] = (await berth.pods("locked", "web")).map(({ name }) => name);
    berth.docker(["kill", killed]);
    berth.docker(["rm", "-f", removed]);
    await waitFor("two replicas that run, one of them new", async () => {
      const pods = await berth.pods("locked", "web");
      return pods.length === 2 && pods.every(({ running, name }) => running && name !== removed);
    });
    const lines = berth.server.output().split("\n");
    expect(lines.filter((line) => line.includes("disk cannot be written: healing goes on"))).toHaveLength(1);
    expect(berth.server.output()).not.toContain("a bug in berth");
  });

  test("lets no server start, and says why", async () => {
    await berth.stop();
    const { exitCode, stderr } = await run(["serve", ...berth.flags]);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(readOnly)]);
  });
});

function command(...words: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(words, { stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${words.join(" ")}: ${stderr.toString()}`);
}
