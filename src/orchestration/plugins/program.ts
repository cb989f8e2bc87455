import { accessSync, closeSync, constants, existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { Failure } from "../../base/wire/failure.ts";

/** Longest first line that is looked at; the kernel reads no more. */
const headBytes = 256;

/** How a program is started. */
interface Start {
  /** The first words of the argv, the first one absolute. */
  words: string[];
  /** Beside the environment of the run. */
  env: Record<string, string>;
}

/**
 * The program of a run, as it can be started: an absolute path, or a name that is found on PATH. Scripts for bun are run
 * by this executable, which holds it, where the machine has none that every user can execute. Fails `not_found` for what is not there, or whose
 * interpreter is not, `invalid` for what cannot be run.
 */
export function startOf(program: string, path: string | undefined): Start {
  const found = program.startsWith("/") ? program : Bun.which(program, { PATH: path ?? "" });
  const hint = "it, or the interpreter in its first line, is missing; install the plugin again";
  const stat = found === null ? undefined : statSync(found, { throwIfNoEntry: false });
  if (found === null || stat === undefined) {
    throw new Failure("not_found", `"${program}" cannot be started: ${unbuilt(program) ?? hint}`);
  }
  try {
    if (!stat.isFile()) throw new Error("no file");
    accessSync(found, constants.X_OK);
  } catch (cause) {
    throw new Failure("invalid", `"${program}" is not executable; chmod +x it`, { cause });
  }
  const head = headOf(found);
  if (head.startsWith("\x7fELF")) return { words: [found], env: {} };
  if (!head.startsWith("#!")) {
    throw new Failure("invalid", `"${program}" cannot run on this machine and has no first line such as #!/bin/sh`);
  }
  const line = head.slice(2).split("\n", 1)[0]?.trim().split(/\s+/) ?? [];
  if (wantsBun(line, path)) return { words: [process.execPath, "run", found], env: { BUN_BE_BUN: "1" } };
  if (statSync(line[0] ?? "", { throwIfNoEntry: false })?.isFile() === true) return { words: [found], env: {} };
  throw new Failure("not_found", `"${program}" cannot be started: ${hint} ("${line[0]}")`);
}

/** Whether a first line names bun, and there is none that the plugin's own user could run as well. */
function wantsBun([interpreter = "", ...words]: readonly string[], path: string | undefined): boolean {
  if (basename(interpreter) === "bun") return !isForEverybody(interpreter);
  const named = basename(interpreter) === "env" ? words.find((word) => word !== "-S") : undefined;
  if (named !== "bun") return false;
  const found = Bun.which("bun", { PATH: path ?? "" });
  return found === null || !isForEverybody(found);
}

/** Whether every user may execute the file, links followed, and enter each folder above it. */
function isForEverybody(path: string): boolean {
  try {
    const whole = realpathSync(path);
    const folders = [path, whole].flatMap(foldersAbove);
    return [...folders, whole].every((at) => (statSync(at).mode & constants.S_IXOTH) !== 0);
  } catch {
    return false;
  }
}

function foldersAbove(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [folder, ...foldersAbove(folder)];
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

/** How a program that is not there is made, where its source is beside it. */
export function unbuilt(program: string): string | undefined {
  if (!program.startsWith("/")) return undefined;
  const folder = [dirname(program), dirname(dirname(program))].find((path) => existsSync(join(path, "go.mod")));
  if (folder === undefined) return undefined;
  return `it is not built; run: cd "${folder}" && CGO_ENABLED=0 go build -o ${relative(folder, program)} .`;
}
