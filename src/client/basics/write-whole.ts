import { realpathSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { diskFailure } from "../../base/wire/disk-failure.ts";
import { CommandFailure } from "./failures.ts";

interface Written {
  path: string;
  /** The path as the operator wrote it, for messages. */
  shown: string;
  text: string;
  /** Mode of a new file. An existing file keeps its own, unless `exact` is set. */
  mode: number;
  exact?: boolean;
}

/** Writes a file: all of the text, or nothing where the disk is full or the command is killed. A link stays one. */
export function writeWhole({ path, shown, text, mode, exact = false }: Written): void {
  const before = statSync(path, { throwIfNoEntry: false });
  const target = before === undefined ? path : realpathSync(path);
  // A pipe or a device has no place to put another file into.
  const isPlain = before === undefined || before.isFile();
  const part = isPlain ? join(dirname(target), `.${basename(target)}.${process.pid}.part`) : target;
  const own = exact || before === undefined ? mode : before.mode & 0o777;
  try {
    writeFileSync(part, text, { mode: own });
    if (isPlain) renameSync(part, target);
  } catch (error) {
    const failure = diskFailure(error, shown);
    throw failure instanceof Error ? new CommandFailure(failure.message) : error;
  } finally {
    if (isPlain) rmSync(part, { force: true });
  }
}
