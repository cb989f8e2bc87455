import { expect, test } from "bun:test";
import { effectiveProvider, type ProviderSetting } from "../../../../src/identity/core/providers.ts";

const setting = (over: Partial<ProviderSetting> = {}): ProviderSetting => ({
  name: "github",
  kind: "github",
  enabled: true,
  clientId: undefined,
  clientSecret: undefined,
  options: {},
  ...over,
});
const own = setting({ clientId: "own", clientSecret: "s", options: { token_url: "https://own.test/t" } });
const global = setting({
  clientId: "all",
  clientSecret: "g",
  options: { token_url: "https://all.test/t", pkce: false },
});

test("own credentials win, global ones stand in, and turning off beats both", () => {
  expect(effectiveProvider(own, global)).toMatchObject({ clientId: "own", source: "own" });
  expect(effectiveProvider(undefined, global)).toMatchObject({ clientId: "all", source: "global" });
  expect(effectiveProvider(own, undefined)).toMatchObject({ clientId: "own" });
  expect(effectiveProvider(undefined, undefined)).toBeUndefined();
  expect(effectiveProvider(setting(), undefined)).toBeUndefined();
  expect(effectiveProvider({ ...own, enabled: false }, global)).toBeUndefined();
  expect(effectiveProvider(undefined, { ...global, enabled: false })).toBeUndefined();
});

test("global credentials never go to an endpoint that an instance has chosen", () => {
  const mine = setting({ options: { token_url: "https://evil.test/t", issuer: "https://evil.test", label: "GitHub" } });
  expect(effectiveProvider(mine, global)?.options).toEqual({
    token_url: "https://all.test/t",
    pkce: false,
    label: "GitHub",
  });
});
