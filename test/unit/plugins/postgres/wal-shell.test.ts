import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "bun:test";

const script = readFileSync(join(import.meta.dir, "../../../../plugins/postgres/wal.sh"), "utf8");
const segment = "00000001000000000000000A";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-wal."));
  mkdirSync(join(folder, "data/pg_wal/archive_status"), { recursive: true });
  writeFileSync(join(folder, "data/pg_wal", segment), "wal".repeat(1000));
  utimesSync(join(folder, "data/pg_wal", segment), 1_000, 1_700_000_000);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface World {
  /** KiB of the disk, and how many of them are free. */
  disk?: [number, number];
  standby?: boolean;
  /** Lines that come after what the pod knows. */
  lines?: string;
}

/** Runs a tool as the server does, with the disk and the server of the test. */
async function wal(words: string[], { disk = [1_000_000, 500_000], standby = false, lines = "" }: World = {}) {
  if (standby) writeFileSync(join(folder, "data/standby.signal"), "");
  const pod = `
say() { printf '%s\\n' "$*" >&2; }
die() { say "$*"; exit 1; }
find_programs() { :; }
own_ordinal() { printf 0; }
pg_controldata() { echo "Database system identifier:           77"; }
df() { printf 'Filesystem\\nx ${disk[0]} 0 ${disk[1]} 0%% /\\n'; }
backups=${folder} PGDATA=${folder}/data standby_signal=${folder}/data/standby.signal
PG_SCOPE=data PG_NAME=main
${lines}`;
  const child = Bun.spawn(["sh", "-c", script.replace(". /berth/lib.sh", () => pod), "sh", ...words], {
    cwd: join(folder, "data"),
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  return { exitCode: await child.exited, stderr: await new Response(child.stderr).text() };
}

const archive = (world?: World, name = segment) => wal(["archive", `pg_wal/${segment}`, name], world);
const outbox = () => readdirSync(join(folder, "point-in-time/outbox")).sort();
const dropped = () => readFileSync(join(folder, "point-in-time/dropped"), "utf8");

test("a full segment is in the outbox, packed, with the time of its last write", async () => {
  expect(await archive()).toEqual({ exitCode: 0, stderr: "" });
  const [name = "", ...others] = outbox();
  expect([name, others]).toEqual([`77.${segment}.0.3000.1700000000000.gz`, []]);
  const packed = readFileSync(join(folder, "point-in-time/outbox", name));
  expect(Buffer.from(Bun.gunzipSync(packed)).toString()).toBe("wal".repeat(1000));
});

test("beyond the limit, on a full disk and far behind, WAL is dropped, and the server goes on all the same", async () => {
  const lines = "PG_OUTBOX_KIB=0";
  const status = join(folder, "data/pg_wal/archive_status");
  for (const world of [{ lines }, { disk: [1_000_000, 40_000] as [number, number] }]) {
    expect(await archive(world)).toMatchObject({ exitCode: 0 });
    expect(outbox()).toEqual([]);
  }
  const [first, name, last, newest, count] = dropped().split(/\s/);
  expect([name, newest, count]).toEqual([segment, segment, "2"]);
  expect(Number(last)).toBeGreaterThanOrEqual(Number(first));
  for (let at = 0; at <= 64; at += 1) writeFileSync(join(status, `${at}.ready`), "");
  expect((await archive()).stderr).toContain("65 segments of WAL wait to be archived");
});

/** KiB of a disk of so many GiB. */
const gib = (count: number) => count * 1024 * 1024;

test.each([
  ["a tenth of a small disk", gib(20), gib(2)],
  ["5 GB of a large one", gib(1_000), 5 * 1024 * 1024],
])("the outbox holds at most %s", async (_, total, most) => {
  const disk: [number, number] = [total, total / 2];
  const held = (kib: number) => `du() { printf '%s\\t%s\\n' ${kib} "$2"; }`;
  expect((await archive({ disk, lines: held(most - 1) })).exitCode).toBe(0);
  expect(outbox()).toHaveLength(1);
  const full = await archive({ disk, lines: held(most) }, segment.replace("A", "B"));
  expect([full.exitCode, outbox().length, full.stderr]).toEqual([0, 1, expect.stringContaining("wait for the target")]);
});

test("the outbox takes nothing once the disk is 95 % full, and the server goes on", async () => {
  expect((await archive({ disk: [1_000_000, 50_000] })).exitCode).toBe(0);
  expect(outbox()).toHaveLength(1);
  const full = await archive({ disk: [1_000_000, 49_999] }, segment.replace("A", "B"));
  expect([full.exitCode, outbox().length, full.stderr]).toEqual([0, 1, expect.stringContaining("nearly full")]);
});

test("what cannot be written for another reason is asked for again", async () => {
  expect((await archive({ lines: "gzip() { return 1; }" })).exitCode).not.toBe(0);
  expect(outbox()).toEqual([]);
});

test("a standby keeps what its primary has not archived, and nothing else", async () => {
  await archive();
  rmSync(join(folder, "point-in-time/outbox"), { recursive: true });
  const newer = "00000001000000000000000B";
  expect((await archive({ standby: true })).exitCode).toBe(0);
  expect(outbox()).toEqual([]);
  await archive({ standby: true }, newer);
  expect(outbox()).toEqual([`77.${newer}.0.3000.0.gz`]);
});

test("a history file says which timeline it left, and where", async () => {
  writeFileSync(
    join(folder, "data/pg_wal", segment),
    "1\t0/5000098\tno recovery target specified\n\n2\t1A/60000A0\tx\n",
  );
  utimesSync(join(folder, "data/pg_wal", segment), 1_000, 1_700_000_000);
  await archive({}, "00000003.history");
  expect(outbox()).toEqual(["77.00000003.history.2.0000001A060000A0.1700000000000.gz"]);
  await archive({}, `${segment}.partial`);
  expect(outbox()).toHaveLength(1);
});

test("a restore gets whole segments, also of one that came in pieces, and an error for one that is not there", async () => {
  mkdirSync(join(folder, "restore"));
  writeFileSync(join(folder, "restore/segment-bytes"), "100\n");
  const pieces = ["one", "two"].map((text) => Bun.gzipSync(Buffer.from(text)));
  writeFileSync(join(folder, `restore/${segment}.gz`), Buffer.concat(pieces));
  expect(await wal(["fetch", segment, "pg_wal/RECOVERYXLOG"])).toMatchObject({ exitCode: 0 });
  const found = readFileSync(join(folder, "data/pg_wal/RECOVERYXLOG"), "latin1");
  expect(found).toBe(`onetwo${"\0".repeat(94)}`);
  expect((await wal(["fetch", "00000001000000000000000F", "pg_wal/RECOVERYXLOG"])).exitCode).toBe(1);
  expect((await wal(["fetch", "00000002.history", "pg_wal/x"])).exitCode).not.toBe(0);
});
