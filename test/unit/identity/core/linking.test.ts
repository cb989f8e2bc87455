import { describe, expect, test } from "bun:test";
import {
  type AddressHolder,
  type AddressNews,
  type ProviderSignIn,
  decideAccount,
  decideAddress,
  isSameSource,
  saidAddress,
} from "../../../../src/identity/core/linking.ts";

const profile = {
  uid: "1",
  handle: "1",
  email: "ana@example.com",
  emailVerified: true,
  authoritative: false,
  name: "Ana",
  avatarUrl: undefined,
};
const settings = {
  linking: "verified",
  block_subaddresses: false,
  placeholder_domain: "users.noreply.invalid",
} as const;
const proven: AddressHolder = {
  emailVerifiedAt: 1,
  placeholder: false,
  hasAccountThere: false,
  isSignedInHere: false,
};
const unproven: AddressHolder = { ...proven, emailVerifiedAt: undefined };

const decide = (arrival: Partial<ProviderSignIn> & { with?: Partial<ProviderSignIn["profile"]> }) =>
  decideAccount({ isKnown: false, holder: undefined, settings, ...arrival, profile: { ...profile, ...arrival.with } })
    .step;

describe("who an account belongs to", () => {
  const cases: [string, Parameters<typeof decide>[0], string][] = [
    ["a known account is its user's, whatever its address says now", { isKnown: true, holder: proven }, "known"],
    ["nobody has the address", {}, "create"],
    ["a proven user has it", { holder: proven }, "link"],
    ["somebody has it who never proved it", { holder: unproven }, "take_over"],
    ["the provider has not proved it", { holder: proven, with: { emailVerified: false } }, "create_placeholder"],
    ["there is none", { with: { email: undefined, emailVerified: false } }, "create_placeholder"],
    ["it is one of ours", { with: { email: "7@users.noreply.invalid" } }, "create_placeholder"],
    ["it is below ours", { with: { email: "7@github.users.noreply.invalid" } }, "create_placeholder"],
    ["its holder is one that we made up", { holder: { ...proven, placeholder: true } }, "create_placeholder"],
    [
      "a proven user has it, and another account of the provider",
      { holder: { ...proven, hasAccountThere: true } },
      "create_placeholder",
    ],
    [
      "an unproven user has it, and another account of the provider that would stay",
      { holder: { ...unproven, hasAccountThere: true } },
      "create_placeholder",
    ],
    [
      "that user brings the second account",
      { holder: { ...proven, hasAccountThere: true, isSignedInHere: true } },
      "link",
    ],
    [
      "being signed in proves no address",
      { holder: { ...proven, isSignedInHere: true }, with: { emailVerified: false } },
      "create_placeholder",
    ],
    [
      "+ where that is not wanted",
      { with: { email: "a+b@example.com" }, settings: { ...settings, block_subaddresses: true } },
      "refuse",
    ],
    [
      "strict, and not the host of the mailbox",
      { holder: proven, settings: { ...settings, linking: "authoritative" } },
      "create_placeholder",
    ],
    [
      "strict, unproven holder, not the host",
      { holder: unproven, settings: { ...settings, linking: "authoritative" } },
      "create_placeholder",
    ],
    [
      "strict, and the host",
      { holder: proven, with: { authoritative: true }, settings: { ...settings, linking: "authoritative" } },
      "link",
    ],
    ["strict, nobody has it", { settings: { ...settings, linking: "authoritative" } }, "create"],
  ];
  for (const [name, arrival, step] of cases)
    test(`${name}: ${step}`, () => expect(decide(arrival)).toBe(step as "link"));
});

