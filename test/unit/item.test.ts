import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "bun:test";

const checkout = join(import.meta.dir, "../..");
const dir = mkdtempSync(join(tmpdir(), "berth-item."));
afterAll(() => rmSync(dir, { recursive: true }));

const counts = (tests: number, failures: number, skipped: number) =>
  `<?xml version="1.0"?>\n<testsuites name="bun test" tests="${tests}" assertions="9" failures="${failures}" skipped="${skipped}">\n` +
  `  <testsuite name="a" tests="99" failures="98" skipped="97"/>\n</testsuites>`;

const sources = ["setup/say.sh", "test/lib/watch.sh", "test/lib/item.sh"].map((file) => `. "$1/${file}"`).join("; ");

/** Runs lines of sh after the functions of items; `$1` is the checkout. */
function shell(lines: string, args: readonly string[], cwd = dir, extra: Record<string, string> = {}) {
  const env = { ...process.env, ...extra, BERTH_TEST_DIR: join(cwd, "out"), BERTH_TEST_ITEM_SECONDS: undefined };
  const run = Bun.spawnSync(["sh", "-c", `set -eu; ${sources}; ${lines}`, "sh", checkout, ...args], { env, cwd });
  expect(run.stderr.toString()).toBe("");
  return run.stdout.toString().trim();
}

/** What an item adds to the sum: passed, failed, skipped. */
function count(report: string | undefined, exitCode: number): string {
  const file = join(dir, "report.xml");
  rmSync(file, { force: true });
  if (report !== undefined) writeFileSync(file, report);
  return shell('count_item "$2" "$3"', [file, String(exitCode)]);
}

test("an item is counted by the whole report, not by one of its suites", () => {
  expect(count(counts(10, 0, 0), 0)).toBe("10 0 0");
  expect(count(counts(10, 2, 3), 1)).toBe("5 2 3");
});

test("an item that crashed, or ran no test, is a failure", () => {
  expect(count(counts(10, 0, 0), 139)).toBe("10 1 0");
  expect(count(undefined, 1)).toBe("0 1 0");
  expect(count("", 124)).toBe("0 1 0");
  expect(count(counts(0, 0, 0), 0)).toBe("0 1 0");
});

/** A folder with these test files, by path below test/. */
function world(files: Record<string, string>, slowFirst = "") {
  const root = mkdtempSync(join(dir, "world."));
  mkdirSync(join(root, "test/lib"), { recursive: true });
  writeFileSync(join(root, "test/lib/slow-first"), slowFirst);
  for (const [name, text] of Object.entries(files)) {
    const file = join(root, "test", `${name}.test.ts`);
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, `import { expect, test } from "bun:test";\n${text}\n`);
  }
  return root;
}

const good = 'test("good", () => {});';
const bad = 'test("bad", () => expect(1).toBe(2));';
const once = `${good}
  import { existsSync, writeFileSync } from "node:fs";
  test("once", () => { const seen = existsSync("seen"); writeFileSync("seen", ""); expect(seen).toBe(true); });`;

test("the queue holds each file once, the slow ones first, and rings without an engine as a whole", () => {
  const files = { "e2e/a": good, "e2e/deep/b": good, "fault/c": good, "unit/d": good, "unit/e": good };
  const slow = "# slow ones\ntest/fault/c.test.ts 500\ntest/e2e/gone.test.ts 500\ntest/unit 700\n";
  const root = world(files, slow);
  const queue = join(root, "out/queue");
  shell("fill_queue unit fault e2e", [], root);
  const items = () =>
    readdirSync(queue)
      .toSorted()
      .map((name) => `${name} ${readFileSync(join(queue, name), "utf8").trim()}`);
  expect(items()).toEqual([
    "101-fault-c fault 500 test/fault/c.test.ts",
    "102-unit unit 700 test/unit",
    "103-e2e-a e2e 450 test/e2e/a.test.ts",
    "104-e2e-deep-b e2e 450 test/e2e/deep/b.test.ts",
  ]);
  rmSync(queue, { recursive: true });
  shell("fill_queue e2e", [], root);
  expect(items()).toHaveLength(2);
});

test("lanes that take items at the same time take each of them once", () => {
  const root = world(Object.fromEntries(Array.from({ length: 60 }, (_, at) => [`e2e/n${at}`, good])));
  const take = 'while take_item "$lane"; do echo "${item##*/}"; done';
  const taken = shell(`fill_queue e2e; for lane in 1 2 3 4; do (${take}) & done; wait`, [], root).split("\n");
  expect(taken).toHaveLength(60);
  expect(new Set(taken).size).toBe(60);
});

let lastRoot = "";
let repeats = 1;

/** The sum of a run with its second looks, and what of it is unsteady. */
function looked(ring: string, files: Record<string, string>, env: Record<string, string> = {}) {
  const named = Object.entries(files).map(([name, text]) => [`${ring}/${name}`, text] as const);
  const root = world(Object.fromEntries(named));
  lastRoot = root;
  const work = 'while take_item lane; do run_item "$item" >/dev/null || true; done';
  const sum = "awk '{ p += $1; f += $2; s += $3 } END { print p, f, s }' out/results/*.count";
  const looks = `queue_second_looks; ${work}; end_second_looks; repeats=${repeats}; queue_repeats; ${work}; end_repeats`;
  const lines = `fill_queue "$2"; ${work}; ${looks}; ${sum}`;
  const counted = shell(lines, [ring], root, env);
  const unsteady = readdirSync(join(root, "out/results")).filter((name) => name.endsWith(".unsteady"));
  return [counted, ...unsteady];
}

