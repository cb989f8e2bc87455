import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, expect, test } from "bun:test";
import { isAlive } from "../support/wait.ts";

/** Lanes whose items do what must never hold up a run. Not below tmpdir(): Docker's sockets need a short path. */
const checkout = join(import.meta.dir, "../..");
const root = mkdtempSync("/tmp/br-");
afterAll(() => rmSync(root, { recursive: true, force: true }));

const seconds = String(700_000 + Math.floor(Math.random() * 100_000));
const good = 'test("good", () => {});';
const docker = (name: string, ...args: string[]) => `test("${name}", () => {
  const argv = ["docker", "-H", process.env.BERTH_TEST_DOCKER_HOST ?? "", ...${JSON.stringify(args)}];
  expect(Bun.spawnSync(argv).exitCode).toBe(0);
}, 60_000);`;

const items: Record<string, string> = {
  // Killed by its deadline.
  "a-hangs": `test("hangs", () => { Bun.spawnSync(["sleep", "${seconds}"]); Bun.sleepSync(600_000); });`,
  // Neither its output nor its process may be waited for.
  "b-leaves": `test("leaves", () => { Bun.spawn(["setsid", "sh", "-c", "trap '' TERM; sleep ${seconds}"], { stdout: "inherit" }).unref(); });`,
  // A process that has left its session keeps what it had, as the proxy of a server does. Its lane ends it.
  "b-next": `test("finds nothing of the item before", () => {
    expect(Bun.spawnSync(["pgrep", "-f", "sleep ${seconds}"]).stdout.toString()).toBe("");
  });`,
  "c-kills-docker": `test("kills", () => { Bun.spawnSync(["pkill", "-KILL", "dockerd"]); });`,
  // Processes of a frozen container ignore the signal that ends their lane.
  "d-pauses": `${docker("runs", "run", "-d", "--name", "paused", "berth-fixture:1")} ${docker("pauses", "pause", "paused")}
    test("hangs", () => { Bun.sleepSync(600_000); });`,
  "e-good": `${docker("has a daemon again", "ps")} ${good}`,
};

test("items that hang, leave processes, kill Docker or pause a container fail by themselves, and the others run", async () => {
  for (const part of ["test/run", "test/lib", "setup"])
    cpSync(join(checkout, part), join(root, part), { recursive: true });
  writeFileSync(
    join(root, "test/lib/slow-first"),
    "test/contract/a-hangs.test.ts 4\ntest/contract/d-pauses.test.ts 8\n",
  );
  writeFileSync(join(root, "test/lib/suite.sh"), '#!/bin/sh\nset -eu\nexec "$(dirname "$0")/lanes.sh" contract\n');
  for (const [name, text] of Object.entries(items)) {
    const file = join(root, `test/contract/${name}.test.ts`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, `import { expect, test } from "bun:test";\n${text}\n`);
  }
  mkdirSync(join(root, "t"));
  const { PATH = "" } = process.env;
  const env = { PATH: `${dirname(process.execPath)}:${PATH}`, TMPDIR: join(root, "t"), BERTH_TEST_LANES: "1" };
  const run = Bun.spawn([join(root, "test/run")], {
    env: { ...env, BERTH_TEST_RUN_SECONDS: "200" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const said = await new Response(run.stdout).text();
  expect(await run.exited).toBe(1);
  expect(said).toMatch(/^FAIL contract-a-hangs .* 1 failed/m);
  expect(said).toMatch(/^ok {3}contract-b-leaves /m);
  expect(said).toMatch(/^ {4}ended after contract-b-leaves, .*sleep/m);
  expect(said).toMatch(/^ok {3}contract-b-next /m);
  expect(said).toMatch(/^ok {3}contract-c-kills-docker /m);
  expect(said).toContain("the Docker daemon does not answer after the last item");
  expect(said).toMatch(/^FAIL contract-d-pauses .* 1 failed/m);
  expect(said).toMatch(/^ok {3}contract-e-good +2 passed/m);
  expect(said).toMatch(/\n5 passed, 2 failed\n$/);
  expect(readdirSync(join(root, "t"))).toEqual([]);
  expect(processesWith(seconds)).toEqual([]);
  expect(processesWith(root)).toEqual([]);
}, 240_000);

function processesWith(word: string): string[] {
  const found = Bun.spawnSync(["pgrep", "-f", word]).stdout.toString().split("\n").filter(Boolean);
  return found.filter((pid) => isAlive(Number(pid)));
}
