import { cpSync, mkdirSync } from "node:fs";
import { join } from "node:path";

export const checkout = join(import.meta.dir, "../..");

/** What a build is made from. */
const sources = [
  "src",
  "plugins",
  "examples",
  "build.ts",
  "bytecode.order",
  "package.json",
  "bun.lock",
  "tsconfig.json",
  "bunfig.toml",
];

/** Copies this checkout, without what git ignores but with its packages: their files are linked where both are on one disk. */
export function copyCheckout(folder: string): void {
  mkdirSync(folder, { recursive: true });
  for (const part of [...sources, "install.sh", "setup"]) {
    cpSync(join(checkout, part), join(folder, part), { recursive: true });
  }
  const packages = join(checkout, "node_modules");
  const copied = ["-al", "-a"].some(
    (how) => Bun.spawnSync(["cp", how, packages, folder], { stderr: "ignore" }).success,
  );
  if (!copied) throw new Error(`cannot copy ${packages} to ${folder}`);
}
