import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { berth as run, executable } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { freePort } from "../support/ports.ts";
import { waitFor } from "../support/wait.ts";
import { webBrowser } from "../support/web-browser.ts";

setDefaultTimeout(180_000);

/** Copies at a target, made by the restic of this machine, and a server that comes back from them. */
describe("copies outside of the machine", () => {
  let berth: Rig;
  let folder: string;
  let copies: string;
  let identity: { base: string; flags: string[] };
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-copies."));
    copies = join(folder, "copies");
    const port = await freePort();
    const base = `http://localhost:${port}`;
    identity = { base, flags: ["--identity-addr", `127.0.0.1:${port}`, "--identity-base-url", base] };
    berth = await rig({ flags: identity.flags });
  });
  afterEach(async () => {
    await berth?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const cli = (...args: string[]) => berth.cli(args);
  const add = (...more: string[]) => cli("backup", "target", "add", "disk", copies, ...more);
  const listed = async () => {
    const { body } = await berth.call("GET", "/backups/targets");
    const { targets } = body.data as unknown as { targets: { last_error?: string; last_success_at?: string }[] };
    return targets[0] ?? {};
  };
  const key = async () => {
    const file = join(folder, "key.txt");
    writeFileSync(file, (await cli("backup", "key")).stdout);
    return file;
  };
  const ofFiles = (path: string): string[] =>
    readdirSync(path, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [join(entry.parentPath, entry.name)] : [],
    );

  /** A token of a user who has signed in, and what a server says of it. */
  async function issued() {
    const { base } = identity;
    const callback = "http://localhost:3000/callback";
    const made = await cli("identity", "quickstart", "--redirect", callback, "-o", "json");
    const shop = (JSON.parse(made.stdout) as { data: Record<"instance_id" | "secret_key" | "sign_in_url", string> })
      .data;
    const account = { email: "ana@shop.test", password: "correct horse" };
    const words = ["--instance", shop.instance_id, "--email", account.email, "--password", account.password];
    expect((await cli("identity", "user", "create", ...words)).exitCode).toBe(0);
    const browser = webBrowser({
      service: (request) => fetch(request),
      isService: (host) => host === new URL(base).host,
      isApp: (host) => host === new URL(callback).host,
      headers: { "User-Agent": "test browser", Origin: base },
    });
    const end = await browser.submit(await browser.open(shop.sign_in_url), "/sign-in", account);
    const body = JSON.stringify({ token: new URL(end.url).searchParams.get("token") });
    const headers = { "X-Service-Secret-Key": shop.secret_key, "Content-Type": "application/json" };
    return async () => {
      const init = { method: "POST", headers, body, keepalive: false };
      const answer = await fetch(`${base}/api/v1/tokens/verify`, init);
      return { status: answer.status, body: (await answer.json()) as unknown };
    };
  }

  test("a burnt server comes back on another root with all it knew, and holds what would be done twice", async () => {
    await berth.call("POST", "/config?scope=keep", { KEY: "a secret word" });
    await berth.apply(deployment("keep", "web"));
    await berth.ready("deployment", "keep", "web");
    const verify = await issued();
    const verified = { status: 200, body: { data: { valid: true, email: "ana@shop.test" } } };
    expect(await verify()).toMatchObject(verified);
    expect(await add("--every", "1d", "--keep", "7d 4w")).toMatchObject({ exitCode: 0, stderr: "" });
    // The first copy is due at once, and its state says so only after the target has listed it.
    await waitFor("the first copy", async () => (await listed()).last_success_at !== undefined, 60_000);
    const now = await cli("backup", "now");
    expect(now).toMatchObject({ exitCode: 0, stderr: "" });
    expect(now.stdout).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ {2}disk {2}state {2}[0-9a-f]{8} /);
    const keyFile = await key();
    const list = (await cli("backup", "list", "-o", "json")).stdout;
    const { snapshots } = (JSON.parse(list) as { data: { snapshots: unknown[] } }).data;
    expect(snapshots.length).toBeGreaterThanOrEqual(2);
    for (const file of ofFiles(copies)) expect(readFileSync(file).includes("a secret word")).toBe(false);
    expect(existsSync(join(berth.root, "copies/state"))).toBe(false);

    // An intruder removes a copy: the newest one knows that it was there.
    const [oldest] = (snapshots as { id: string }[]).slice(-1);
    for (const file of ofFiles(copies)) if (file.endsWith(`/snapshots/${oldest?.id}`)) rmSync(file);

    const root = join(folder, "root");
    const restored = await run(["server", "restore", "--from", copies, "--key-file", keyFile, "--root", root, "-y"]);
    expect(restored).toMatchObject({ exitCode: 0, stderr: "" });
    expect(restored.stdout).toMatch(/^==> state {2}\d{4}-\d\d-\d\dT\S+Z$/m);
    expect(restored.stdout).toContain("warning: 1 copy of the hour before it, which the server had made, is missing");
    expect(restored.stdout).toContain("start the server, then look at it with berth get all --endpoint ");
    expect(restored.stdout).toMatch(/with berth backup restore --all --endpoint \S+, then run berth restore --confirm/);
    await berth.server.stop();
    // The old server is gone: its moment to stop is over.
    writeFileSync(
      join(root, "life.json"),
      readFileSync(join(root, "life.json"), "utf8").replace(
        /"takenOverAt":\d+/,
        `"takenOverAt":${Date.now() - 90_000}`,
      ),
    );
    const second = await rig({ root, flags: ["--prefix", berth.prefix, ...identity.flags] });
    try {
      expect(await verify()).toMatchObject(verified);
      expect((await second.cli(["config", "get", "keep", "KEY"])).stdout).toBe("a secret word\n");
      await second.ready("deployment", "keep", "web");
      const held = await second.cli(["backup", "now"]);
      expect([held.exitCode, held.stderr]).toEqual([
        1,
        "error: no copy is made: this server was restored from a backup; first: berth restore --confirm\n",
      ]);
      await run(["restore", "--confirm", "--root", root]);
      await waitFor("a copy after the confirm", async () => (await second.cli(["backup", "now"])).exitCode === 0);
      expect((await second.cli(["backup", "key"])).stdout).toBe(readFileSync(keyFile, "utf8"));
    } finally {
      await second.close();
    }
  });

  test("a copy that cannot be written, altered data and a wrong key are said, and no copy counts that is not there", async () => {
    expect((await add()).exitCode).toBe(0);
    await waitFor("the first copy", async () => (await listed()).last_success_at !== undefined, 60_000);
    const keyFile = await key();
    const [wrong, empty] = [join(folder, "wrong.txt"), join(folder, "empty.txt")];
    writeFileSync(wrong, readFileSync(keyFile, "utf8").replace(/.{5}\n$/, "22222\n"));
    const restore = (...more: string[]) =>
      run(["server", "restore", "--from", copies, "--root", join(folder, "r"), "-y", ...more]);
    expect((await restore("--key-file", wrong)).stderr).toContain("another key opens what is there");
    writeFileSync(wrong, readFileSync(keyFile, "utf8").replace(/^[^.]+/, "fedcba9876543210"));
    expect((await restore("--key-file", wrong)).stderr).toContain('there is no "fedcba9876543210" at ');
    const practised = await restore("--key-file", keyFile, "--practice", "--root", join(folder, "p"));
    expect(practised.stderr + practised.stdout).toContain("this was practice, and needs no confirm");
    expect(practised.stderr + practised.stdout).not.toContain("restore --confirm");
    writeFileSync(empty, "\n");
    expect((await restore("--key-file", empty)).stderr).toContain(`there is no recovery key in "${empty}"`);
    const early = await restore("--key-file", keyFile, "--at", "2020-01-01T00:00:00Z");
    expect(early.stderr).toContain("no copy is that old: the oldest is of ");

    const asked = ["server", "restore", "--from", copies, "--root", join(folder, "r"), "--key-file", keyFile];
    expect((await run(asked)).stderr).toMatch(/with the copy of \d{4}-[^ ]+Z\?/);

    // A target that has lost its index has lost no copy.
    for (const index of ofFiles(copies).filter((path) => path.includes("/index/"))) rmSync(index);
    const looked = await cli("backup", "repair", "--dry-run");
    expect([looked.exitCode, looked.stderr]).toEqual([
      1,
      expect.stringMatching(/state of .* cannot be restored whole/),
    ]);
    expect((await cli("backup", "list")).stdout).toContain("state (damaged)");
    const repaired = await cli("backup", "repair", "disk", "-y");
    expect([repaired.exitCode, repaired.stdout]).toEqual([0, "disk is whole again: no copy is damaged\n"]);
    expect((await cli("backup", "list")).stdout).not.toContain("damaged");

    // Every pack of data is altered: restic notices, and nothing is restored.
    for (const pack of ofFiles(copies).filter((path) => path.includes("/data/"))) {
      chmodSync(pack, 0o600);
      writeFileSync(
        pack,
        readFileSync(pack).map((byte, at) => (at < 64 ? byte ^ 1 : byte)),
      );
    }
    const damaged = await restore("--key-file", keyFile);
    expect(damaged.exitCode).not.toBe(0);
    expect(existsSync(join(folder, "r/state.db"))).toBe(false);

    rmSync(copies, { recursive: true });
    writeFileSync(copies, "a file in the place of the folder");
    const failed = await cli("backup", "now");
    expect(failed.exitCode).toBe(1);
    expect(failed.stdout).toContain("disk  state  failed: ");
    expect(failed.stderr).toBe("error: 1 of 1 copies failed\n");
    expect((await listed()).last_error).toContain("listing the copies at target");
    expect((await cli("backup", "target", "list")).stdout).toContain("failing");
  });

  test("a restore that is ended leaves nothing of the copy behind", async () => {
    expect((await add()).exitCode).toBe(0);
    await waitFor("the first copy", async () => (await listed()).last_success_at !== undefined, 60_000);
    const keyFile = await key();
    const asked = Promise.withResolvers<void>();
    const silent = Bun.serve({
      hostname: "127.0.0.1",
      port: 0,
      fetch: () => {
        asked.resolve();
        return new Promise<Response>(() => undefined);
      },
    });
    const [temporary, root] = [join(folder, "tmp"), join(folder, "r")];
    mkdirSync(temporary);
    const words = ["--from", `rest:http://127.0.0.1:${silent.port}/x`, "--key-file", keyFile, "--root", root, "-y"];
    const child = Bun.spawn([executable, "server", "restore", ...words], {
      ...{ env: { ...process.env, TMPDIR: temporary }, stdout: "ignore", stderr: "ignore" },
    });
    await asked.promise;
    expect(readdirSync(temporary)).toHaveLength(1);
    child.kill("SIGTERM");
    expect(await child.exited).not.toBe(0);
    expect(readdirSync(temporary)).toEqual([]);
    await silent.stop(true);
    const unasked = await run(["server", "restore", "--from", copies, "--key-file", keyFile, "--root", root]);
    expect([unasked.exitCode, unasked.stderr]).toEqual([5, expect.stringContaining("add -y to answer yes")]);
  });

  test("a target that cannot be opened is not added, and bad input names the fault", async () => {
    const refused = await cli("backup", "target", "add", "vault", "rest:http://127.0.0.1:9/");
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("opening target rest:http://127.0.0.1:9/ failed: ");
    expect((await cli("backup", "target", "list")).stdout).toBe("no targets; see: berth backup target add --help\n");
    const bad = await berth.call("PUT", "/backups/targets/x", { url: "s3://bucket/a", kep: "1d" });
    expect([bad.status, JSON.stringify(bad.body)]).toEqual([400, expect.stringContaining("kep")]);
    const word = await run(["backup", "state", "--root", berth.root]);
    expect([word.exitCode, word.stderr]).toEqual([2, expect.stringContaining("write ./state")]);
  });
});
