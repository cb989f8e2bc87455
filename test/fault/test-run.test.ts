import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "bun:test";
import { isAlive, waitFor } from "../support/wait.ts";

/** test/run with a suite of the test's own: it always ends, and nothing that it started outlives it. */
const checkout = join(import.meta.dir, "../..");
const above = mkdtempSync(join(tmpdir(), "berth-run."));
afterAll(() => rmSync(above, { recursive: true, force: true }));

/** A checkout that holds only test/run and a suite of these lines; `$1` is the summary. */
function startRun(suite: string, env: Record<string, string> = {}) {
  const root = mkdtempSync(join(above, "checkout."));
  for (const part of ["test/run", "test/lib", "setup"])
    cpSync(join(checkout, part), join(root, part), { recursive: true });
  writeFileSync(join(root, "test/lib/suite.sh"), `#!/bin/sh\nset -eu\n${suite}\n`);
  const temporary = join(root, "tmp");
  mkdirSync(temporary);
  // A shell cannot trap a signal that was ignored when it began, as it is below nohup.
  const child = Bun.spawn(["env", "--default-signal=INT", join(root, "test/run")], {
    env: { PATH: process.env.PATH ?? "", TMPDIR: temporary, OUT: root, ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const pid = async (name: string) =>
    await waitFor(`the pid of ${name}`, () => hostPid(readFileSync(join(root, name), "utf8").trim()));
  return { child, pid, left: () => readdirSync(temporary), said: new Response(child.stdout).text() };
}

/** The process whose arguments hold the word; ids inside a namespace mean nothing outside. */
function hostPid(word: string): number | undefined {
  // The file that it is read from exists a moment before it is written.
  if (word === "") return undefined;
  const found = readdirSync("/proc").find(
    (name) => /^\d+$/.test(name) && cmdline(name).split("\0").includes(word) && isAlive(Number(name)),
  );
  return found === undefined ? undefined : Number(found);
}

function cmdline(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

const word = () => String(600_000 + Math.floor(Math.random() * 100_000));

test("a run that counts its tests ends with their sum", async () => {
  const run = startRun('echo working; echo "3 0 1" >>"$1"; echo "4 0 0" >>"$1"');
  expect(await run.said).toBe("working\n7 passed, 0 failed, 1 skipped\n");
  expect(await run.child.exited).toBe(0);
  expect(run.left()).toEqual([]);
});

test("a suite that cannot do its work is a failure, and its reason is printed", async () => {
  const run = startRun('echo "3 0 0" >>"$1"; echo "error: no network" >&2; exit 7');
  expect(await run.said).toMatch(/^error: no network\n.*exit code 7\n3 passed, 1 failed\n$/s);
  expect(await run.child.exited).toBe(1);
});

test("at its deadline a run is killed with everything that it started, and says what it knows", async () => {
  const seconds = word();
  const run = startRun(
    `echo "3 0 0" >>"$1"; echo ${seconds} >"$OUT/deep"; trap "" TERM HUP INT
    unshare --pid --fork --kill-child setsid sh -c 'trap "" TERM; sleep ${seconds}'`,
    { BERTH_TEST_RUN_SECONDS: "2" },
  );
  const deep = await run.pid("deep");
  expect(await run.said).toMatch(/the deadline of 2 s has passed.*\n3 passed, 1 failed\n$/s);
  expect(await run.child.exited).toBe(1);
  expect(isAlive(deep)).toBe(false);
  expect(run.left()).toEqual([]);
});

test("a process that is left behind holds neither the end of the run nor its output", async () => {
  const seconds = word();
  const run = startRun(`setsid nohup sleep ${seconds} & echo ${seconds} >"$OUT/left"; sleep 1; echo "1 0 0" >>"$1"`);
  const left = await run.pid("left");
  expect(await run.said).toMatch(/\n?1 passed, 0 failed\n$/);
  expect(await run.child.exited).toBe(0);
  expect(isAlive(left)).toBe(false);
});

test.each(["SIGTERM", "SIGINT", "SIGKILL"] as const)(
  "%s ends a run with everything that it started",
  async (signal) => {
    const seconds = word();
    const run = startRun(`echo ${seconds} >"$OUT/left"; setsid sleep ${seconds} & wait`);
    const left = await run.pid("left");
    run.child.kill(signal);
    await run.said;
    expect(await run.child.exited).not.toBe(0);
    await waitFor("its processes to be gone", () => !isAlive(left));
    if (signal !== "SIGKILL") expect(run.left()).toEqual([]);
  },
);

test("a frozen container does not hold up the end of a run", async () => {
  const [freezer, freeze] = existsSync("/sys/fs/cgroup/freezer")
    ? ["/sys/fs/cgroup/freezer", "echo FROZEN >$group/freezer.state"]
    : ["/sys/fs/cgroup", "echo 1 >$group/cgroup.freeze"];
  const group = join(freezer, "docker", crypto.randomUUID().replaceAll("-", "").repeat(2));
  const seconds = word();
  const run = startRun(
    `group=${group}; mkdir -p "$group" "$BERTH_TEST_DIR/docker/data/containers/\${group##*/}"
    sleep ${seconds} & echo $! >$group/cgroup.procs; ${freeze}; echo ${seconds} >"$OUT/frozen"; wait`,
    { BERTH_TEST_RUN_SECONDS: "2" },
  );
  const frozen = await run.pid("frozen");
  expect(await run.said).toMatch(/the deadline of 2 s has passed.*\n0 passed, 1 failed\n$/s);
  expect(isAlive(frozen)).toBe(false);
  expect([existsSync(group), ...run.left()]).toEqual([false]);
});

test("nothing in a run can read the caller's input", async () => {
  const run = startRun('readlink /proc/self/fd/0; echo "1 0 0" >>"$1"');
  expect(await run.said).toBe("/dev/null\n1 passed, 0 failed\n");
});
