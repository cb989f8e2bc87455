import { existsSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkout, copyCheckout } from "./checkout.ts";

/** Builds this checkout as a later version, whose database has one more migration. A run of all tests builds it once. */
export async function buildLater(folder: string, version: string): Promise<string> {
  const place = process.env.BERTH_TEST_DIR;
  if (place === undefined) return buildLaterIn(folder, version);
  const shared = join(place, `later-${version}`);
  // Two lanes that meet here build it both, and either is as good.
  if (!existsSync(shared)) renameSync(await buildLaterIn(folder, version), shared);
  return shared;
}

async function buildLaterIn(folder: string, version: string): Promise<string> {
  copyCheckout(folder);
  const change = (file: string, from: RegExp, to: string) => {
    const text = readFileSync(join(folder, file), "utf8");
    if (!from.test(text)) throw new Error(`${file} has no ${from}`);
    writeFileSync(join(folder, file), text.replace(from, to));
  };
  change("package.json", /"version": "[^"]+"/, `"version": "${version}"`);
  const all = "src/orchestration/store/migrations/all.ts";
  change(all, /\];/, '  "create table of_a_later_version (id integer primary key) strict",\n];');
  const run = Bun.spawn([process.execPath, "run", "build.ts"], { cwd: folder, stdout: "ignore", stderr: "pipe" });
  const said = await new Response(run.stderr).text();
  if ((await run.exited) !== 0) throw new Error(`${folder} was not built: ${said}`);
  return join(folder, "dist/berth");
}

/** Whether this checkout has the history that `earlierProgram` needs. */
export function hasCommit(commit: string): boolean {
  return Bun.spawnSync(["git", "cat-file", "-e", `${commit}^{commit}`], { cwd: checkout }).exitCode === 0;
}

/** A commit of this checkout's past as a program, which runs from source with the packages of today. */
export function earlierProgram(folder: string, commit: string): string {
  mkdirSync(folder, { recursive: true });
  const archive = Bun.spawnSync(["git", "archive", commit], { cwd: checkout });
  const unpacked = Bun.spawnSync(["tar", "-x", "-C", folder], { stdin: archive.stdout });
  if (!archive.success || !unpacked.success) throw new Error(`no files of commit ${commit}: ${archive.stderr}`);
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  const program = join(folder, "berth");
  const line = `exec '${process.execPath}' '${join(folder, "src/main.ts")}' "$@"`;
  writeFileSync(program, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  return program;
}
