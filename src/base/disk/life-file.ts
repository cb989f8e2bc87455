import { readFileSync } from "node:fs";
import type { Layout } from "./layout.ts";
import { writeAtomic } from "./atomic-write.ts";

/** What the file of a root says about its place among servers; undefined where there is none, or it is damaged. */
export function readLifeFile<T>({ life }: Pick<Layout, "life">): T | undefined {
  try {
    const read: unknown = JSON.parse(readFileSync(life, "utf8"));
    return typeof read === "object" && read !== null ? (read as T) : undefined;
  } catch {
    return undefined;
  }
}

export async function writeLifeFile<T extends object>({ life }: Pick<Layout, "life">, stored: T): Promise<void> {
  await writeAtomic(life, `${JSON.stringify(stored)}\n`, 0o600);
}
