import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { version } from "../../package.json";
import { executable } from "../support/executable.ts";
import { elapsed, median } from "./median.ts";
import { mustHold } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const rounds = 30;

/** The start of the client against that of a compiled program which does nothing: what no command can be faster than. */
export async function run(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), "berth-bench-start."));
  try {
    const empty = await compiledNothing(folder);
    const ways = { ours: [executable, "--version"], empty: [empty], curl: ["curl", "--version"] };
    mustHold("berth --version", Bun.spawnSync(ways.ours).stdout.toString(), `berth ${version} `);
    mustHold("curl --version", Bun.spawnSync(ways.curl).stdout.toString(), "curl ");
    const wall = { ours: [] as number[], empty: [] as number[], curl: [] as number[] };
    const cpu = { ours: [] as number[], empty: [] as number[], curl: [] as number[] };
    for (let round = 0; round < rounds; round += 1) {
      for (const way of ["ours", "empty", "curl"] as const) {
        wall[way].push(await elapsed(async () => cpu[way].push(await cpuMsOf(ways[way]))));
      }
    }
    const row = (name: string, values: number[], baselines: number[], unit: string, wanted: string): BenchRow => {
      const [value, baseline] = [median(values), median(baselines)];
      return { name, value, unit, baseline, ratio: value / baseline, wanted };
    };
    return [
      row("berth --version / an empty compiled program", wall.ours, wall.empty, "ms", "<= 2.0"),
      row("berth --version / an empty compiled program", cpu.ours, cpu.empty, "ms CPU", "<= 2.0"),
      row("an empty compiled program / curl --version", cpu.empty, cpu.curl, "ms CPU", "for comparison"),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function compiledNothing(folder: string): Promise<string> {
  writeFileSync(join(folder, "empty.ts"), "export {};\n");
  const outfile = join(folder, "empty");
  const build = await Bun.build({
    entrypoints: [join(folder, "empty.ts")],
    compile: { outfile },
    bytecode: true,
    minify: true,
  });
  if (!build.success) throw new Error("the empty program was not built");
  return outfile;
}

/** Milliseconds of CPU, those of the kernel too. */
async function cpuMsOf(argv: string[]): Promise<number> {
  const child = Bun.spawn(argv, {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    env: { PATH: process.env.PATH ?? "" },
  });
  if ((await child.exited) !== 0) throw new Error(`${argv.join(" ")} failed`);
  return Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1000;
}
