import { existsSync } from "node:fs";
import { type Beside, besideDatabases, type Layout } from "../base/disk/layout.ts";
import { copyDatabase } from "../orchestration/store/copy.ts";

/** What copies the databases beside the platform's own, as far as they are there. */
export function copiesBeside(layout: Layout): Partial<Record<Beside, (target: string) => void>> {
  const present = Object.entries(besideDatabases(layout)).filter(([, path]) => existsSync(path));
  return Object.fromEntries(present.map(([name, path]) => [name, (target: string) => copyDatabase(path, target)]));
}
