import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { LogState } from "../../src/observability/api/log-search.ts";
import { deployment, job } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

let berth: Rig;

beforeAll(async () => {
  berth = await rig({ flags: ["--allow-private-hooks"] });
}, 60_000);
afterAll(() => berth.close());

const shell = (script: string) => ({ command: ["sh", "-c", script] });

async function stored(...args: string[]): Promise<string[]> {
  const { stdout, stderr, exitCode } = await berth.cli(["logs", ...args, "--stored", "--no-prefix"]);
  if (exitCode !== 0) throw new Error(stderr);
  return stdout.split("\n").filter((line) => line !== "");
}

async function state(): Promise<LogState> {
  return (await berth.call("GET", "/logs/state")).body.data as unknown as LogState;
}

test("what a removed replica wrote can be searched, with its level, its fields and the lines around", async () => {
  const script =
    'echo before; echo \'{"level":"error","msg":"payment failed","status":502}\'; echo after; exec sleep 1000';
  await berth.apply(deployment("shop", "pay", shell(script)));
  await berth.ready("deployment", "shop", "pay");
  const [old] = await berth.pods("shop", "pay");
  await berth.apply(deployment("shop", "pay", shell("echo second release; exec sleep 1000")));
  await berth.ready("deployment", "shop", "pay");
  await waitFor(
    "the old replica to be gone",
    async () => !(await berth.pods("shop", "pay")).some(({ name }) => name === old?.name),
  );
  expect(await stored("shop/pay", "--level", "error")).toEqual([expect.stringContaining("payment failed")]);
  expect(await stored("shop/pay", "--field", "status=502", "-C", "1")).toEqual([
    "before",
    expect.stringContaining("payment failed"),
    "after",
  ]);
  expect(await stored(old?.name ?? "", "--grep", "AFTER")).toEqual([]);
  expect(await stored(`shop/pay.${old?.replica_id}`, "--grep", "after")).toEqual(["after"]);
  await waitFor("the new release", async () => (await stored("shop/pay")).includes("second release"));
  await berth.cli(["delete", "deployment/shop/pay", "-y"]);
  await waitFor("its pods to be gone", async () => (await berth.pods("shop", "pay")).length === 0);
  expect((await berth.cli(["logs", "shop/pay", "--no-prefix"])).stdout).toContain("after\n");
});

test("the whole output of a run that is over at once, and whose container is gone, is kept", async () => {
  await berth.apply(job("shop", "count", shell("seq 1 5000")));
  expect((await berth.cli(["run", "shop/count"])).exitCode).toBe(0);
  expect(await stored("shop/count")).toEqual(Array.from({ length: 5_000 }, (_, at) => String(at + 1)));
});

test("a server that is killed in a flood loses no line and stores none twice; a quiet pod is not held up", async () => {
  // About 20,000 lines in a second, so that Docker changes its files again and again.
  const some = `awk -v s=$((i*4000)) 'BEGIN { for (n = 1; n <= 4000; n++) print "line " s + n " of the flood, as long as lines are" }'`;
  const flood = `i=0; while [ $i -lt 60 ]; do ${some}; i=$((i+1)); sleep 0.15; done; exec sleep 1000`;
  await berth.apply(
    deployment("shop", "flood", shell(flood)),
    deployment("shop", "quiet", shell("i=0; while true; do i=$((i+1)); echo tick $i; sleep 0.2; done")),
  );
  await berth.ready("deployment", "shop", "flood");
  for (let kill = 0; kill < 3; kill += 1) {
    const { lines_read: before } = await waitFor("the state", state);
    await waitFor("more lines", async () => (await state()).lines_read > before + 5_000);
    await berth.stop("SIGKILL");
    await berth.start();
  }
  const total = 240_000;
  await waitFor(
    "the end of the flood",
    async () => (await stored("shop/flood", "-n", "1")).some((line) => line.startsWith(`line ${total} `)),
    60_000,
  );
  const begun = performance.now();
  const { stdout } = await berth.cli(["logs", "shop/flood", "--stored", "--no-prefix"]);
  const numbers = stdout.split("\n").flatMap((line) => /^line (\d+) of/.exec(line)?.[1] ?? []);
  expect(numbers.length).toBe(total);
  expect(numbers.every((number, at) => Number(number) === at + 1)).toBe(true);
  expect(performance.now() - begun).toBeLessThan(60_000);
  const [last = ""] = await stored("shop/quiet", "-n", "1");
  const again = await waitFor(
    "the next tick",
    async () => {
      const [now = ""] = await stored("shop/quiet", "-n", "1");
      return now !== last && now;
    },
    5_000,
  );
  expect(again).toMatch(/^tick \d+$/);
  const { gaps, damaged, problem, unreadable } = await state();
  expect({ gaps, damaged, problem, unreadable }).toEqual({ gaps: 0, damaged: 0, problem: undefined, unreadable: [] });
});

test("-f goes on from stored lines to new ones", async () => {
  await berth.apply(
    deployment("shop", "tail", shell("i=0; while true; do i=$((i+1)); echo step $i; sleep 0.05; done")),
  );
  await berth.ready("deployment", "shop", "tail");
  await waitFor("some lines", async () => (await stored("shop/tail")).length > 20);
  const response = await fetch("http://localhost/logs/stream?app=shop/tail&follow=true&tail=10000", {
    unix: berth.endpoint.slice(5),
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  let text = "";
  while (text.split("\n").length < 80) text += Buffer.from((await reader.read()).value ?? new Uint8Array()).toString();
  await reader.cancel();
  const steps = text
    .split("\n")
    .slice(0, -1)
    .filter((line) => line !== "")
    .map((line) => (JSON.parse(line) as { text: string }).text);
  expect(steps).toEqual(steps.map((_, at) => `step ${at + 1}`));
});

test("a drain sends new lines to an HTTP server, also those of before a restart of the server", async () => {
  const got: string[] = [];
  const collector = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const lines = (await request.text()).trim().split("\n");
      got.push(...lines.map((line) => (JSON.parse(line) as { text: string }).text));
      return new Response("");
    },
  });
  const url = `http://127.0.0.1:${collector.port}/in`;
  expect((await berth.cli(["drains", "add", "all", "http", url, "--app", "shop/drained"])).exitCode).toBe(0);
  expect((await berth.cli(["drains", "test", "all"])).stdout).toContain("took a test line");
  await berth.apply(deployment("shop", "drained", shell("for i in 1 2 3; do echo number $i; done; exec sleep 1000")));
  await berth.ready("deployment", "shop", "drained");
  await berth.stop("SIGKILL");
  await berth.start();
  await waitFor("the lines", () => got.includes("number 3"));
  expect(got).toEqual(["test line of berth", "number 1", "number 2", "number 3"]);
  await waitFor("the count", async () => (await berth.cli(["drains"])).stdout.includes("3 lines until"));
  await collector.stop(true);
});
