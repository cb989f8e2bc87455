/**
 * Makes the executable. `bun run build` makes dist/berth for this machine; `--entry FILE` and `--out FILE` build something
 * else the same way. `--release` (`bun run release`) makes the folder that install.sh and `berth server upgrade` download
 * from: dist/release with `latest`, `install.sh`, and VERSION/ with one executable per target and SHA256SUMS. `--target
 * NAME`, repeatable, makes only those; `--release-dir DIR` puts the folder elsewhere.
 *
 * A release is signed with the private key of the file that BERTH_RELEASE_KEY names (`ssh-keygen -Y sign`, so an agent or a
 * token can hold it). An executable takes releases that are signed with a key of `release.pub`, or, in a checkout without
 * that file, of the file that BERTH_RELEASE_PUBLIC_KEY names or the public part of BERTH_RELEASE_KEY.
 */
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import { version } from "./package.json";
import { bundledPlugins } from "./plugins/bundled.ts";
import { idleJitPolicy } from "./src/base/words/follow-load.ts";
import { threads } from "./src/threads.ts";
import { parsedYmls } from "./src/daemon/bundled.ts";
import { isSigned, publicKeys, releaseNamespace } from "./src/local/server/ssh-signature.ts";
import { bundleUi } from "./src/local/ui/bundle.ts";
import { clientCalls } from "./src/local/ui/calls.ts";

interface Target {
  /** npm package that holds Bun's runtime for it. */
  runtime: string;
  /** As Bun's builder names it, where the format is not that of the machine that builds. */
  format?: Bun.Build.CompileTarget;
}

/** By the name of the file, `berth-NAME`. Bun's x64 runtime finds out itself what the processor can do. glibc only: Bun's musl runtime is not static. darwin is for the client. */
const targets: Record<string, Target> = {
  "linux-x64": { runtime: "@oven/bun-linux-x64" },
  "linux-arm64": { runtime: "@oven/bun-linux-aarch64" },
  "darwin-x64": { runtime: "@oven/bun-darwin-x64", format: "bun-darwin-x64" },
  "darwin-arm64": { runtime: "@oven/bun-darwin-aarch64", format: "bun-darwin-arm64" },
};

const checkout = import.meta.dir;
const program = join(checkout, "src/main.ts");
/** Entry points of threads: they are started by name, which no bundler sees. */
const threadFiles = Object.values(threads).map((url) => Bun.fileURLToPath(url));

async function main(): Promise<void> {
  const { values: flags } = parseArgs({
    options: {
      entry: { type: "string" },
      out: { type: "string" },
      release: { type: "boolean" },
      "release-dir": { type: "string" },
      target: { type: "string", multiple: true },
    },
  });
  if (flags.release === true) {
    await release(flags["release-dir"] ?? join(checkout, "dist/release"), flags.target ?? Object.keys(targets));
    return;
  }
  await build(flags.entry ?? program, flags.out ?? join(checkout, "dist/berth"), { runtime: process.execPath });
}

/** Makes what can be made here. A target whose runtime cannot be fetched is named, and the exit code is 1. */
async function release(folder: string, names: readonly string[]): Promise<void> {
  const unknown = names.filter((name) => targets[name] === undefined);
  if (unknown.length > 0) throw new Error(`unknown target "${unknown[0]}"; known: ${Object.keys(targets).join(", ")}`);
  // Made beside the last one: a folder that is served never holds half a release.
  const done = join(folder, version);
  const making = `${done}.new`;
  rmSync(making, { recursive: true, force: true });
  mkdirSync(making, { recursive: true });
  const sums: string[] = [];
  for (const name of names) {
    const file = `berth-${name}`;
    try {
      // The name of the file is a part of it, so each is built under the same one.
      await build(program, join(making, "berth"), {
        ...targets[name],
        runtime: fetchRuntime(targets[name]?.runtime ?? ""),
      });
    } catch (error) {
      console.error(`${file} was not made: ${error instanceof Error ? error.message : String(error)}`);
      process.exitCode = 1;
      continue;
    }
    renameSync(join(making, "berth"), join(making, file));
    sums.push(`${await sha256(join(making, file))}  ${file}\n`);
  }
  if (sums.length === 0) throw new Error("none of the targets could be made");
  writeFileSync(join(making, "install.sh"), installer(), { mode: 0o755 });
  sums.push(`${await sha256(join(making, "install.sh"))}  install.sh\n`);
  // The version is a part of what is signed: an old release must not pass for a new one.
  writeFileSync(join(making, "SHA256SUMS"), `# berth ${version}\n${sums.join("")}`);
  sign(join(making, "SHA256SUMS"));
  rmSync(done, { recursive: true, force: true });
  renameSync(making, done);
  copyFileSync(join(done, "install.sh"), join(folder, "install.sh"));
  writeFileSync(join(folder, "latest"), `${version}\n`);
  console.log(`${done} with ${sums.length - 1} executables and SHA256SUMS; serve ${folder} as BERTH_RELEASE_URL`);
}

