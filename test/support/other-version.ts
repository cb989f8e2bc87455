import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const checkout = join(import.meta.dir, "../..");

/** Builds this checkout as another version, whose database has one more migration: a later berth. */
export async function buildLater(folder: string, version: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  for (const part of ["src", "plugins", "build.ts", "package.json", "tsconfig.json", "bunfig.toml"]) {
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
  const run = Bun.spawn([process.execPath, "run", "build.ts"], { cwd: folder, stdout: "ignore", stderr: "pipe" });
  const said = await new Response(run.stderr).text();
  if ((await run.exited) !== 0) throw new Error(`the later version was not built: ${said}`);
  return join(folder, "dist/berth");
}
