import { executable } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";
import { elapsed, median } from "./median.ts";
import { mustBe } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const rounds = 20;
const bulkRounds = 5;
const bulkLines = 250_000;
const line = "x".repeat(99);

/** The client against the docker CLI: a command there and back, the first byte of a log, and a whole log. */
export async function run(): Promise<BenchRow[]> {
  const berth = await rig();
  try {
    const script = `i=0; while [ $i -lt 25 ]; do yes ${line} | head -n ${bulkLines / 25}; i=$((i+1)); done; sleep 100000`;
    const logs = { max_size: "100m", max_files: 1 };
    await berth.apply(deployment("bench", "exec", { command: ["sh", "-c", script], logs }));
    await berth.ready("deployment", "bench", "exec");
    const pod = (await berth.pods("bench", "exec"))[0]?.name ?? "";
    await waitFor("the log to be written", () => linesOf(berth, pod) === bulkLines, 60_000);
    return [await roundTrip(berth, pod), await firstByte(berth, pod), await throughput(berth, pod)];
  } finally {
    await berth.close();
  }
}

function linesOf(berth: Rig, pod: string): number {
  return berth.docker(["logs", pod]).split("\n").filter(Boolean).length;
}

interface Pair {
  ours: string[];
  docker: string[];
}

async function roundTrip(berth: Rig, pod: string): Promise<BenchRow> {
  const commands = { ours: ["exec", pod, "--", "echo", "ran"], docker: ["exec", pod, "echo", "ran"] };
  const figures = await compare(berth, commands, rounds, async (child) => {
    mustBe("what the command said", await child.stdout.text(), "ran\n");
    await child.exited;
  });
  return { name: "exec there and back", unit: "ms", ...figures, wanted: "<= 1.3" };
}

async function firstByte(berth: Rig, pod: string): Promise<BenchRow> {
  const commands = { ours: ["logs", pod, "-n", "1"], docker: ["logs", "--tail", "1", pod] };
  const figures = await compare(berth, commands, rounds, async (child) => {
    const { value } = await child.stdout.getReader().read();
    mustBe(
      "the last line",
      Buffer.from(value ?? [])
        .toString()
        .trimEnd(),
      line,
    );
  });
  return { name: "first byte of a log", unit: "ms", ...figures, wanted: "<= 1.3" };
}

async function throughput(berth: Rig, pod: string): Promise<BenchRow> {
  const commands = { ours: ["logs", pod], docker: ["logs", pod] };
  const { value, baseline } = await compare(berth, commands, bulkRounds, async (child) => {
    mustBe("bytes of the log", await swallow(child.stdout), bulkLines * (line.length + 1));
  });
  const perSecond = (ms: number) => (bulkLines * (line.length + 1)) / 1e6 / (ms / 1_000);
  const [ours, direct] = [perSecond(value), perSecond(baseline)];
  return { name: "a whole log", value: ours, unit: "MB/s", baseline: direct, ratio: ours / direct, wanted: ">= 1.0" };
}

async function swallow(stream: ReadableStream<Uint8Array>): Promise<number> {
  let bytes = 0;
  for await (const chunk of stream) bytes += chunk.length;
  return bytes;
}

type Child = Bun.Subprocess<"ignore", "pipe", "ignore">;

/** Medians of milliseconds, measured in turns because the machine is shared. */
async function compare(
  berth: Rig,
  { ours, docker }: Pair,
  times: number,
  until: (child: Child) => Promise<unknown>,
): Promise<{ value: number; baseline: number; ratio: number }> {
  const env = { PATH: process.env.PATH ?? "", BERTH_ENDPOINT: berth.endpoint, DOCKER_HOST: berth.dockerHost };
  const measure = async (command: string[]) => {
    let child: Child | undefined;
    const ms = await elapsed(() => {
      child = Bun.spawn(command, { stdin: "ignore", stdout: "pipe", stderr: "ignore", env });
      return until(child);
    });
    mustBe(`exit code of ${command.join(" ")}`, await child?.exited, 0);
    return ms;
  };
  const figures: { ours: number; docker: number }[] = [];
  for (let round = 0; round < times; round += 1) {
    figures.push({ ours: await measure([executable, ...ours]), docker: await measure(["docker", ...docker]) });
  }
  const value = median(figures.map((figure) => figure.ours));
  const baseline = median(figures.map((figure) => figure.docker));
  return { value, baseline, ratio: median(figures.map((figure) => figure.ours / figure.docker)) };
}

if (import.meta.main) console.log(JSON.stringify(await run(), null, 2));
