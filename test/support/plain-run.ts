import { readFileSync } from "node:fs";

/*
 * Loaded before the tests of every `bun test` (bunfig.toml). A `bun test` that names no file or folder would also start the
 * rings that need root and Docker, and all of those would fail. This runs the script `test` of package.json in its place,
 * which has the rings that need neither.
 */

/** Flags whose value is the next word. */
const withValue = new Set([
  "-t",
  "--test-name-pattern",
  "--timeout",
  "--rerun-each",
  "--retry",
  "--seed",
  "--shard",
  "--timings",
  "--reporter",
  "--reporter-outfile",
  "--coverage-reporter",
  "--coverage-dir",
  "--max-concurrency",
  "--path-ignore-patterns",
]);

/** The words of the command line after `bun test`; undefined where the system does not show them, or in a worker of a run. */
function wordsOfRun(): string[] | undefined {
  try {
    const [, verb, ...words] = readFileSync("/proc/self/cmdline", "utf8").split("\0").slice(0, -1);
    return verb === "test" && !words.includes("--test-worker") ? words : undefined;
  } catch {
    return undefined;
  }
}

const words = wordsOfRun();

if (words?.every((word, index) => word.startsWith("-") || withValue.has(words[index - 1] ?? "")) === true) {
  const run = Bun.spawnSync([process.execPath, "run", "test", ...words], { stdio: ["inherit", "inherit", "inherit"] });
  console.error("\nThe other rings need root and Docker: test/run runs everything, test/run e2e one ring,");
  console.error("test/run test/e2e/apply.test.ts one file. See CONTRIBUTING.md.");
  process.exit(run.exitCode ?? 1);
}