/** Public keys, a line each, as in `id_ed25519.pub`; empty where none is known. */
function releaseKeys(): string {
  const own = join(checkout, "release.pub");
  const { BERTH_RELEASE_KEY: key = "", BERTH_RELEASE_PUBLIC_KEY: named = "" } = process.env;
  const file = existsSync(own) ? own : named !== "" ? named : key === "" ? undefined : `${key}.pub`;
  if (file === undefined) return "";
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.flatMap((line) => /^ssh-ed25519 [A-Za-z0-9+/=]+/.exec(line)?.[0] ?? []).join("\n");
}

/** The installer with the keys in it. */
function installer(): string {
  const text = readFileSync(join(checkout, "install.sh"), "utf8");
  if (!text.includes("\nrelease_keys=''\n")) throw new Error("install.sh has no place for the release keys");
  return text.replace("\nrelease_keys=''\n", `\nrelease_keys='${releaseKeys()}'\n`);
}

/** Writes the signature beside a file. */
function sign(file: string): void {
  const { BERTH_RELEASE_KEY: key = "" } = process.env;
  if (key === "") {
    console.error(
      "WARNING: this release is not signed, and no berth will install it: name the private key with BERTH_RELEASE_KEY (docs/operating.md, Make a release)",
    );
    return;
  }
  must(
    ["ssh-keygen", "-Y", "sign", "-q", "-n", releaseNamespace, "-f", key, file],
    checkout,
    `cannot sign with ${key}`,
  );
  const [text, signature] = [readFileSync(file, "utf8"), readFileSync(`${file}.sig`, "utf8")];
  if (isSigned(text, { signature, keys: publicKeys(releaseKeys()), namespace: releaseNamespace })) return;
  throw new Error(
    `${key} is not an Ed25519 key of release.pub: no executable of this checkout would install the release`,
  );
}

/** The same source gives the same bytes, in whatever folder the checkout lies. */
async function build(entry: string, outfile: string, { runtime, format }: Target): Promise<void> {
  if (!existsSync(entry)) throw new Error(`no entry file "${entry}"`);
  const entries = entry === program ? [entry, ...threadFiles] : [entry];
  process.chdir(checkout);
  await Bun.build({
    // Absolute names would go into the names of the chunks.
    entrypoints: entries.map((path) => `./${relative(checkout, path)}`),
    // Threads are found by their path from here.
    ...(entry === program ? { root: "./src" } : {}),
    target: "bun",
    // Bytecode defaults to cjs, which has no top-level await.
    format: "esm",
    minify: true,
    bytecode: true,
    // What is imported when used lies in chunks of its own: a client command does not load the server.
    splitting: true,
    plugins:
      entry === program
        ? [withUi(await bundleUi({ gallery: false })), withYmls(), await clientCalls(), withoutUnused()]
        : [],
    define: {
      BERTH_COMMIT: JSON.stringify(commit()),
      BERTH_RELEASE_KEYS: JSON.stringify(releaseKeys()),
      // Packages ask for them; the bundler would write the path of this checkout there.
      __dirname: '"/"',
      __filename: '"/"',
    },
    // An executable must not obey whatever .env or bunfig.toml lies in the folder it is started from.
    compile: {
      outfile,
      executablePath: runtime,
      autoloadDotenv: false,
      autoloadBunfig: false,
      // What runs lies together, so that a server has 5 MiB less of its own file in memory. `bun run bench bytecode-order`
      // records it. A function that has changed since is found as well, only later.
      bytecodeOrder: entry === program && join(checkout, "bytecode.order"),
      // What runs only at the start stays in the interpreter: see follow-load.ts for what follows.
      jitPolicy: idleJitPolicy,
      ...(format === undefined ? {} : { target: format }),
    },
  });
  console.log(`${outfile} ${version} (commit: ${commit()})`);
}

