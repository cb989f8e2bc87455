import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const checkout = join(import.meta.dir, "../..");

/** Builds this checkout as another version, whose database has one more migration: a later berth. */
export async function buildLater(folder: string, version: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  for (const part of ["src", "plugins", "examples", "build.ts", "package.json", "tsconfig.json", "bunfig.toml"]) {
    cpSync(join(checkout, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(checkout, "node_modules"), join(folder, "node_modules"));
  const change = (file: string, from: RegExp, to: string) => {
    const text = readFileSync(join(folder, file), "utf8");
    if (!from.test(text)) throw new Error(`${file} has no ${from}`);
    writeFileSync(join(folder, file), text.replace(from, to));
  };
  change("package.json", /"version": "[^"]+"/, `"version": "${version}"`);
  const all = "src/orchestration/store/migrations/all.ts";
  change(all, /\];/, '  "create table of_a_later_version (id integer primary key) strict",\n];');
  return build(folder);
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

async function build(folder: string): Promise<string> {
  const run = Bun.spawn([process.execPath, "run", "build.ts"], { cwd: folder, stdout: "ignore", stderr: "pipe" });
  const said = await new Response(run.stderr).text();
  if ((await run.exited) !== 0) throw new Error(`${folder} was not built: ${said}`);
  return join(folder, "dist/berth");
}
