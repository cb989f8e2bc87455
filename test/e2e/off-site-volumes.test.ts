import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BackupRun } from "../../src/backups/api/backups.ts";
import type { Spec } from "../../src/orchestration/api/manifest.ts";
import { statefulset } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(240_000);

/** What is due is looked for each 10 s, and a copy is several commands of restic. */
const copyMs = 90_000;

/** Writes a, then z: at each moment a is z, or one more. Between the two in the order of names there is much to read. */
const writer = `
  mkdir -p /data/many /data/cache; for i in $(seq 300); do echo $i >/data/many/$i; done; echo x >/data/cache/x
  i=0; while true; do i=$((i+1)); echo $i >/data/.a; mv /data/.a /data/a; echo $i >/data/.z; mv /data/.z /data/z; sleep 0.01; done`;

/** Volumes of apps that run, at a folder as the target, and the restic of this machine that brings them back. */
describe("copies of volumes outside of the machine", () => {
  let berth: Rig;
  let folder: string;
  let copies: string;
  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), "berth-volumes."));
    copies = join(folder, "copies");
    berth = await rig();
    expect((await cli("backup", "target", "add", "disk", copies, "--every", "1d")).exitCode).toBe(0);
  });
  afterEach(async () => {
    await berth?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const cli = (...args: string[]) => berth.cli(args);
  const db = (backup: object, more: Spec = {}) =>
    statefulset("shop", "db", {
      command: ["sh", "-c", writer],
      volume_claims: [{ name: "data", mount_path: "/data" }],
      ...{ stop_grace: "0s", backup, ...more },
    });
  const container = () => {
    const names = berth.docker([
      "ps",
      "--filter",
      `label=${berth.prefix}.name=db`,
      "--format",
      "{{.Names}} {{.State}}",
    ]);
    return names.trim();
  };
  const mountpoint = () =>
    berth.docker(["volume", "inspect", "--format", "{{.Mountpoint}}", `${berth.prefix}-shop-db-data-0`]).trim();
  const runs = async (): Promise<BackupRun[]> => {
    const { body } = await berth.call("GET", "/backups/runs");
    return (body.data as unknown as { runs: BackupRun[] }).runs.filter(({ what }) => what !== "state");
  };
  /** The restic of this machine, as somebody runs it by hand who has only the key. */
  const restic = async (...words: string[]) => {
    const { stdout } = await cli("backup", "key");
    const repository = join(copies, stdout.split(".")[0] ?? "");
    const env = { ...process.env, RESTIC_REPOSITORY: repository, RESTIC_PASSWORD: stdout.trim() };
    const done = Bun.spawnSync(["restic", "--no-cache", "--no-lock", ...words], { env, stderr: "pipe" });
    if (!done.success) throw new Error(`restic ${words.join(" ")}: ${done.stderr.toString()}`);
    return done.stdout.toString();
  };
  const restored = async () => {
    const place = mkdtempSync(join(folder, "restored."));
    await restic("restore", "latest", "--tag", "volume,scope=shop,name=db,claim=data,ordinal=0", "--target", place);
    return place;
  };
  /** Id of the newest copy of a volume: the number of copies falls when a removal is due. */
  const newest = async () => {
    const rows = JSON.parse(await restic("snapshots", "--json", "--tag", "volume")) as { id: string; time: string }[];
    return rows.toSorted((one, other) => (one.time < other.time ? 1 : -1))[0]?.id;
  };
  const tags = async () => {
    const rows = JSON.parse(await restic("snapshots", "--json")) as { tags: string[] }[];
    const others = /berth-state|generation|volume-first-pass/;
    const copies = rows.map((row) => row.tags).filter((row) => !others.test(row.join()));
    // Owner and mode of the volume's own folder depend on the machine.
    return copies.map((row) => row.filter((tag) => !/^root=\d+\.\d+\.\d+$/.test(tag)));
  };
  const numbers = (place: string) => ["a", "z"].map((name) => Number(readFileSync(join(place, name), "utf8")));
  const isWritten = () =>
    waitFor("the app to write", () => existsSync(join(mountpoint(), "z")) && Number(numbers(mountpoint())[1]) > 10);
  const goesOn = async () => {
    const before = numbers(mountpoint())[0] ?? 0;
    await waitFor("the app to go on", () => (numbers(mountpoint())[0] ?? 0) > before);
  };

  test("an app that writes all the time is copied as it was at one moment, at its time and on demand", async () => {
    await berth.apply(db({ exclude: ["cache/**"], keep: "2d" }));
    await berth.ready("statefulset", "shop", "db");
    await isWritten();
    const data = mountpoint();
    const sh = (script: string) => expect(Bun.spawnSync(["sh", "-ec", script], { cwd: data }).success).toBe(true);
    sh(
      "truncate -s 64M holes; printf end >>holes; echo one >first; ln first second; chown 1234:4321 first; chmod 4751 first",
    );
    sh("ln -s a link; mkfifo pipe; setcap cap_net_bind_service+ep many/1 2>/dev/null || cp many/1 many/1b");
    const capabilities = (place: string) =>
      Bun.spawnSync(["sh", "-c", "getcap many/1 || true"], { cwd: place }).stdout.toString();
    await waitFor("the first copy, by itself", async () => (await runs()).length > 0, copyMs);
    const now = await cli("backup", "now", "shop/db");
    expect(now).toMatchObject({ exitCode: 0, stderr: "" });
    expect(now.stdout).toMatch(/ {2}disk {2}shop\/db\/data\/0 {2}[0-9a-f]{8} {2}.*, paused for \d+\.\d s\n$/);
    await goesOn();

    const place = await restored();
    const [a = 0, z = 0] = numbers(place);
    expect(a - z).toBeOneOf([0, 1]);
    expect(readdirSync(join(place, "many")).length).toBe(readdirSync(join(data, "many")).length);
    expect([existsSync(join(place, "cache/x")), readFileSync(join(place, "holes")).length]).toEqual([
      false,
      64 * 2 ** 20 + 3,
    ]);
    const first = statSync(join(place, "first"));
    expect([first.mode & 0o7777, first.uid, first.gid, first.nlink]).toEqual([0o4751, 1234, 4321, 2]);
    expect(statSync(join(place, "second")).ino).toBe(first.ino);
    expect(capabilities(place)).toBe(capabilities(data));

    // One tag for each fact, and nothing of the first passes. Of copies of one hour, the newest stays once a removal was due.
    const wanted = ["volume", "scope=shop", "kind=statefulset", "name=db", "claim=data", "ordinal=0"];
    const left = await tags();
    expect(left.length).toBeWithin(1, 3);
    for (const row of left) expect(row).toEqual(wanted);
    const listed = await cli("backup", "list");
    expect(listed.stdout).toContain("shop/db/data/0");
    expect((await runs()).map(({ what, error }) => [what, error])).toEqual(
      Array(2).fill(["shop/db/data/0", undefined]),
    );
  });

  test("a server that is killed in the pause leaves nothing paused after its next start", async () => {
    await berth.apply(db({}));
    await berth.ready("statefulset", "shop", "db");
    await isWritten();
    await waitFor("the first copy", async () => (await runs()).length > 0, copyMs);
    const asked = cli("backup", "now", "shop/db").catch(() => undefined);
    await waitFor("the pause", () => container().endsWith("paused"), copyMs);
    await berth.stop("SIGKILL");
    await asked;
    expect(container()).toEndWith("paused");
    await berth.start();
    await waitFor("the app to run", () => container().endsWith("running"));
    await goesOn();
    await berth.ready("statefulset", "shop", "db");
    // It first asks the targets whether another server has taken its place.
    await waitFor("a copy", async () => (await cli("backup", "now", "shop/db")).exitCode === 0, copyMs);
    expect((await tags()).every((row) => row[0] === "volume")).toBe(true);
  });

  test("an app that is stopped is copied without a pause, and one whose target is away goes on writing", async () => {
    await berth.apply(db({}));
    await berth.ready("statefulset", "shop", "db");
    await isWritten();
    await waitFor("the first copy", async () => (await runs()).length > 0, copyMs);
    await berth.apply(db({}, { replicas: 0 }));
    await waitFor("the app to stop", () => container() === "");
    const last = numbers(mountpoint());
    const stopped = await cli("backup", "now", "shop/db");
    expect([stopped.exitCode, stopped.stdout.includes("paused")]).toEqual([0, false]);
    expect(numbers(await restored())).toEqual(last);

    await berth.apply(db({}));
    await berth.ready("statefulset", "shop", "db");
    renameSync(copies, `${copies}.away`);
    const away = await cli("backup", "now", "shop/db");
    expect([away.exitCode, away.stderr]).toEqual([1, "error: 1 of 1 copies failed\n"]);
    expect((await cli("backup", "target", "list")).stdout).toMatch(
      / failing\n(?:.*\n)*disk: shop\/db\/data\/0: (?:listing the copies|copying) /,
    );
    expect((await cli("backup", "list")).stdout).toMatch(/^disk: listing the copies /);
    await goesOn();
    const [newest] = await runs();
    expect([newest?.snapshot, newest?.paused_ms]).toEqual([undefined, undefined]);
    expect(newest?.error).toContain("it holds no copies of this server; is it mounted?");
  });

  test("pre and post make an app quiet in its own way; what fails in them is said with its words", async () => {
    const pre = ["sh", "-c", "echo closed >/data/door; cp /data/a /data/copied"];
    const post = ["sh", "-c", "echo open >/data/door"];
    await berth.apply(db({ pre, post }));
    await berth.ready("statefulset", "shop", "db");
    await isWritten();
    const now = await cli("backup", "now", "shop/db");
    expect([now.exitCode, now.stdout.includes("paused")]).toEqual([0, false]);
    const door = (place: string) => readFileSync(join(place, "door"), "utf8").trim();
    expect(door(await restored())).toBe("closed");
    await waitFor("the door to be open", () => door(mountpoint()) === "open");

    const before = await newest();
    await berth.apply(db({ pre: ["sh", "-c", "echo no room; exit 3"], post }));
    const refused = await cli("backup", "now", "shop/db");
    expect(refused.exitCode).toBe(1);
    expect(refused.stdout).toContain("failed: pre of the field backup failed: exit code 3; it printed last: no room");
    expect(await newest()).toBe(before);

    await berth.apply(db({ pre, post: ["false"] }));
    const unclosed = await cli("backup", "now", "shop/db");
    expect(unclosed.stdout).toMatch(
      /failed: the copy [0-9a-f]{8} was made, but post of the field backup failed: exit code 1/,
    );
  });

  test("an app that goes with its volumes is copied once more, or stays", async () => {
    await berth.apply(db({}));
    await berth.ready("statefulset", "shop", "db");
    await isWritten();
    expect((await cli("describe", "shop/db")).stdout).toContain("every 24h to every target");
    expect((await cli("status")).stdout).toContain("1 of 1 apps with volumes are copied");
    renameSync(copies, `${copies}.away`);
    const refused = await cli("delete", "shop/db", "--prune", "-y");
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toContain("no last copy of shop/db, so nothing was deleted: ");
    expect(refused.stderr).toContain("; --no-backup deletes all the same");
    await goesOn();
    rmSync(copies, { recursive: true, force: true });
    renameSync(`${copies}.away`, copies);
    const before = await newest();
    expect((await cli("delete", "shop/db", "--prune", "-y")).exitCode).toBe(0);
    expect(await newest()).not.toBe(before);
    expect((await cli("backup", "list")).stdout).toContain("shop/db/data/0");
    expect(numbers(await restored())[1]).toBeGreaterThan(10);
  });

  test("bad words name the way out", async () => {
    await berth.apply(statefulset("shop", "db", { volume_claims: [{ name: "data", mount_path: "/data" }] }));
    await berth.ready("statefulset", "shop", "db");
    expect((await cli("describe", "shop/db")).stdout).toContain("not protected: add `backup: {}`");
    const unprotected = await cli("backup", "now", "shop/db");
    expect([unprotected.exitCode, unprotected.stderr]).toEqual([
      1,
      "error: shop/db is not copied: its manifest has no field backup: add `backup: {}`\n",
    ]);
    expect((await cli("backup", "now", "shop/nothing")).stderr).toContain('no app "shop/nothing" with volumes');
    await berth.apply(db({ target: "nowhere" }));
    expect((await cli("backup", "now", "shop/db")).stderr).toContain('its target "nowhere" is not there');
  });
});
