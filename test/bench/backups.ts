import { closeSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { statefulset } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { startLoader } from "./loader.ts";
import { elapsed, median } from "./median.ts";
import { mustBe, mustHold } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const mib = 1024 * 1024;
/** What a volume holds. With BERTH_BENCH_FILES=1000000 the row of small files is that of issue trackers. */
const volume = { files: 2_000, fileBytes: mib, changedShare: 0.01 };
const smallFiles = Number(process.env["BERTH_BENCH_FILES"] ?? 50_000);
const filesPerFolder = 1_000;
const rounds = 3;
const load = { connections: 8, durationMs: 8_000 };

/** Copies of a volume by the server, against restic by hand on the same files. */
export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "berth-bench-backups."));
  const berth = await rig();
  const hand = byHand(folder);
  try {
    const data = await volumeOf(berth);
    fill(data);
    const before = residentMib(berth.server.pid);
    const [first, firstByHand, second, secondByHand]: number[][] = [[], [], [], []];
    for (let round = 0; round < rounds; round++) {
      await hand("init", round);
      first?.push(await firstCopy(berth, folder, round));
      firstByHand?.push(await elapsed(() => hand("backup", round, data)));
      change(data, round);
      second?.push(await elapsed(() => copyNow(berth)));
      secondByHand?.push(await elapsed(() => hand("backup", round, data)));
    }
    const after = residentMib(berth.server.pid);
    return [
      timeRow("first copy of 2 GB", first ?? [], firstByHand ?? [], "<= 1.11"),
      timeRow("copy after 1 % changed", second ?? [], secondByHand ?? [], "<= 1.2"),
      {
        ...{ name: "memory of the server after copies", value: after, unit: "MiB", baseline: before },
        ...{ ratio: after / before, wanted: `value <= ${Math.round(before + 10)}` },
      },
      await servedRow(berth, data),
      await smallFilesRow(berth, data, hand),
    ];
  } finally {
    await berth.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function volumeOf(berth: Rig): Promise<string> {
  const claims = [{ name: "data", mount_path: "/data" }];
  const answer = await berth.apply(statefulset("bench", "db", { volume_claims: claims, backup: { every: "1d" } }));
  mustBe(`answer to the apply: ${answer.body.error}`, answer.status, 200);
  await berth.ready("statefulset", "bench", "db");
  return berth.docker(["volume", "inspect", "-f", "{{.Mountpoint}}", `${berth.prefix}-bench-db-data-0`]).trim();
}

/** Half of each file repeats itself, as text does. */
function fill(data: string): void {
  for (let index = 0; index < volume.files; index++) write(join(data, `file-${index}`), index + 1);
}

function write(path: string, seed: number): void {
  const bytes = new Uint8Array(volume.fileBytes);
  crypto.getRandomValues(bytes.subarray(0, 65_536));
  for (let at = 65_536; at < bytes.length / 2; at += 65_536) crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  bytes.fill(seed % 251, bytes.length / 2);
  const file = openSync(path, "w");
  writeSync(file, bytes);
  closeSync(file);
}

function change(data: string, round: number): void {
  const changed = volume.files * volume.changedShare;
  for (let index = 0; index < changed; index++) write(join(data, `file-${round * changed + index}`), index);
}

/** Into a repository of its own, with the time that berth takes to make it left out, as `restic init` is by hand. */
async function firstCopy(berth: Rig, folder: string, round: number): Promise<number> {
  if (round > 0) await cli(berth, "backup", "target", "remove", `disk${round - 1}`, "-y");
  await cli(berth, "backup", "target", "add", `disk${round}`, join(folder, `ours-${round}`));
  return elapsed(() => copyNow(berth));
}

async function copyNow(berth: Rig): Promise<void> {
  mustHold("what was copied", await cli(berth, "backup", "now", "bench/db"), "bench/db/data/0");
}

async function cli(berth: Rig, ...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await berth.cli(args);
  mustBe(`exit code of ${args.join(" ")}: ${stderr}`, exitCode, 0);
  return stdout;
}

/** restic as a person would run it, into a repository of each round. */
function byHand(folder: string) {
  // What the tests set for programs in Go is not what a person has.
  const own = { GOGC: undefined, GOMEMLIMIT: undefined, RESTIC_PASSWORD: "by hand" };
  const env = { ...process.env, ...own, RESTIC_CACHE_DIR: join(folder, "cache") };
  return async (command: "init" | "backup", round: number, cwd = folder): Promise<void> => {
    const words = [
      "restic",
      "-q",
      "-r",
      join(folder, `hand-${round}`),
      command,
      ...(command === "backup" ? ["."] : []),
    ];
    const child = Bun.spawn(words, { env, cwd, stdout: "ignore", stderr: "inherit" });
    mustBe(`exit code of restic ${command}`, await child.exited, 0);
  };
}

function timeRow(name: string, ours: number[], byHand: number[], wanted: string): BenchRow {
  const [value, baseline] = [median(ours), median(byHand)];
  return { name, value, unit: "ms", baseline, ratio: value / baseline, wanted };
}

/** Requests a second of another app on the machine while a copy of everything is made, against the same while none is. */
async function servedRow(berth: Rig, data: string): Promise<BenchRow> {
  const app = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("fine") });
  const loader = startLoader();
  try {
    const order = { ...load, hostname: "127.0.0.1", port: app.port ?? 0, path: "/" };
    await loader.perSecond({ ...order, durationMs: 2_000 });
    const baseline = await loader.perSecond(order);
    fill(data);
    let isCopying = true;
    const copy = copyNow(berth).finally(() => {
      isCopying = false;
    });
    const value = await loader.perSecond(order);
    mustBe("whether the copy was under way all the time", isCopying, true);
    await copy;
    const name = "requests that an app serves beside a copy";
    return { name, value, unit: "a second", baseline, ratio: value / baseline, wanted: ">= 0.9" };
  } finally {
    loader.stop();
    app.stop(true);
  }
}

/** The most memory that restic takes for many small files, ours against by hand. */
async function smallFilesRow(berth: Rig, data: string, hand: ReturnType<typeof byHand>): Promise<BenchRow> {
  for (let index = 0; index < smallFiles; index += filesPerFolder) {
    const folder = join(data, `small-${index / filesPerFolder}`);
    mkdirSync(folder, { recursive: true });
    for (let file = 0; file < Math.min(filesPerFolder, smallFiles - index); file++)
      await Bun.write(join(folder, `${file}`), `${index + file}`);
  }
  const value = await peakOf(copyNow(berth));
  const baseline = await peakOf(hand("backup", 0, data));
  const name = `memory of restic, ${smallFiles} small files`;
  return { name, value, unit: "MiB", baseline, ratio: value / baseline, wanted: "value <= 400" };
}

/** The largest resident size in MiB of any restic that runs until `work` is over. Source: VmHWM in proc(5). */
async function peakOf(work: Promise<void>): Promise<number> {
  let [peak, isOver] = [0, false];
  const watched = work.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name)))
      peak = Math.max(peak, restics(Number(pid)));
    await Bun.sleep(50);
  }
  await watched;
  return peak;
}

function restics(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, "utf8");
    // One that has just ended says nothing of its memory.
    return (/^Name:\s+restic$/m.test(status) && mibOf(status, "VmHWM")) || 0;
  } catch {
    return 0;
  }
}

const residentMib = (pid: number) => mibOf(readFileSync(`/proc/${pid}/status`, "utf8"), "VmRSS");

function mibOf(status: string, field: string): number {
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1] ?? Number.NaN) / 1_024;
}
