import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { executable } from "../support/executable.ts";
import { type Rig, rig } from "../support/rig.ts";
import { elapsed, median } from "./median.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const rounds = 7;
const folders = 20;
const filesEach = 100;
const fileBytes = 100 * 1024;

/** A source tree of 200 MB that has not changed, and the build of an app that has not changed. */
export async function run(): Promise<BenchRow[]> {
  const berth = await rig();
  const root = mkdtempSync(join(tmpdir(), "berth-bench-source."));
  try {
    return [await redeployRow(berth, join(root, "large")), ...(await buildRows(berth, join(root, "small")))];
  } finally {
    await berth.close();
    rmSync(root, { recursive: true, force: true });
  }
}

const manifest = (name: string) => `kind: deployment\nscope: bench\nname: ${name}\nspec:\n  build: {}\n`;
const dockerfile = 'FROM berth-fixture:1\nCOPY page.html /page.html\nCMD ["sleep", "1000000"]\n';

async function redeployRow(berth: Rig, folder: string): Promise<BenchRow> {
  mkdirSync(folder, { recursive: true });
  for (let n = 0; n < folders; n += 1) {
    mkdirSync(join(folder, `part${n}`));
    for (let m = 0; m < filesEach; m += 1) writeFileSync(join(folder, `part${n}`, `${m}.bin`), randomBytes(fileBytes));
  }
  writeFileSync(join(folder, "page.html"), "large\n");
  writeFileSync(join(folder, "Dockerfile"), dockerfile);
  writeFileSync(join(folder, "berth.yaml"), manifest("large"));
  await ended([executable, "up", "-y"], folder, berth);
  const revision = async () => (await berth.stored("deployment", "bench", "large"))?.metadata?.revision;
  const first = await revision();
  const files = folders * filesEach + 3;
  const times = { ours: [] as number[], hash: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.ours.push(await elapsed(() => ended([executable, "up", "-y"], folder, berth)));
    times.hash.push(await elapsed(async () => mustBe("files that were hashed", hashAll(folder), files)));
  }
  mustBe("the revision after all", await revision(), first);
  // Who does not look at the files is fast, and would miss this.
  writeFileSync(join(folder, "part0/0.bin"), randomBytes(fileBytes));
  await ended([executable, "up", "-y"], folder, berth);
  mustBe("whether a change is deployed", (await revision()) === first, false);
  return row("no-op up of 200 MB / read and hash", times.ours, { baseline: times.hash, wanted: "<= 1.5" });
}

/** What no deploy of a folder can do without. */
function hashAll(folder: string): number {
  let files = 0;
  for (const path of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!path.isFile()) continue;
    createHash("sha256")
      .update(readFileSync(join(path.parentPath, path.name)))
      .digest("hex");
    files += 1;
  }
  return files;
}

async function buildRows(berth: Rig, folder: string): Promise<BenchRow[]> {
  mkdirSync(folder);
  for (let m = 0; m < filesEach; m += 1) writeFileSync(join(folder, `${m}.txt`), randomBytes(1_000));
  writeFileSync(join(folder, "page.html"), "small\n");
  writeFileSync(join(folder, "Dockerfile"), dockerfile);
  writeFileSync(join(folder, "berth.yaml"), manifest("small"));
  const ours = [executable, "build", "-f", "berth.yaml"];
  const byHand = ["docker", "-H", berth.dockerHost, "build", "-q", "-t", "bench-by-hand", "."];
  await ended(ours, folder, berth);
  await ended(byHand, folder, berth);
  const times = { ours: [] as number[], again: [] as number[], hand: [] as number[] };
  for (let round = 0; round < rounds; round += 1) {
    times.ours.push(await elapsed(() => ended(ours, folder, berth)));
    times.again.push(await elapsed(() => ended([...ours, "--again"], folder, berth)));
    times.hand.push(await elapsed(() => ended(byHand, folder, berth)));
  }
  berth.docker(["image", "rm", "-f", "bench-by-hand"]);
  return [
    row("build of an unchanged app / docker build", times.ours, { baseline: times.hand, wanted: "<= 1.2" }),
    row("build --again, all cached / docker build", times.again, { baseline: times.hand, wanted: "<= 2" }),
  ];
}

function row(name: string, times: number[], { baseline, wanted }: { baseline: number[]; wanted: string }): BenchRow {
  const [value, base] = [median(times), median(baseline)];
  return { name, unit: "ms", value, baseline: base, ratio: value / base, wanted };
}

async function ended(argv: string[], cwd: string, berth: Rig): Promise<void> {
  const env = { ...process.env, BERTH_ENDPOINT: berth.endpoint, DOCKER_BUILDKIT: "0" };
  const child = Bun.spawn(argv, { cwd, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const words = await new Response(child.stderr).text();
  if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")} failed: ${words}`);
}
