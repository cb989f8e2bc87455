import { expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { berth as run } from "../support/executable.ts";
import { cronjob } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(200_000);

/** Runs that a server has begun, with their instants; a copy of the state holds those of before. */
async function begun(server: Rig): Promise<{ id: string; instant: string }[]> {
  const { body } = await server.call("GET", "/jobs/runs?kind=cronjob&scope=shop&name=tick");
  if (body.data === undefined) throw new Error(JSON.stringify(body));
  const { runs } = body.data as unknown as { runs: { run_id: string; status: string; instant?: string }[] };
  return runs.flatMap(({ run_id: id, status, instant }) =>
    status === "missed" || instant === undefined ? [] : [{ id, instant }],
  );
}

test("a server that comes back after another was restored in its place does nothing twice", async () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-twins."));
  const [copies, root, keyFile] = ["copies", "root", "key.txt"].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const old = await rig();
  let next: Rig | undefined;
  try {
    await old.apply(cronjob("shop", "tick", {}, { command: ["true"] }));
    await old.cli(["backup", "target", "add", "disk", copies]);
    await waitFor("a copy", async () => (await old.cli(["backup", "now"])).exitCode === 0);
    writeFileSync(keyFile, (await old.cli(["backup", "key"])).stdout);
    // A command at the target that is killed leaves its lock, which a restore takes for that of a living one.
    const isQuiet = () => readdirSync(copies).every((name) => readdirSync(join(copies, name, "locks")).length === 0);
    await waitFor("no command at the target", async () => {
      for (let looks = 0; looks < 20; looks++) {
        if (!isQuiet()) return false;
        await Bun.sleep(100);
      }
      return true;
    });
    await old.stop("SIGKILL");

    const restore = ["server", "restore", "--from", copies, "--key-file", keyFile, "--root", root, "-y"];
    expect(await run(restore)).toMatchObject({ exitCode: 0, stderr: "" });
    await run(["restore", "--confirm", "--root", root]);
    const life = join(root, "life.json");
    writeFileSync(
      life,
      readFileSync(life, "utf8").replace(/"takenOverAt":\d+/, `"takenOverAt":${Date.now() - 90_000}`),
    );
    const before = await snapshotsOf(copies, readFileSync(keyFile, "utf8").trim());
    next = await rig({ root, flags: ["--prefix", `${old.prefix}2`] });
    await old.start();
    await waitFor("the old server sees it", async () =>
      (await old.cli(["status"])).stdout.includes("took this one's place at"),
    );
    const refused = await old.cli(["backup", "now"]);
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining("berth backup take-over")]);
    expect((await old.cli(["backup", "target", "list"])).stdout).toContain("another server took this one's place");
    const events = JSON.stringify((await old.call("GET", "/events?limit=1000")).body);
    expect(events).toContain("backup.replaced");

    const server = next;
    const ofOld = await begun(old);
    const known = new Set(ofOld.map(({ id }) => id));
    const isNew = async () => (await begun(server)).filter(({ id }) => !known.has(id));
    await waitFor("a run on the new server", async () => (await isNew()).length > 0, 70_000);
    const both = new Set((await isNew()).map(({ instant }) => instant));
    expect((await begun(old)).filter(({ instant }) => both.has(instant))).toEqual([]);
    const after = new Set((await snapshotsOf(copies, readFileSync(keyFile, "utf8").trim())).map(({ id }) => id));
    expect(before.filter(({ id }) => !after.has(id))).toEqual([]);

    // The way back: the old server acts, and the new one sees it at its next start.
    const taken = await old.cli(["backup", "take-over", "-y"]);
    expect(taken.stdout + taken.stderr).toMatch(/^generation 3 is at disk; this server acts from /);
    await next.stop();
    await next.start();
    await waitFor("the new server waits", async () =>
      (await server.cli(["status"])).stdout.includes("took this one's place at"),
    );
  } finally {
    await next?.close();
    await old.close();
    rmSync(folder, { recursive: true, force: true });
  }
});

async function snapshotsOf(copies: string, key: string): Promise<{ id: string; time: string }[]> {
  const env = { ...process.env, RESTIC_REPOSITORY: join(copies, key.slice(0, key.indexOf("."))), RESTIC_PASSWORD: key };
  const child = Bun.spawn(["restic", "snapshots", "--json", "--no-lock", "--no-cache"], { env, stdout: "pipe" });
  return JSON.parse(await new Response(child.stdout).text()) as { id: string; time: string }[];
}
