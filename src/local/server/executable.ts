import { copyFile, open, rm } from "node:fs/promises";
import { basename } from "node:path";
import { moveInPlace } from "../../base/disk/atomic-write.ts";
import { Failure } from "../../base/wire/failure.ts";
import type { Machine } from "./machine.ts";

/** `0.1.0 (commit: 0123456789ab)` of an executable. Fails `invalid` for a file that is none of ours, or does not run here. */
export async function versionOfExecutable(machine: Machine, file: string): Promise<string> {
  const { exitCode, stdout } = await machine.run([file, "--version"]).catch(() => ({ exitCode: 126, stdout: "" }));
  const [, version] = /^berth (\d+\.\d+\.\d+\S* \(commit: .+\))\n$/.exec(stdout) ?? [];
  if (exitCode === 0 && version !== undefined) return version;
  throw new Failure("invalid", `"${file}" is not a berth executable that runs on this machine`);
}

/** Puts a copy in the place of `to`, whole and in one step; a process that runs the old one keeps it. */
export async function placeExecutable(from: string, to: string): Promise<void> {
  const fresh = `${to}.new.${process.pid}`;
  try {
    await copyFile(from, fresh);
    const file = await open(fresh, "r+");
    try {
      await file.chmod(0o755);
      await file.sync();
    } finally {
      await file.close();
    }
    await moveInPlace(fresh, to);
  } catch (error) {
    await rm(fresh, { force: true });
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure("unavailable", `cannot write ${to}: ${reason}`, { cause: error });
  }
}

/** The executable that runs this command. Run from source, that is Bun and none of ours. */
export function ownExecutable(): string {
  if (/^bun\b/.test(basename(process.execPath))) {
    throw new Failure(
      "invalid",
      "this is berth run from its source: build it, or name an executable with --executable",
    );
  }
  return process.execPath;
}
