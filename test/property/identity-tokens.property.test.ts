import { afterAll, beforeAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { errors, jwtVerify } from "jose";
import { encodePart } from "../../src/identity/core/jwt.ts";
import { type IdentityWorld, identityWorld, type Tenant } from "../support/identity.ts";

let it: IdentityWorld;
let shop: Tenant;
let real: string;

beforeAll(async () => {
  it = identityWorld();
  shop = await it.tenant();
  real = (await it.signedIn(shop)).token;
});

afterAll(() => it.close());

const read = (token: string) => it.running.identity.tokens.read(shop.entry(), token);

/** What jose says, in our words. It takes tokens without an end or a user; ours always have both. */
async function oracle(token: string): Promise<string> {
  try {
    await jwtVerify(token, new TextEncoder().encode(shop.secretKey), {
      algorithms: ["HS256"],
      currentDate: new Date(it.clock.now()),
      requiredClaims: ["exp", "sub"],
    });
    return "ok";
  } catch (error) {
    return error instanceof errors.JWTExpired ? "Token expired" : "Token invalid signature";
  }
}

const seconds = () => Math.floor(it.clock.now() / 1000);

const plain = fc.record(
  { alg: fc.constant("HS256"), typ: fc.constantFrom("JWT", "at+jwt", "jwt"), kid: fc.string({ maxLength: 8 }) },
  { requiredKeys: ["alg"] },
);
const odd = fc.record(
  {
    alg: fc.constantFrom("HS256", "none", "HS512", "hs256", "RS256", ""),
    crit: fc.constantFrom(["exp"], ["b64"]),
  },
  { requiredKeys: [] },
);
const header = fc.oneof({ weight: 3, arbitrary: plain }, { weight: 1, arbitrary: odd });

const around = fc.integer({ min: -3, max: 3 }).map((off) => ({ off }));
const time = fc.oneof({ weight: 4, arbitrary: around }, { weight: 1, arbitrary: fc.constantFrom("1", null, true) });

const claims = fc.record(
  {
    sub: fc.string({ minLength: 1, maxLength: 8 }),
    exp: fc.oneof({ weight: 1, arbitrary: fc.constant({ off: 100 }) }, { weight: 1, arbitrary: time }),
    nbf: fc.oneof({ weight: 2, arbitrary: fc.constant({ off: -1 }) }, { weight: 1, arbitrary: time }),
    iat: fc.constant({ off: 0 }),
    name: fc.string({ unit: "grapheme", maxLength: 8 }),
  },
  { requiredKeys: ["sub"] },
);

/** Times are told apart from the clock of the moment. */
function timed(payload: Record<string, unknown>): object {
  const at = (value: unknown) =>
    typeof value === "object" && value !== null && "off" in value ? seconds() + Number(value.off) : value;
  return Object.fromEntries(Object.entries(payload).map(([name, value]) => [name, at(value)]));
}

test("a token under the right key is taken exactly when jose takes it, and refused in the same words", async () => {
  const seen = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(header, claims, async (head, payload) => {
      const input = `${encodePart(head)}.${encodePart(timed(payload))}`;
      const token = `${input}.${createHmac("sha256", shop.secretKey).update(input).digest("base64url")}`;
      const found = read(token);
      const said = typeof found === "string" ? found : "ok";
      expect(said).toBe(await oracle(token));
      seen.set(said, (seen.get(said) ?? 0) + 1);
    }),
    { numRuns: 600 },
  );
  // A run that meets only refusals would show nothing: tens of each are the rule.
  expect([...seen.keys()].sort()).toEqual(["Token expired", "Token invalid signature", "ok"]);
});

test("whatever is done to a token, it is refused", () => {
  const letters = "ABCxyz019-_.=+/ %\u0000é";
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          at: fc.nat(real.length),
          cut: fc.nat(4),
          put: fc.string({ unit: fc.constantFrom(...letters), maxLength: 4 }),
        }),
        { minLength: 1, maxLength: 4 },
      ),
      (edits) => {
        const changed = edits.reduce((text, { at, cut, put }) => text.slice(0, at) + put + text.slice(at + cut), real);
        fc.pre(changed !== real);
        expect(read(changed)).toBe("Token invalid signature");
      },
    ),
    { numRuns: 2_000 },
  );
});

test("no text at all is taken, and none breaks the reader", () => {
  const part = fc.string({ unit: fc.constantFrom(..."eyJhbGciOiJIUzI1NiJ9._-") });
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string({ unit: "binary" }),
        part,
        fc.tuple(part, part, part).map((p) => p.join(".")),
      ),
      (text) => {
        expect(read(text)).toBe("Token invalid signature");
      },
    ),
    { numRuns: 2_000 },
  );
});
