import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "bun:test";

const checkout = join(import.meta.dir, "../..");
const dir = mkdtempSync(join(tmpdir(), "berth-ring."));
afterAll(() => rmSync(dir, { recursive: true }));

const counts = (tests: number, failures: number, skipped: number) =>
  `<?xml version="1.0"?>\n<testsuites name="bun test" tests="${tests}" assertions="9" failures="${failures}" skipped="${skipped}">\n` +
  `  <testsuite name="a" tests="99" failures="98" skipped="97"/>\n</testsuites>`;

/** What a ring adds to the summary: passed, failed, skipped. */
function count(report: string | undefined, exitCode: number): string {
  const file = join(dir, "report.xml");
  rmSync(file, { force: true });
  if (report !== undefined) writeFileSync(file, report);
  const script = 'set -eu; . "$1/setup/say.sh"; . "$1/test/lib/ring.sh"; count_ring "$2" "$3"';
  const run = Bun.spawnSync(["sh", "-c", script, "sh", checkout, file, String(exitCode)]);
  return run.stdout.toString().trim();
}

test("a ring is counted by the whole report, not by one of its suites", () => {
  expect(count(counts(10, 0, 0), 0)).toBe("10 0 0");
  expect(count(counts(10, 2, 3), 1)).toBe("5 2 3");
});

test("a ring that crashed is a failure, with a report and without", () => {
  expect(count(counts(10, 0, 0), 139)).toBe("10 1 0");
  expect(count(undefined, 1)).toBe("0 1 0");
  expect(count("", 124)).toBe("0 1 0");
});

/** A ring of tests of its own, run, looked at a second time and counted. */
function looked(ring: string, files: Record<string, string>) {
  const root = mkdtempSync(join(dir, "look."));
  mkdirSync(join(root, "test", ring), { recursive: true });
  mkdirSync(join(root, "out"));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(join(root, "test", ring, `${name}.test.ts`), `import { expect, test } from "bun:test";\n${text}\n`);
  }
  const script =
    'set -eu; cd "$2"; . "$1/setup/say.sh"; . "$1/test/lib/ring.sh"; run_ring "$3" >"out/$3.count";' +
    ' second_look "$3"; cat "out/$3.count"';
  const env = { ...process.env, BERTH_TEST_DIR: join(root, "out") };
  const run = Bun.spawnSync(["sh", "-c", script, "sh", checkout, root, ring], { env, stderr: "pipe" });
  return [run.stdout.toString().trim(), existsSync(join(root, "out", `${ring}.unsteady`))];
}

const good = 'test("good", () => {});';
const bad = 'test("bad", () => expect(1).toBe(2));';
const once = `${good}
  import { existsSync, writeFileSync } from "node:fs";
  test("once", () => { const seen = existsSync("seen"); writeFileSync("seen", ""); expect(seen).toBe(true); });`;

test("a test that passes by itself is unsteady; one that fails again has failed", () => {
  expect(looked("e2e", { good, once })).toEqual(["3 0 0", true]);
  expect(looked("e2e", { good, once, bad })).toEqual(["2 2 0", false]);
});

test("no second look at what needs no engine, at what counts rounds, nor at many", () => {
  expect(looked("unit", { once })).toEqual(["1 1 0", false]);
  expect(looked("e2e", { once: `const rounds = "BERTH_TEST_ROUNDS";\n${once}` })).toEqual(["1 1 0", false]);
  const [a, b, c] = ["a", "b", "c"].map((name) => once.replaceAll('"seen"', `"seen-${name}"`));
  expect(looked("e2e", { a: a ?? "", b: b ?? "", c: c ?? "" })).toEqual(["3 3 0", false]);
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
