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
    expect(await passwords.verify("secret", one, lane)).toBe("right");
    expect(await passwords.verify("Secret", one, lane)).toBe("wrong");
  });

  test("nobody's password is never right, nor one that is empty or endless", async () => {
    expect(await passwords.verify("secret", undefined, lane)).toBe("wrong");
    const hash = await passwords.hash("secret", lane);
    expect(await passwords.verify("", hash, lane)).toBe("wrong");
    expect(await passwords.verify("x".repeat(100_000), hash, lane)).toBe("wrong");
    for (const odd of ["", "secret", "$argon2id$", "$2b$10$short", "$scrypt$ln=40,r=8,p=1$AAAA$AAAA"]) {
      expect(await passwords.verify("secret", odd, lane)).toBe("wrong");
    }
  });

  test("hashes of elsewhere, and of cheaper days, are outdated", async () => {
    const bcrypt = await Bun.password.hash("x", { algorithm: "bcrypt", cost: 4 });
    const cheap = await Bun.password.hash("x", { algorithm: "argon2id", memoryCost: 512, timeCost: 1 });
    expect(await passwords.verify("x", await passwords.hash("x", lane), lane)).toBe("right");
    expect(await passwords.verify("x", bcrypt, lane)).toBe("outdated");
    expect(await passwords.verify("x", cheap, lane)).toBe("outdated");
  });

  test("one password, whichever keyboard writes it", async () => {
    const [composed, apart] = ["Jos\u00e9 \u1e69", "Jose\u0301\u00a0s\u0323\u0307"];
    for (const chosen of [composed, apart]) {
      const hash = await passwords.hash(chosen, lane);
      expect(await passwords.verify(composed, hash, lane)).toBe("right");
      expect(await passwords.verify(apart, hash, lane)).toBe("right");
      expect(await passwords.verify("Jose \u1e69", hash, lane)).toBe("wrong");
      expect(await passwords.verify(composed.toUpperCase(), hash, lane)).toBe("wrong");
    }
  });

  test("a hash of what was typed, of earlier versions or elsewhere, still opens, and is outdated", async () => {
    const apart = "Jose\u0301\u00a0x";
    const earlier = [
      await Bun.password.hash(apart, { algorithm: "argon2id", memoryCost: 1_024, timeCost: 1 }),
      await Bun.password.hash(apart, { algorithm: "bcrypt", cost: 4 }),
    ];
    for (const hash of earlier) {
      expect(await passwords.verify(apart, hash, lane)).toBe("outdated");
      expect(await passwords.verify("Jose\u0301 y", hash, lane)).toBe("wrong");
    }
  });

  test("the work depends on what was typed, not on whether there is a user", async () => {
    const own = await passwords.hash("secret", lane);
    await passwords.verify("secret", undefined, lane);
    const verify = spyOn(Bun.password, "verify");
    const work = async (password: string, hash: string | undefined) => {
      verify.mockClear();
      expect(await passwords.verify(password, hash, lane)).toBe("wrong");
      return verify.mock.calls.length;
    };
    try {
      for (const typed of ["wrong", "wrong e\u0301", "wrong \u00e9"]) {
        expect(await work(typed, own)).toBe(await work(typed, undefined));
      }
      expect([await work("wrong", own), await work("wrong e\u0301", own)]).toEqual([1, 2]);
    } finally {
      verify.mockRestore();
    }
  });

  test("beside a hash of elsewhere the usual work is done, whatever it finds", async () => {
    const foreign = await Bun.password.hash("secret", { algorithm: "bcrypt", cost: 4 });
    const own = await passwords.hash("secret", lane);
    await passwords.verify("secret", undefined, lane);
    const verify = spyOn(Bun.password, "verify");
    const work = async (password: string, hash: string | undefined) => {
      verify.mockClear();
      const verdict = await passwords.verify(password, hash, lane);
      return [verdict, verify.mock.calls.filter(([, text]) => String(text).startsWith("$argon2id$v=19$m=1024")).length];
    };
    try {
      expect(await work("secret", foreign)).toEqual(["outdated", 1]);
      expect(await work("wrong", foreign)).toEqual(["wrong", 1]);
      expect(await work("secret", own)).toEqual(["right", 1]);
      expect(await work("wrong", undefined)).toEqual(["wrong", 1]);
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