describe("what becomes of the address of a known account's user", () => {
  const old = "ana@example.com";
  const said = { email: old, emailVerified: true };
  const move = (news: Partial<Omit<AddressNews, "profile">> & { with?: Partial<AddressNews["profile"]> }) =>
    decideAddress({
      user: { email: old, placeholder: false, hasPassword: false },
      before: said,
      others: [],
      isTaken: false,
      settings,
      ...news,
      profile: { ...profile, email: "new@example.com", ...news.with },
    });
  const user = (fields: Partial<AddressNews["user"]>) => ({
    user: { email: old, placeholder: false, hasPassword: false, ...fields },
  });
  const plus = { with: { email: "a+b@example.com" }, settings: { ...settings, block_subaddresses: true } };
  const placeholder = user({ email: "1@users.noreply.invalid", placeholder: true });
  const cases: [string, Parameters<typeof move>[0], ReturnType<typeof move>][] = [
    ["the same address", { with: { email: old } }, "keep"],
    ["the same, not verified this time", { with: { email: old, emailVerified: false } }, "keep"],
    ["no address", { with: { email: undefined, emailVerified: false } }, "keep"],
    ["another one", {}, "follow"],
    ["another one that somebody has", { isTaken: true }, "release"],
    ["another one that is not verified", { with: { emailVerified: false } }, "release"],
    ["another one that is ours", { with: { email: "7@users.noreply.invalid" } }, "release"],
    ["another one with a + that is not wanted", plus, "release"],
    ["another one; the user has a password", user({ hasPassword: true }), "keep"],
    ["another one; a second account proves the old one", { others: [said] }, "keep"],
    ["another one; a second account only claims it", { others: [{ ...said, emailVerified: false }] }, "follow"],
    ["another one; a second account proves a third", { others: [{ ...said, email: "x@y.zz" }] }, "follow"],
    ["another one; this account never proved the user's", { before: { ...said, emailVerified: false } }, "keep"],
    ["another one; this account said a third before", { before: { ...said, email: "x@y.zz" } }, "keep"],
    ["another one; the user's is the operator's", user({ email: "ops@example.com" }), "keep"],
    ["a placeholder before", placeholder, "follow"],
    ["a placeholder before, and somebody has it", { ...placeholder, isTaken: true }, "keep"],
    ["a placeholder before, and not verified", { ...placeholder, with: { emailVerified: false } }, "keep"],
    ["a placeholder before, and a + that is not wanted", { ...placeholder, ...plus }, "keep"],
  ];
  for (const [name, news, outcome] of cases) test(`${name}: ${outcome}`, () => expect(move(news)).toBe(outcome));
});

describe("what an account says of its address", () => {
  const before = { email: "a@b.io", emailVerified: true };
  const say = (email: string | undefined, emailVerified: boolean, known: typeof before | undefined = before) =>
    saidAddress(known, { ...profile, email, emailVerified });
  test("a first word counts as it is", () => {
    const first = (email: string | undefined) => saidAddress(undefined, { ...profile, email, emailVerified: false });
    expect(first("a@b.io")).toEqual({ email: "a@b.io", emailVerified: false });
    expect(first(undefined)).toEqual({ email: undefined, emailVerified: false });
  });
  test("a proof holds until there is another address", () => {
    expect(say(undefined, false)).toEqual(before);
    expect(say("a@b.io", false)).toEqual(before);
    expect(say("c@d.io", false)).toEqual({ email: "c@d.io", emailVerified: false });
  });
  test("a claim becomes a proof", () => {
    expect(say("a@b.io", true, { ...before, emailVerified: false })).toEqual(before);
    expect(say(undefined, false, { ...before, emailVerified: false }).emailVerified).toBe(false);
  });
});

test("accounts of one provider: the name, and of a connection the issuer", () => {
  const github = { ...profile, uid: "1", handle: "1" };
  expect(isSameSource({ provider: "github", uid: "2" }, "github", github)).toBe(true);
  expect(isSameSource({ provider: "google", uid: "2" }, "github", github)).toBe(false);
  const acme = { ...profile, uid: "https://a.test|1", handle: "1" };
  expect(isSameSource({ provider: "acme", uid: "https://a.test|2" }, "acme", acme)).toBe(true);
  expect(isSameSource({ provider: "acme", uid: "https://b.test|1" }, "acme", acme)).toBe(false);
  expect(isSameSource({ provider: "acme", uid: "1" }, "acme", acme)).toBe(false);
});