/** Puts the bundled web UI into the executable, in the place of the module that bundles it from source. */
function withUi(files: Awaited<ReturnType<typeof bundleUi>>): Bun.BunPlugin {
  const list = files.map(({ name, bytes }) => ({ name, zipped: Bun.gzipSync(bytes, { level: 9 }).toBase64() }));
  return {
    name: "web UI",
    setup: (builder) => {
      builder.onLoad({ filter: /\/src\/local\/ui\/files\.ts$/ }, () => ({
        contents: `const list = ${JSON.stringify(list)};
export async function loadUiFiles() {
  return list.map(({ name, zipped }) => ({ name, bytes: Bun.gunzipSync(Uint8Array.fromBase64(zipped)) }));
}`,
        loader: "js",
      }));
    },
  };
}

/** Puts the plugin.yml of the bundled plugins into the executable as values: the server need not load the YAML parser. */
function withYmls(): Bun.BunPlugin {
  return {
    name: "plugin.yml",
    setup: (builder) => {
      builder.onLoad({ filter: /\/src\/daemon\/bundled\.ts$/ }, () => ({
        contents: `const ymls = ${JSON.stringify(parsedYmls(bundledPlugins))};\nexport const parsedYmls = () => ymls;`,
        loader: "js",
      }));
    },
  };
}

/**
 * Leaves out what dockerode loads and the server never uses, 7 MiB of its memory: engines over SSH, and dockerode's own
 * BuildKit session, with the packages `ssh2`, `@grpc/grpc-js` and `protobufjs`.
 */
function withoutUnused(): Bun.BunPlugin {
  const unused = ["docker-modem/lib/ssh.js", "dockerode/lib/session.js"];
  return {
    name: "without unused",
    setup: (builder) => {
      const met = new Set<string>();
      for (const file of unused) {
        builder.onLoad({ filter: new RegExp(`/node_modules/${file.replaceAll(".", "\\.")}$`) }, () => {
          met.add(file);
          return { contents: `module.exports = () => { throw new Error("${file} is left out"); };`, loader: "js" };
        });
      }
      builder.onEnd(() => {
        const missed = unused.filter((file) => !met.has(file));
        if (missed.length > 0) throw new Error(`${missed.join(", ")} is not loaded any more: look at withoutUnused`);
      });
    },
  };
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
  rmSync(join(folder, tarball), { force: true });
  return executable;
}

function must(command: string[], cwd: string, fault: string): string {
  const program = command[0] ?? "";
  if (Bun.which(program) === null) throw new Error(`${fault} ("${program}" is not installed)`);
  const run = Bun.spawnSync(command, { cwd, stdout: "pipe", stderr: "pipe" });
  if (run.exitCode !== 0) throw new Error(`${fault}\n${run.stderr.toString().trim()}`);
  return run.stdout.toString().trim();
}

async function sha256(file: string): Promise<string> {
  return new Bun.CryptoHasher("sha256").update(await Bun.file(file).bytes()).digest("hex");
}

await main().catch((error: unknown) => {
  console.error(`build failed: ${error instanceof Error ? error.message : String(error)}`);
  if (error instanceof AggregateError) for (const one of error.errors) console.error(String(one));
  process.exit(1);
});
