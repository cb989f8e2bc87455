import { describe, expect, test } from "bun:test";
import { type AddressHolder, type ProviderSignIn, decideAccount } from "../../../../src/identity/core/linking.ts";

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
const proven: AddressHolder = { emailVerifiedAt: 1, placeholder: false };
const unproven: AddressHolder = { emailVerifiedAt: undefined, placeholder: false };

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
    ["its holder is one that we made up", { holder: { emailVerifiedAt: 1, placeholder: true } }, "create_placeholder"],
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
