import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { limits } from "../../src/config/config.ts";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { createAssets } from "../../src/base/disk/assets.ts";
import { makeFolders } from "../../src/base/disk/root.ts";
import { createLimit } from "../../src/base/words/limit.ts";
import { testPlugins, writePlugin } from "../support/plugins.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { elapsed, median } from "./median.ts";
import { mustBe, mustHold } from "./proof.ts";
import type { BenchRow } from "./row.ts";

const dispatches = 150;
const rounds = 7;
const blocks = 100;

/** As real plugins are made: a bash file for each command, which reads its input with cat. */
const answer = `#!/bin/bash
input=$(cat)
printf '{"status":"ok","data":{"message":"done","actions":null}}'
`;
/** One job for each block, of the block's name. Each run adds a byte to a file, so that none can be left out. */
const expandInto = (file: string) => `#!/bin/bash
input=$(cat)
printf x >>'${file}'
name=\${input#*'"name":"'}
name=\${name%%'"'*}
printf '{"status":"ok","data":[{"kind":"job","scope":"bench","name":"%s","spec":{"image":"a:1"}}]}' "$name"
`;

/** What the host adds to the processes that it runs: of a command, and of an apply with many blocks. */
export async function run(): Promise<BenchRow[]> {
  const root = mkdtempSync(join(tmpdir(), "bench-plugins-"));
  const layout = layoutOf(root);
  await makeFolders(layout);
  const runs = join(root, "runs");
  const folder = writePlugin(layout, "bench", { commands: { go: answer, expand: expandInto(runs) } });
  const plane = await startPlane({ layout, assets: createAssets(layout.assets), plugins: testPlugins(layout) });
  try {
    return [await dispatch(plane, folder), await expansion(plane, folder, runs)];
  } finally {
    await plane.close();
    rmSync(root, { recursive: true, force: true });
  }
}

/** The bare process: started in a session of its own, as a run has to be, given its input, read to its end. */
async function bare(folder: string, command: string, input: object): Promise<void> {
  const child = Bun.spawn([join(folder, "bin", command)], {
    cwd: folder,
    env: { PATH: "/usr/bin:/bin" },
    stdin: new TextEncoder().encode(`${JSON.stringify(input)}\n`),
    stdout: "pipe",
    stderr: "pipe",
    detached: true,
  });
  const [said, , code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ]);
  if (code !== 0 || !said.includes('"status":"ok"')) throw new Error(`${command} ended with ${code} and said ${said}`);
}

async function dispatch(plane: Plane, folder: string): Promise<BenchRow> {
  const url = `${plane.front.url}/plugin/bench/go`;
  const ask = async () => {
    const response = await fetch(url, { method: "POST", body: '{"args":[]}' });
    if (response.status !== 200) throw new Error(await response.text());
    mustHold("the answer of the command", await response.text(), '"done"');
  };
  for (let round = 0; round < 20; round++) {
    await ask();
    await bare(folder, "go", {});
  }
  const figures: { ours: number; direct: number }[] = [];
  for (let round = 0; round < dispatches; round++) {
    figures.push({ ours: await elapsed(ask), direct: await elapsed(() => bare(folder, "go", {})) });
  }
  const value = median(figures.map(({ ours }) => ours));
  const baseline = median(figures.map(({ direct }) => direct));
  const name = "a command of a bash plugin, against its bare process";
  return { name, value, unit: "ms", baseline, ratio: value / baseline, wanted: "<= 1.5" };
}

async function expansion(plane: Plane, folder: string, runs: string): Promise<BenchRow> {
  const names = Array.from({ length: blocks }, (_, at) => `b${at}`);
  const block = (name: string) => ({ kind: "bench", scope: "bench", name, spec: { size: 1 } });
  const body = JSON.stringify(names.map(block));
  const ask = async () => {
    const response = await fetch(`${plane.front.url}/apply`, { method: "POST", body });
    if (response.status !== 200) throw new Error(await response.text());
    await response.text();
  };
  const spawns = async () => {
    const limit = createLimit(limits.expandAtOnceMax);
    await Promise.all(names.map((name) => limit(() => bare(folder, "expand", block(name)))));
  };
  const expanded = async (work: () => Promise<void>) => {
    writeFileSync(runs, "");
    const ms = await elapsed(work);
    mustBe("blocks that were expanded", statSync(runs).size, blocks);
    return ms;
  };
  await expanded(ask);
  await expanded(spawns);
  const stored = await (await fetch(`${plane.front.url}/apply?kind=job&scope=bench`)).json();
  mustBe("jobs of the blocks", (stored as { data: unknown[] }).data.length, blocks);
  const figures: { ours: number; direct: number }[] = [];
  for (let round = 0; round < rounds; round++) {
    figures.push({ ours: await expanded(ask), direct: await expanded(spawns) });
  }
  const value = median(figures.map(({ ours }) => ours));
  const baseline = median(figures.map(({ direct }) => direct));
  const name = `an apply of ${blocks} blocks, against their bare processes`;
  return { name, value, unit: "ms", baseline, ratio: value / baseline, wanted: "<= 1.3" };
}

if (import.meta.main) console.log(JSON.stringify(await run(), null, 2));
