import { expect, test } from "bun:test";
import fc from "fast-check";
import { normaliseEmail } from "../../src/identity/core/email.ts";
import { apiKey, opaqueId, publishableKey, secretKey } from "../../src/identity/core/keys.ts";
import { formatUserLine, parseUserLine, type UserLine } from "../../src/identity/core/user-line.ts";

const time = fc.option(fc.integer({ min: 0, max: 4_000_000_000_000 }), { nil: undefined });
const text = (max: number) =>
  fc
    .string({ unit: "grapheme", maxLength: max })
    .map((value) => value.replaceAll("\0", "").slice(0, max).toWellFormed());
const email = fc
  .tuple(fc.stringMatching(/^[a-z0-9+_-]{1,20}$/), fc.stringMatching(/^[a-z0-9]{1,10}\.test$/))
  .map((parts) => parts.join("@"));

const userLine: fc.Arbitrary<Omit<UserLine, "written">> = fc.record({
  id: fc.option(fc.uuid(), { nil: undefined }),
  email,
  name: fc.option(text(60), { nil: undefined }),
  avatarUrl: fc.constantFrom(undefined, "https://x.test/a.png"),
  emailVerifiedAt: time,
  placeholder: fc.boolean(),
  passwordHash: fc.constantFrom(undefined, "$2b$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy"),
  bannedAt: time,
  createdAt: time,
  updatedAt: time,
  identities: fc.uniqueArray(
    fc.record({
      provider: fc.constantFrom("google", "github", "acme-sso"),
      uid: fc.stringMatching(/^[\x21-\x7e]{1,30}$/),
      email: fc.option(email, { nil: undefined }),
      emailVerified: fc.boolean(),
    }),
    { maxLength: 4, selector: ({ provider, uid }) => `${provider} ${uid}` },
  ),
});

test("whatever an export writes is one line, and an import reads the same from it", () => {
  fc.assert(
    fc.property(userLine, (user) => {
      const line = formatUserLine(user);
      expect(line).not.toContain("\n");
      expect(parseUserLine(line, 1)).toEqual({ ok: true, value: { ...user, written: user.email } });
    }),
  );
});

test("no line makes an import throw, and an address that comes in has one spelling", () => {
  const anything = fc.oneof(
    fc.json(),
    fc.string(),
    fc.object({ key: fc.constantFrom("id", "email", "name", "identities") }).map((value) => JSON.stringify(value)),
  );
  fc.assert(
    fc.property(anything, (line) => {
      const read = parseUserLine(line, 1);
      if (read.ok && read.value !== undefined) expect(normaliseEmail(read.value.email)).toBe(read.value.email);
    }),
  );
});

test("keys and ids are letters and digits of a fixed length, whatever the random bytes", () => {
  const bytes = (count: number) => fc.uint8Array({ minLength: count, maxLength: count });
  fc.assert(
    fc.property(bytes(32), bytes(24), bytes(20), (secret, publishable, id) => {
      expect(secretKey("production", secret)).toMatch(/^sk_live_[0-9A-Za-z]{43}$/);
      expect(apiKey("development", secret)).toMatch(/^ak_test_[0-9A-Za-z]{43}$/);
      expect(publishableKey("production", publishable)).toMatch(/^pk_live_[0-9A-Za-z]{24}$/);
      expect(opaqueId("inst", id)).toMatch(/^inst_[a-z2-7]{20}$/);
    }),
  );
});
