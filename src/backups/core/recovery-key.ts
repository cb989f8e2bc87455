import { Failure } from "../../base/wire/failure.ts";

/** Letters and digits that are not taken for one another when they are written down. */
const alphabet = "23456789abcdefghjkmnpqrstuvwxyz";
const groups = 8;
const groupLetters = 5;

/** What opens every copy of a server, and names whose copies they are: `<installation>.xxxxx-xxxxx-…`, 198 bits of chance. */
interface RecoveryKey {
  installation: string;
  /** The whole text: the password of the repository. */
  text: string;
}

/** `random`: at least 80 bytes. Bytes beyond the largest multiple of the alphabet are left out, so that each letter is as likely. */
export function makeRecoveryKey(installation: string, random: Uint8Array): RecoveryKey {
  const fair = 256 - (256 % alphabet.length);
  const letters = Array.from(random)
    .filter((byte) => byte < fair)
    .slice(0, groups * groupLetters)
    .map((byte) => alphabet[byte % alphabet.length] ?? "");
  if (letters.length < groups * groupLetters) throw new RangeError("too few random bytes for a recovery key");
  const parts = Array.from({ length: groups }, (_, at) =>
    letters.slice(at * groupLetters, (at + 1) * groupLetters).join(""),
  );
  return { installation, text: `${installation}.${parts.join("-")}` };
}

/** Reads a key as it was written down: blanks around it and capital letters do not matter. Fails `invalid`. */
export function readRecoveryKey(written: string): RecoveryKey {
  const text = written.trim().toLowerCase();
  const [, installation] = /^([0-9a-f]{8,64})\.[a-z0-9]{5}(?:-[a-z0-9]{5}){7}$/.exec(text) ?? [];
  if (installation === undefined) {
    throw new Failure(
      "invalid",
      "this is not a recovery key: one looks like 0123456789abcdef.xxxxx-xxxxx-… (8 groups)",
    );
  }
  return { installation, text };
}
