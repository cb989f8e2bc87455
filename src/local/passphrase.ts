import { Failure } from "../base/wire/failure.ts";
import { readBounded } from "../client/basics/read-bounded.ts";
import { diskLimits } from "../config/disk-limits.ts";
import { type Secret, secret } from "../base/words/secret.ts";

/**
 * The first line of the file, or of stdin for `-`. Never an argument: those are seen by everybody on the machine. `what`
 * names the secret in errors.
 */
export async function readPassphrase(path: string | undefined, what = "passphrase"): Promise<Secret | undefined> {
  if (path === undefined) return undefined;
  const text = path === "-" ? await Bun.stdin.text() : readOrFail(path, what);
  const line = text.split("\n")[0]?.trimEnd() ?? "";
  const place = path === "-" ? "stdin" : `"${path}"`;
  if (line === "") throw new Failure("invalid", `there is no ${what} in ${place}: its first line is empty`);
  return secret(line);
}

function readOrFail(path: string, what: string): string {
  try {
    const bytes = readBounded(path, path, { bytesMax: diskLimits.passphraseFileBytesMax, mayBePipe: true });
    return new TextDecoder().decode(bytes);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Failure("invalid", `the file of the ${what} cannot be read: ${why}`, { cause });
  }
}
