import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../base/words/alive.ts";
import { Failure } from "../../base/wire/failure.ts";

/** Holds a repository for one push; the answer gives it back. Fails `conflict` while another push holds it. */
export function lockRepository(repository: string, name: string): () => void {
  const path = join(repository, "berth.lock");
  for (const isLast of [false, true]) {
    try {
      writeFileSync(path, String(process.pid), { flag: "wx", mode: 0o660 });
      return () => rmSync(path, { force: true });
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
      if (isLast || isHeld(holderOf(path))) {
        throw new Failure("conflict", `another push to ${name} is being deployed: push again when it has ended`);
      }
      rmSync(path, { force: true });
    }
  }
  throw new Failure("conflict", `another push to ${name} has just begun`);
}

function holderOf(path: string): number {
  try {
    return Number(readFileSync(path, "utf8"));
  } catch {
    return 0;
  }
}

function isHeld(holder: number): boolean {
  return Number.isInteger(holder) && holder > 0 && isAlive(holder);
}
