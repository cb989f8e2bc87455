import { Failure } from "../base/wire/failure.ts";
import { readBounded } from "../client/basics/read-bounded.ts";
import { diskLimits } from "../config/disk-limits.ts";
import { type Secret, secret } from "../base/words/secret.ts";

/** The first line of the file, or of stdin for `-`. Never an argument: those are seen by everybody on the machine. */
export async function readPassphrase(path: string | undefined): Promise<Secret | undefined> {
  if (path === undefined) return undefined;
  const text = path === "-" ? await Bun.stdin.text() : readOrFail(path);
  const line = text.split("\n")[0]?.trimEnd() ?? "";
  if (line === "") throw new Failure("invalid", `the passphrase in "${path}" is empty`);
  return secret(line);
}

function readOrFail(path: string): string {
  try {
    const bytes = readBounded(path, path, { bytesMax: diskLimits.passphraseFileBytesMax, mayBePipe: true });
    return new TextDecoder().decode(bytes);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("invalid", `the passphrase file cannot be read: ${why}`, { cause });
  }
}
