import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { basename } from "node:path";
import { Failure } from "../../base/wire/failure.ts";

/** Longest first line that is looked at; the kernel reads no more. */
const headBytes = 256;

/** How a program is started. */
export interface Start {
  /** The first words of the argv, the first one absolute. */
  words: string[];
  /** Beside the environment of the run. */
  env: Record<string, string>;
}

/**
 * The program of a run, as it can be started: an absolute path, or a name that is found on PATH. Scripts for bun are run
 * by this executable, which holds it, where the machine has none. Fails `not_found` for what is not there, or whose
 * interpreter is not, `invalid` for what cannot be run.
 */
export function startOf(program: string, path: string | undefined): Start {
  const found = program.startsWith("/") ? program : Bun.which(program, { PATH: path ?? "" });
  const hint = "it, or the interpreter in its first line, is missing; install the plugin again";
  const stat = found === null ? undefined : statSync(found, { throwIfNoEntry: false });
  if (found === null || stat === undefined) throw new Failure("not_found", `"${program}" cannot be started: ${hint}`);
  try {
    if (!stat.isFile()) throw new Error("no file");
    accessSync(found, constants.X_OK);
  } catch (cause) {
    throw new Failure("invalid", `"${program}" is not executable; chmod +x it`, { cause });
  }
  const head = headOf(found);
  if (head.startsWith("\x7fELF")) return { words: [found], env: {} };
  if (!head.startsWith("#!")) {
    throw new Failure("invalid", `"${program}" is no program of this machine and has no first line such as #!/bin/sh`);
  }
  const line = head.slice(2).split("\n", 1)[0]?.trim().split(/\s+/) ?? [];
  if (wantsBun(line, path)) return { words: [process.execPath, "run", found], env: { BUN_BE_BUN: "1" } };
  if (statSync(line[0] ?? "", { throwIfNoEntry: false })?.isFile() === true) return { words: [found], env: {} };
  throw new Failure("not_found", `"${program}" cannot be started: ${hint} ("${line[0]}")`);
}

/** Whether a first line names bun, and there is none. */
function wantsBun([interpreter = "", ...words]: readonly string[], path: string | undefined): boolean {
  if (basename(interpreter) === "bun") return statSync(interpreter, { throwIfNoEntry: false }) === undefined;
  const named = basename(interpreter) === "env" ? words.find((word) => word !== "-S") : undefined;
  return named === "bun" && Bun.which("bun", { PATH: path ?? "" }) === null;
}

function headOf(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const bytes = Buffer.alloc(headBytes);
    return bytes.toString("latin1", 0, readSync(file, bytes, 0, headBytes, 0));
  } catch (cause) {
    throw new Failure("invalid", `"${path}" cannot be read`, { cause });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}
