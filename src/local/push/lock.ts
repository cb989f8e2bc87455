import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isAlive } from "../../base/words/alive.ts";
import { Failure } from "../../base/wire/failure.ts";

/**
 * Holds a repository for one push; the answer gives it back. Fails `conflict` while another push holds it. The file gets
 * its name only once the pid is in it: without one, a lock would look like that of a process that is gone.
 */
export function lockRepository(repository: string, name: string): () => void {
  const path = join(repository, "berth.lock");
  const own = `${path}.${process.pid}`;
  writeFileSync(own, String(process.pid), { mode: 0o660 });
  try {
    for (let tries = 0; tries < triesMax; tries += 1) {
      if (named(own, path)) return () => rmSync(path, { force: true });
      if (isHeld(path)) throw conflict(name, "is being deployed: push again when it has ended");
      takeAway(path, `${own}.left`);
    }
    throw conflict(name, "has just begun: push again when it has ended");
  } finally {
    rmSync(own, { force: true });
  }
}

/** More are needed only where several pushes find the lock of one that was killed. */
const triesMax = 5;

function conflict(name: string, what: string): Failure {
  return new Failure("conflict", `another push to ${name} ${what}`);
}

/** False where the name is taken. */
function named(own: string, path: string): boolean {
  try {
    linkSync(own, path);
    return true;
  } catch (error) {
    if (codeOf(error) === "EEXIST") return false;
    throw error;
  }
}

/** Takes a lock away that its process has left. A living one that came in between is put back. */
function takeAway(path: string, aside: string): void {
  try {
    renameSync(path, aside);
  } catch (error) {
    if (codeOf(error) === "ENOENT") return;
    throw error;
  }
  if (isHeld(aside)) named(aside, path);
  rmSync(aside, { force: true });
}

function isHeld(path: string): boolean {
  try {
    const holder = Number(readFileSync(path, "utf8"));
    return Number.isInteger(holder) && holder > 0 && isAlive(holder);
  } catch {
    return false;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && "code" in error ? error.code : undefined;
}
