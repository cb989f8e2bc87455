import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
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
      if (isLast || isAlive(holderOf(path))) {
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

function isAlive(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
