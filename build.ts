/**
 * Makes the executable. `bun run build` makes dist/berth for this machine; `--all` also makes one for every supported
 * target, each with its sha256. `--entry FILE` and `--out FILE` build something else the same way.
 */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { version } from "./package.json";

/** Name in dist/ → npm package that holds Bun's runtime for it. glibc only: Bun's musl runtime is not static. */
const targets: Record<string, string> = {
  "linux-x64": "@oven/bun-linux-x64",
  "linux-x64-baseline": "@oven/bun-linux-x64-baseline",
  "linux-arm64": "@oven/bun-linux-aarch64",
};

const checkout = import.meta.dir;
const program = join(checkout, "src/main.ts");
/** Entry points of threads: they are started by name, which no bundler sees. */
const threads = [join(checkout, "src/identity/store/search/worker.ts")];

async function main(): Promise<void> {
  const { values: flags } = parseArgs({
    options: { all: { type: "boolean" }, entry: { type: "string" }, out: { type: "string" } },
  });
  const entry = flags.entry ?? program;
  await build(entry, flags.out ?? join(checkout, "dist/berth"), process.execPath);
  if (flags.all !== true) return;
  for (const [name, runtimePackage] of Object.entries(targets)) {
    const file = join(checkout, "dist", `berth-${name}`);
    await build(entry, file, fetchRuntime(runtimePackage));
    await writeSum(file, `berth-${name}`);
  }
}

async function build(entry: string, outfile: string, executablePath: string): Promise<void> {
  if (!existsSync(entry)) throw new Error(`no entry file "${entry}"`);
  await Bun.build({
    entrypoints: entry === program ? [entry, ...threads] : [entry],
    target: "bun",
    // Bytecode defaults to cjs, which has no top-level await.
    format: "esm",
    minify: true,
    bytecode: true,
    // What is imported when used lies in chunks of its own: a client command does not load the server.
    splitting: true,
    define: { BERTH_COMMIT: JSON.stringify(commit()) },
    // An executable must not obey whatever .env or bunfig.toml lies in the folder it is started from.
    compile: { outfile, executablePath, autoloadDotenv: false, autoloadBunfig: false },
  });
  console.log(`${outfile} ${version} (commit: ${commit()})`);
}

/** Hash of the checkout's HEAD, `-dirty` when files differ from it. */
function commit(): string {
  const hash = git(["rev-parse", "--short=12", "HEAD"]);
  if (hash === undefined) return "unknown";
  return git(["status", "--porcelain"]) === "" ? hash : `${hash}-dirty`;
}

function git(args: string[]): string | undefined {
  if (Bun.which("git") === null) return undefined;
  // The checkout's own .git, never that of a folder above an unpacked archive; and root may build someone else's files.
  const ours = ["git", "-c", "safe.directory=*", "--git-dir", join(checkout, ".git"), "--work-tree", checkout];
  const run = Bun.spawnSync([...ours, ...args], { stdout: "pipe", stderr: "ignore" });
  return run.exitCode === 0 ? run.stdout.toString().trim() : undefined;
}

/** Path of Bun's executable for another target, of the version that runs this; from npm, once. */
function fetchRuntime(name: string): string {
  const folder = join(checkout, ".cache", `runtime-${Bun.version}`, name);
  const executable = join(folder, "package/bin/bun");
  if (existsSync(executable)) return executable;
  mkdirSync(folder, { recursive: true });
  const wanted = `${name}@${Bun.version}`;
  const tarball = must(
    ["npm", "pack", "--loglevel=error", wanted],
    folder,
    `cannot fetch ${wanted}: building for another target needs npm and its registry within reach`,
  );
  must(["tar", "-xzf", tarball], folder, `cannot unpack ${tarball}`);
  return executable;
}

function must(command: string[], cwd: string, fault: string): string {
  const program = command[0] ?? "";
  if (Bun.which(program) === null) throw new Error(`${fault} ("${program}" is not installed)`);
  const run = Bun.spawnSync(command, { cwd, stdout: "pipe", stderr: "pipe" });
  if (run.exitCode !== 0) throw new Error(`${fault}\n${run.stderr.toString().trim()}`);
  return run.stdout.toString().trim();
}

/** In the form `sha256sum -c` reads. */
async function writeSum(file: string, name: string): Promise<void> {
  const hash = new Bun.CryptoHasher("sha256").update(await Bun.file(file).bytes()).digest("hex");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(`${file}.sha256`, `${hash}  ${name}\n`);
}

await main().catch((error: unknown) => {
  console.error(`build failed: ${error instanceof Error ? error.message : String(error)}`);
  if (error instanceof AggregateError) for (const one of error.errors) console.error(String(one));
  process.exit(1);
});
