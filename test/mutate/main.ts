/**
 * How much of the pure code the fast rings guard: random changes of one token each, and the tests that reach the changed
 * file. What survives is printed, to be read: it becomes a test, or the code goes.
 *
 *   test/soak mutate COUNT [PATH…]
 *
 * `PATH` is the beginning of the paths to change (all pure rooms and whatever decides authority without one). `SEED`
 * repeats a run. Exit code 1 when something survived in what decides authority.
 */
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { source, type Source } from "../support/source.ts";
import { importersOf, testsOf } from "./dependents.ts";
import { type Mutant, mutantsOf, mutated } from "./mutants.ts";

/** What may decide who may do what. */
const authority = ["src/access/", "src/observability/core/tokens/", "src/orchestration/controller/write/reach"];
const pure = ["src/base/pure/", "src/orchestration/core/", "src/identity/core/", "src/ingress/core/"];
const more = ["src/observability/core/", "src/client/manifests/"];

/** The nearest tests run first; most mutants end there. */
const nearest = 6;
const testMs = 60_000;
const runMs = 240_000;

const notCopied = new Set([".git", ".cache", "dist", "node_modules"]);

interface Chosen {
  path: string;
  mutant: Mutant;
}

const [count = "20", ...asked] = Bun.argv.slice(2);
const seed = Number(process.env.SEED ?? Date.now() % 1_000_000);
const checkout = join(import.meta.dir, "../..");
const sources = await readSources();
const importers = importersOf(sources);
const copy = copyOfCheckout();
try {
  process.exitCode = await main();
} finally {
  rmSync(copy, { recursive: true, force: true });
}

async function main(): Promise<number> {
  const chosen = choose(Number(count));
  process.stdout.write(`seed ${seed}, ${chosen.length} mutants\n`);
  const survivors: Chosen[] = [];
  for (const one of chosen) {
    const by = await killedBy(one);
    process.stdout.write(
      `${by === undefined ? "SURVIVED" : "killed  "} ${words(one)}${by === undefined ? "" : `  by ${by}`}\n`,
    );
    if (by === undefined) survivors.push(one);
  }
  const dead = chosen.length - survivors.length;
  process.stdout.write(
    `${dead} of ${chosen.length} mutants were noticed (${((100 * dead) / chosen.length).toFixed(1)} %)\n`,
  );
  return survivors.some(({ path }) => authority.some((place) => path.startsWith(place))) ? 1 : 0;
}

function words({ path, mutant: { line, from, to } }: Chosen): string {
  return `${path}:${line}  "${from}" → "${to}"`;
}

/** Each mutant of the places is as likely as any other. */
function choose(wanted: number): Chosen[] {
  const places = asked.length > 0 ? asked : [...authority, ...pure, ...more];
  const all = sources
    .filter(({ path }) => !path.startsWith("test/") && places.some((place) => path.startsWith(place)))
    .flatMap(({ path, text }) => mutantsOf(path, text).map((mutant) => ({ path, mutant })));
  const random = randomFrom(seed);
  const chosen: Chosen[] = [];
  while (chosen.length < wanted && all.length > 0) chosen.push(...all.splice(Math.floor(random() * all.length), 1));
  return chosen;
}

/** A linear congruential generator: a run can be repeated. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The first group of tests that fails; undefined where all pass. */
async function killedBy({ path, mutant }: Chosen): Promise<string | undefined> {
  const text = readFileSync(join(checkout, path), "utf8");
  const tests = testsOf(path, importers);
  const isFast = (test: string) => /^test\/(?:unit|property)\//.test(test);
  const fast = tests.filter(isFast);
  const slow = tests.filter((test) => test.startsWith("test/http/"));
  const groups = { "its nearest tests": fast.slice(0, nearest), "unit and property": fast.slice(nearest), http: slow };
  // The copy shares its files with the checkout, so it gets a new one.
  const replace = (content: string) => {
    unlinkSync(join(copy, path));
    writeFileSync(join(copy, path), content);
  };
  replace(mutated(text, mutant));
  try {
    for (const [name, files] of Object.entries(groups)) if (files.length > 0 && !(await passes(files))) return name;
    return undefined;
  } finally {
    replace(text);
  }
}

async function passes(files: readonly string[]): Promise<boolean> {
  const child = Bun.spawn(
    [process.execPath, "test", "--bail", "--timeout", String(testMs), ...files.map((file) => `./${file}`)],
    { cwd: copy, stdout: "ignore", stderr: "ignore", timeout: runMs, killSignal: "SIGKILL" },
  );
  return (await child.exited) === 0;
}

async function readSources(): Promise<Source[]> {
  const found: Source[] = [];
  for await (const path of new Bun.Glob("{src,plugins,test}/**/*.{ts,tsx}").scan({ cwd: checkout }))
    found.push(source(path, readFileSync(join(checkout, path), "utf8")));
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

function copyOfCheckout(): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-mutate-"));
  for (const name of readdirSync(checkout))
    if (!notCopied.has(name)) cpSync(join(checkout, name), join(folder, name), { recursive: true });
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  return folder;
}
