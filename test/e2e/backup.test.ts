import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { berth as run } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

/** A copy of all state, made and brought back beside a running server and without one. */
describe("backup and restore", () => {
  let berth: Rig;
  let folder: string;
  let file: string;
  let before: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-backup."));
    file = join(folder, "state.backup");
    berth = await rig({ flags: ["--allow-private-hooks"] });
    await berth.call("POST", "/config?scope=keep", { KEY: "kept" });
    await berth.apply(deployment("keep", "web", { replicas: 2 }));
    await berth.ready("deployment", "keep", "web");
    before = containers();
  });
  afterEach(async () => {
    await berth?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Ids and start times: a restart shows. */
  function containers(name = "web"): string {
    const filter = ["--filter", `label=createdby=${berth.prefix}`, "--filter", `label=${berth.prefix}.name=${name}`];
    const ids = berth
      .docker(["ps", "-q", "--no-trunc", ...filter])
      .split("\n")
      .filter(Boolean)
      .sort();
    return ids.map((id) => berth.docker(["inspect", "--format", "{{.Id}} {{.State.StartedAt}}", id])).join("\n");
  }

  const local = (...args: string[]) => run([...args, "--root", berth.root]);
  const names = async () => {
    const { body } = await berth.call("GET", "/apply?scope=keep");
    return (body.data as unknown as { name: string }[]).map(({ name }) => name);
  };
  const held = async () => {
    const { body } = await berth.call("GET", "/system");
    return (body.data as unknown as { store: { collection_held: boolean } }).store.collection_held;
  };
  /** After the backup: one more app, one less, another value. */
  const moveOn = async () => {
    await berth.apply(deployment("keep", "later"));
    await berth.ready("deployment", "keep", "later");
    await berth.call("POST", "/config?scope=keep&restart=false", { KEY: "changed" });
  };
  const isRestored = async () => {
    expect(await names()).toEqual(["web"]);
    expect((await berth.cli(["config", "get", "keep", "KEY"])).stdout).toBe("kept\n");
    await berth.ready("deployment", "keep", "web");
    expect(containers()).toBe(before);
  };

  test("live: made beside the server, taken up by it; containers are untouched, strangers wait for --confirm", async () => {
    const made = await local("backup", file);
    expect(made).toEqual({
      exitCode: 0,
      stdout: `backup written to ${file} (not sealed: it holds the key, keep it safe)\n`,
      stderr: "",
    });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await moveOn();
    const stranger = containers("later");
    const { pid } = berth.server;

    const restored = await local("restore", "--yes", file);
    expect(restored).toMatchObject({ exitCode: 0, stderr: "" });
    expect(restored.stdout).toContain(`the running server (pid ${pid}) has taken up the backup\nlook at it with `);
    expect(restored.stdout).toContain("berth restore --confirm");
    expect(berth.server.pid).toBe(pid);
    await isRestored();
    expect(await held()).toBe(true);
    expect(containers("later")).toBe(stranger);
    // What the restored state asks for is still done: only removal waits.
    await berth.apply(deployment("keep", "new"));
    await berth.ready("deployment", "keep", "new");

    expect((await local("restore", "--confirm")).stdout).toStartWith("confirmed");
    expect(await held()).toBe(false);
    expect((await local("restore", "--confirm")).stdout).toBe("nothing to confirm\n");
    const elsewhere = await run(["restore", "--confirm", "--root", folder]);
    expect(elsewhere.stderr).toBe(`error: there is no state of a server in "${folder}": name its folder with --root\n`);
    expect(readdirSync(berth.root).some((name) => name.startsWith("state.db.before-restore-"))).toBe(true);
  });

  test("until it is confirmed, a restored server opens no connection; an undo brings back what was there", async () => {
    let connections = 0;
    const listener = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      reusePort: false,
      fetch() {
        connections += 1;
        return new Response("ok");
      },
    });
    const url = `http://127.0.0.1:${listener.port}/`;
    const told = (spec: object) => ({ on_deploy: { success: [{ url }] }, ...spec });
    try {
      expect((await berth.cli(["drains", "add", "all", "http", url])).exitCode).toBe(0);
      await berth.apply(
        deployment("keep", "chatty", told({ command: ["sh", "-c", "while sleep 0.2; do echo hi; done"] })),
      );
      await waitFor("lines and the call of a deploy", () => connections >= 2);
      await local("backup", file);
      await moveOn();
      const refused = await local("restore", file);
      expect(refused.exitCode).toBe(5);
      expect(refused.stderr).toContain("add -y to answer yes; nothing was changed");
      expect((await local("restore", "-y", file)).exitCode).toBe(0);

      connections = 0;
      await berth.apply(deployment("keep", "new", told({})));
      await berth.ready("deployment", "keep", "new");
      const job = { kind: "job", scope: "keep", name: "once", spec: { image: "berth-fixture:1", command: ["true"] } };
      await berth.apply(job);
      const run = await berth.call("POST", "/jobs/run?scope=keep&name=once");
      expect([run.status, String(run.body.error)]).toEqual([409, expect.stringContaining("berth restore --confirm")]);
      expect((await berth.cli(["drains", "test", "all"])).stderr).toContain("berth restore --confirm");
      expect(connections).toBe(0);
      await local("restore", "--confirm");
      await waitFor("lines and the call of a deploy", () => connections >= 2);

      expect((await local("restore", "--undo")).exitCode).toBe(5);
      expect(await local("restore", "--undo", "--yes")).toMatchObject({ exitCode: 0, stderr: "" });
      expect((await names()).sort()).toEqual(["chatty", "later", "web"]);
      expect(await held()).toBe(false);
      expect((await local("restore", "--undo", "--yes")).stderr).toContain("nothing to undo");
    } finally {
      await listener.stop(true);
    }
  });

  test("stopped: made and restored without a server; the next start has it", async () => {
    await berth.stop();
    expect((await local("backup", file, "-o", "json")).stdout).toBe(
      `${JSON.stringify({ status: "ok", data: { file, sealed: false } }, null, 2)}\n`,
    );
    await berth.start();
    await moveOn();
    await berth.stop();
    const restored = await local("restore", "--yes", file);
    expect(restored.exitCode).toBe(0);
    expect(restored.stdout).toMatch(
      /^restored the state of \d{4}-.*Z\nwhat was there is kept as \S+state\.db\.before-restore-/,
    );
    await berth.start();
    await isRestored();
    expect(await held()).toBe(true);
  });

  test("sealed: nothing to read without the passphrase, and a wrong one changes nothing", async () => {
    const [right, wrong] = [join(folder, "right"), join(folder, "wrong")];
    writeFileSync(right, "correct horse\n");
    writeFileSync(wrong, "battery staple\n");
    const made = await local("backup", file, "--passphrase-file", right);
    expect(made.stdout).toBe(`backup written to ${file} (sealed with the passphrase)\n`);
    expect(readFileSync(file, "latin1")).not.toContain("keep");
    await moveOn();
    for (const more of [["--passphrase-file", wrong], []]) {
      const refused = await local("restore", "--yes", file, ...more);
      expect({ exitCode: refused.exitCode, stdout: refused.stdout }).toEqual({ exitCode: 1, stdout: "" });
      expect(refused.stderr).toMatch(/^error: .*passphrase/);
    }
    expect(await names()).toEqual(["later", "web"]);
    expect((await local("restore", "--yes", file, "--passphrase-file", right)).exitCode).toBe(0);
    await isRestored();
  });

  test("into an empty root on the same machine: the apps are taken over as they run", async () => {
    await local("backup", file);
    await berth.stop();
    rmSync(join(berth.root, "state.db"));
    rmSync(join(berth.root, "key"));
    expect((await local("restore", "--yes", file)).exitCode).toBe(0);
    await berth.start();
    await isRestored();
  });

  test("what is not a backup, or a cut one, is refused and leaves the state as it is", async () => {
    await local("backup", file);
    const whole = readFileSync(file);
    for (const [what, bytes] of [
      ["text", Buffer.from("hello\n")],
      ["cut", whole.subarray(0, whole.length - 100)],
      [
        "changed",
        Buffer.concat([whole.subarray(0, 2_000), Buffer.from([whole[2_000] === 1 ? 2 : 1]), whole.subarray(2_001)]),
      ],
    ] as const) {
      writeFileSync(file, bytes);
      const refused = await local("restore", "--yes", file);
      expect({ what, exitCode: refused.exitCode, stdout: refused.stdout }).toEqual({ what, exitCode: 1, stdout: "" });
      expect(refused.stderr).toContain(`"${file}"`);
      expect(refused.stderr).not.toContain("a bug in berth");
    }
    expect((await local("restore", "--yes", join(folder, "none"))).stderr).toContain(
      "does not exist; nothing was changed",
    );
    expect(await names()).toEqual(["web"]);
    expect(await held()).toBe(false);
    expect((await local("backup", "/proc/nowhere/file")).exitCode).toBe(1);
    expect((await run(["backup", join(folder, "of-nothing"), "--root", join(folder, "empty")])).stderr).toContain(
      "no berth state under",
    );
    await waitFor("the server to answer", async () => (await berth.call("GET", "/health")).status === 200);
  });
});
