import { accessSync, closeSync, constants, openSync, readSync, statSync } from "node:fs";
import { Failure } from "../api/failure.ts";

/** Longest first line that is looked at; the kernel reads no more. */
const headBytes = 256;

/**
 * The program of a run, as it can be started: an absolute path, or a name that is found on PATH. Fails `not_found` for
 * what is not there, or whose interpreter is not, `invalid` for what cannot be run.
 */
export function startable(program: string, path: string | undefined): string {
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
  if (!head.startsWith("#!")) {
    if (head.startsWith("\x7fELF")) return found;
    throw new Failure("invalid", `"${program}" is no program of this machine and has no first line such as #!/bin/sh`);
  }
  const [interpreter = ""] = head.slice(2).split("\n", 1)[0]?.trim().split(/\s+/) ?? [];
  if (statSync(interpreter, { throwIfNoEntry: false })?.isFile() === true) return found;
  throw new Failure("not_found", `"${program}" cannot be started: ${hint} ("${interpreter}")`);
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