test("a test that passes by itself is unsteady; one that fails again has failed", () => {
  expect(looked("e2e", { good, once })).toEqual(["3 0 0", "e2e-once.unsteady"]);
  expect(looked("e2e", { good, once, bad })).toEqual(["3 1 0", "e2e-once.unsteady"]);
});

test("a whole ring that needs no engine gets a second look", () => {
  expect(looked("unit", { good, once })).toEqual(["3 0 0", "unit.unsteady"]);
});

/** Fails in these of its runs, counted from 1; each run adds a line to the file "runs". */
const failing = (...runs: number[]) => `
  import { appendFileSync, readFileSync } from "node:fs";
  test("now and then", () => {
    appendFileSync("runs", "run\\n");
    const run = readFileSync("runs", "utf8").split("\\n").length - 1;
    expect(${JSON.stringify(runs)}).not.toContain(run);
  });`;
const runsOf = (root: string) => readFileSync(join(root, "runs"), "utf8").split("\n").length - 1;

test("what passed the second look runs ten more times, and has failed with the first failure of these", () => {
  repeats = Number(shell('echo "$repeats"', []));
  expect(repeats).toBe(10);
  expect(looked("e2e", { a: failing(1) })).toEqual(["1 0 0", "e2e-a.unsteady"]);
  expect(runsOf(lastRoot)).toBe(12);
  expect(looked("e2e", { a: failing(1, 5) })).toEqual(["0 1 0"]);
  expect(runsOf(lastRoot)).toBe(5);
  expect(readFileSync(join(lastRoot, "out/results/e2e-a.again"), "utf8")).toBe("e2e-a@3\n");
  expect(readFileSync(join(lastRoot, "out/results/e2e-a@3.log"), "utf8")).toContain("(fail) now and then");
  repeats = 1;
});

test("of a whole ring only the files that failed run again", () => {
  const counted = `${good}\nimport { appendFileSync } from "node:fs";\ntest("b", () => appendFileSync("others", "b"));`;
  expect(looked("unit", { a: failing(1), b: counted })).toEqual(["3 0 0", "unit.unsteady"]);
  expect(runsOf(lastRoot)).toBe(3);
  expect(readFileSync(join(lastRoot, "others"), "utf8")).toBe("bb");
});

test("no run begins after the time for them is over, and without any the item has failed", () => {
  expect(looked("e2e", { a: failing(1) }, { BERTH_TEST_REPEAT_SECONDS: "0" })).toEqual(["0 1 0"]);
  expect(runsOf(lastRoot)).toBe(2);
});

test("no second look at random cases, at what counts rounds, nor at many", () => {
  expect(looked("property", { once })).toEqual(["1 1 0"]);
  expect(looked("e2e", { once: `const rounds = "BERTH_TEST_ROUNDS";\n${once}` })).toEqual(["1 1 0"]);
  const many = ["a", "b", "c", "d", "e", "f"].map((name) => [name, once.replaceAll('"seen"', `"seen-${name}"`)]);
  expect(looked("e2e", Object.fromEntries(many))).toEqual(["6 6 0"]);
});

test("an item that does not end is killed, and its log says so", () => {
  const root = world({ "e2e/hang": 'test("hangs", () => { for (;;); });' }, "test/e2e/hang.test.ts 1\n");
  const said = shell('fill_queue e2e; take_item lane; run_item "$item" || echo "not at its end"', [], root);
  expect(said).toMatch(/^FAIL e2e-hang +0 passed, 1 failed +\d+ s, +\d+ s of CPU\nnot at its end$/);
  expect(readFileSync(join(root, "out/results/e2e-hang.log"), "utf8")).toMatch(/\(fail\) .* was killed after \d+ s\n$/);
  expect(existsSync(join(root, "out/running/lane/101-e2e-hang"))).toBe(false);
});
test("failures are told by themselves, each once, with what led to them", () => {
  const log = join(dir, "ring.log");
  const lines = [
    "test/unit/a.test.ts:",
    "(pass) one [1ms]",
    "error: 1 is not 2",
    "    at a.test.ts:3",
    "(fail) two [2ms]",
  ];
  writeFileSync(
    log,
    [...lines, "noise", "(pass) three [1ms]", "", "1 tests failed:", "(fail) two [2ms]", ""].join("\n"),
  );
  const awk = Bun.spawnSync(["awk", "-v", "lines=60", "-f", join(checkout, "test/lib/failures.awk"), log]);
  expect(awk.stdout.toString()).toBe(
    "test/unit/a.test.ts:\n  error: 1 is not 2\n      at a.test.ts:3\n(fail) two [2ms]\n\n",
  );
});

test("test/run names the rings when it is given another, and touches nothing", () => {
  const run = Bun.spawnSync([join(checkout, "test/run"), "unti"], { stderr: "pipe" });
  expect(run.exitCode).toBe(1);
  expect(run.stderr.toString()).toContain('no ring "unti"; there are: unit property');
});
