import { scrypt, timingSafeEqual } from "node:crypto";
import { Failure } from "../../base/wire/failure.ts";
import { parsePasswordHash } from "../core/password-hash.ts";
import { passwordText, passwordTexts } from "../core/password-text.ts";
import { createFairLimit, type Lane } from "../../base/words/fair-limit.ts";
import type { SignInLimits } from "./limits.ts";

/**
 * What a password is to a hash. `outdated` is right as well, but the hash should be made again: it is of another system,
 * of a time when ours cost less, or of the password as it was typed, before `passwordText`.
 */
type PasswordVerdict = "wrong" | "right" | "outdated";

/**
 * Passwords at rest. Each call takes a noticeable part of a second, in a thread of its own; instances take turns, and
 * the clients of each. Fails `unavailable` when too many wait, for the client that has most of them.
 */
export interface Passwords {
  /** PHC string of argon2id, of the password's `passwordText`. */
  hash(password: string, lane: Lane): Promise<string>;
  /**
   * Whether the password belongs to the hash, in its one form or as it was typed; undefined stands for a user who is not
   * there or has no password, and takes as long as a wrong one.
   */
  verify(password: string, hash: string | undefined, lane: Lane): Promise<PasswordVerdict>;
}

type PasswordLimits = Pick<
  SignInLimits,
  "passwordWorkers" | "passwordsWaitingMax" | "passwordMemoryKib" | "passwordPasses" | "passwordBytesMax"
>;

const busyRetrySeconds = 2;
/** What the service and its operators have to do themselves. */
export const serviceLane: Lane = { group: "", member: "" };

export function createPasswords(limits: PasswordLimits): Passwords {
  const inTurn = createFairLimit({
    running: limits.passwordWorkers,
    waitingMax: limits.passwordsWaitingMax,
    refusal: () =>
      new Failure("unavailable", "too many sign-ins at this moment; try again in a few seconds", {
        retryAfterSeconds: busyRetrySeconds,
      }),
  });
  let dummy: Promise<string> | undefined;
  const cost = {
    algorithm: "argon2id",
    memoryCost: limits.passwordMemoryKib,
    timeCost: limits.passwordPasses,
  } as const;
  const hash = (password: string, lane: Lane) => inTurn(lane, () => Bun.password.hash(passwordText(password), cost));
  /** A hash of no user's password: a sign-in without a user is compared with it. */
  const dummyHash = () => {
    dummy ??= hash(crypto.randomUUID(), serviceLane).catch((error) => {
      dummy = undefined;
      throw error;
    });
    return dummy;
  };
  const isOutdated = (stored: string) =>
    !stored.startsWith(`$argon2id$v=19$m=${limits.passwordMemoryKib},t=${limits.passwordPasses},`);
  const checkOne = async (text: string, stored: string | undefined, fallback: string): Promise<boolean> => {
    // Longer ones were never taken; the work stays the same.
    const fits = Buffer.byteLength(text) <= limits.passwordBytesMax;
    const known = fits ? text : "";
    // One of another system may cost less: beside it the usual work is done, so that the time does not show who has one.
    const usual = stored !== undefined && isOutdated(stored) ? check(known, fallback) : undefined;
    const [right] = await Promise.all([check(known, stored ?? fallback), usual]);
    return right && fits && stored !== undefined;
  };
  return {
    hash,
    async verify(password, stored, lane) {
      // Always made, so that the first unknown user after a start takes no longer than a known one.
      const fallback = await dummyHash();
      return inTurn(lane, async () => {
        // How many there are depends on what was typed alone, never on the user.
        for (const text of passwordTexts(password)) {
          if (!(await checkOne(text, stored, fallback))) continue;
          return stored === undefined || isOutdated(stored) || text !== passwordText(password) ? "outdated" : "right";
        }
        return "wrong";
      });
    },
  };
}

/** What bcrypt looks at; longer passwords would be treated in another way here than where the hash was made. */
const bcryptBytesMax = 72;

async function check(password: string, stored: string): Promise<boolean> {
  const hash = parsePasswordHash(stored);
  switch (hash?.kind) {
    case undefined:
      return false;
    case "argon2":
      return password !== "" && Bun.password.verify(password, hash.text);
    case "bcrypt":
      return password !== "" && Bun.password.verify(cut(password), hash.text);
    case "scrypt": {
      const { n, r, p, salt, hash: expected } = hash;
      const actual = await derive(password, salt, { n, r, p, length: expected.length });
      return actual.length === expected.length && timingSafeEqual(actual, expected);
    }
  }
}

function cut(password: string): string | Uint8Array<ArrayBuffer> {
  const bytes = new TextEncoder().encode(password);
  return bytes.length > bcryptBytesMax ? bytes.slice(0, bcryptBytesMax) : password;
}

function derive(
  password: string,
  salt: Uint8Array,
  { n, r, p, length }: { n: number; r: number; p: number; length: number },
): Promise<Uint8Array> {
  // The platform counts a little more than the 128 * N * r of RFC 7914.
  const options = { N: n, r, p, maxmem: 128 * n * r + 128 * r * p + 1024 * 1024 };
  return new Promise((resolve, reject) =>
    scrypt(password, salt, length, options, (error, key) => (error ? reject(error) : resolve(key))),
  );
}
