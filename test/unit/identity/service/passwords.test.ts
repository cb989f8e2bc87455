import { describe, expect, spyOn, test } from "bun:test";
import { createPasswords } from "../../../../src/identity/service/passwords.ts";
import { thrownBy } from "../../../support/failure.ts";

const lane = { group: "inst_a", member: "203.0.113.7" };
const limits = {
  passwordWorkers: 1,
  passwordsWaitingMax: 2,
  passwordMemoryKib: 1_024,
  passwordPasses: 1,
  passwordBytesMax: 1_024,
};

describe("passwords", () => {
  const passwords = createPasswords(limits);

  test("argon2id of the configured cost, salted", async () => {
    const [one, two] = [await passwords.hash("secret", lane), await passwords.hash("secret", lane)];
    expect(one).toStartWith("$argon2id$v=19$m=1024,t=1,p=1$");
    expect(one).not.toBe(two);
    expect(await passwords.verify("secret", one, lane)).toBe(true);
    expect(await passwords.verify("Secret", one, lane)).toBe(false);
  });

  test("nobody's password is never right, nor one that is empty or endless", async () => {
    expect(await passwords.verify("secret", undefined, lane)).toBe(false);
    const hash = await passwords.hash("secret", lane);
    expect(await passwords.verify("", hash, lane)).toBe(false);
    expect(await passwords.verify("x".repeat(100_000), hash, lane)).toBe(false);
    for (const odd of ["", "secret", "$argon2id$", "$2b$10$short", "$scrypt$ln=40,r=8,p=1$AAAA$AAAA"]) {
      expect(await passwords.verify("secret", odd, lane)).toBe(false);
    }
  });

  test("hashes of elsewhere, and of cheaper days, are outdated", async () => {
    expect(passwords.isOutdated(await passwords.hash("x", lane))).toBe(false);
    expect(passwords.isOutdated("$2b$10$x")).toBe(true);
    expect(passwords.isOutdated("$argon2id$v=19$m=512,t=1,p=1$a$b")).toBe(true);
  });

  test("beside a hash of elsewhere the usual work is done, whatever it finds", async () => {
    const foreign = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
    const own = await passwords.hash("secret", lane);
    await passwords.verify("secret", undefined, lane);
    const verify = spyOn(Bun.password, "verify");
    const work = async (password: string, hash: string | undefined) => {
      verify.mockClear();
      const isRight = await passwords.verify(password, hash, lane);
      return [isRight, verify.mock.calls.filter(([, text]) => String(text).startsWith("$argon2id$v=19$m=1024")).length];
    };
    try {
      expect(await work("secret", foreign)).toEqual([true, 1]);
      expect(await work("wrong", foreign)).toEqual([false, 1]);
      expect(await work("secret", own)).toEqual([true, 1]);
      expect(await work("wrong", undefined)).toEqual([false, 1]);
    } finally {
      verify.mockRestore();
    }
  });

  test("so many wait and no more; the rest are told to come back", async () => {
    const busy = createPasswords(limits);
    const running = [1, 2, 3].map(() => busy.hash("x", lane));
    const failure = await thrownBy(() => busy.hash("x", lane));
    expect(failure).toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
    await Promise.all(running);
    await busy.hash("x", lane);
  });

  test("other work goes on meanwhile", async () => {
    const slow = createPasswords({ ...limits, passwordMemoryKib: 64 * 1_024 });
    let turns = 0;
    const timer = setInterval(() => {
      turns += 1;
    }, 1);
    await slow.hash("x", lane);
    clearInterval(timer);
    expect(turns).toBeGreaterThan(5);
  });
});
