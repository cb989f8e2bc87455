import { readFile } from "node:fs/promises";
import { Failure } from "../base/wire/failure.ts";
import { type Secret, secret } from "../base/words/secret.ts";

/** The first line of the file, or of stdin for `-`. Never an argument: those are seen by everybody on the machine. */
export async function readPassphrase(path: string | undefined): Promise<Secret | undefined> {
  if (path === undefined) return undefined;
  const text = path === "-" ? await Bun.stdin.text() : await readOrFail(path);
  const line = text.split("\n")[0]?.trimEnd() ?? "";
  if (line === "") throw new Failure("invalid", `the passphrase in "${path}" is empty`);
  return secret(line);
}

async function readOrFail(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (cause) {
    throw new Failure("invalid", `the passphrase file "${path}" cannot be read: check the path`, { cause });
  }
}
