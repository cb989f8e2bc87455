import { open } from "node:fs/promises";
import { constants } from "node:fs";
import { Failure } from "../wire/failure.ts";
import { codeOf, diskFailure } from "../wire/disk-failure.ts";

/**
 * The text of a regular file that somebody else has named. Fails `not_found` where there is none, `invalid` for what
 * is not a file, `too_large` beyond `bytesMax`, `unavailable` for one that cannot be read.
 */
export async function readTextFile(path: string, bytesMax: number): Promise<string> {
  try {
    // Opening a named pipe would wait for a writer.
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const about = await file.stat();
      if (!about.isFile()) throw new Failure("invalid", `"${path}" is not a file`);
      if (about.size > bytesMax)
        throw new Failure("too_large", `"${path}" has ${about.size} bytes; the most is ${bytesMax}`);
      return await file.readFile("utf8");
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === "ENOENT") throw new Failure("not_found", `file "${path}" does not exist`, { cause: error });
    throw diskFailure(error, path);
  }
}
