import { open, realpath, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { CommandFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";

/**
 * Writes a file with mode 0600: all of the text or nothing, and no other user can read it at any time. A link stays one.
 * `shown` is the path as the operator wrote it.
 */
export async function writePrivately(path: string, shown: string, text: string): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const part = join(dirname(target), `.${basename(target)}.${crypto.randomUUID().slice(0, 8)}.part`);
  try {
    const file = await open(part, "wx", 0o600);
    try {
      await file.writeFile(text);
    } finally {
      await file.close();
    }
    await rename(part, target);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(`cannot write "${printable(shown)}": ${why}`);
  } finally {
    await rm(part, { force: true });
  }
}
