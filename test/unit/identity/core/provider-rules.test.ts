import { expect, test } from "bun:test";
import {
  changedOptions,
  kindOfProvider,
  providerNameProblem,
  providerProblems,
} from "../../../../src/identity/core/provider-rules.ts";
import type { ProviderSetting } from "../../../../src/identity/core/providers.ts";

const github: ProviderSetting = {
  name: "github",
  kind: "github",
  enabled: true,
  clientId: "id",
  clientSecret: "secret",
  options: {},
};
const guard = { allowPrivate: false, closedHost: (host: string) => host === "localhost" || host.startsWith("10.") };
const paths = (setting: ProviderSetting, options = guard) => providerProblems(setting, options).map(({ path }) => path);

test("names lead to kinds; some are taken", () => {
  expect([kindOfProvider("google"), kindOfProvider("acme")]).toEqual(["google", "oidc"]);
  for (const name of ["oidc", "password", "email", "A", "-a", "a/b", "a".repeat(41)]) {
    expect(providerNameProblem(name)).toBeString();
  }
  expect(providerNameProblem("acme-sso")).toBeUndefined();
});

test("endpoints are https and outside this machine unless the operator allows it", () => {
  const at = (token_url: string) => ({ ...github, options: { token_url } });
  expect(paths(at("https://git.test/token"))).toEqual([]);
  for (const url of ["http://git.test/t", "https://localhost/t", "https://10.0.0.1/t"]) {
    expect(paths(at(url))).toEqual(["options.token_url"]);
    expect(paths(at(url), { ...guard, allowPrivate: true })).toEqual([]);
  }
  for (const url of [
    "ftp://git.test/",
    "https://u:p@git.test/",
    "https://git.test\\@x/",
    "token",
    "https://git.test/#a",
  ]) {
    expect(paths(at(url), { ...guard, allowPrivate: true })).toEqual(["options.token_url"]);
  }
});

test("endpoints without credentials of one's own would lead the global ones astray", () => {
  const bare = { ...github, clientId: undefined, clientSecret: undefined };
  expect(paths({ ...bare, options: { token_url: "https://git.test/t" } })).toEqual(["options"]);
  expect(paths({ ...bare, options: { label: "Git" } })).toEqual([]);
  expect(paths({ ...github, clientId: undefined })).toEqual(["client_secret"]);
});

test("an oidc connection says where it lives", () => {
  const oidc: ProviderSetting = { ...github, name: "acme", kind: "oidc" };
  expect(paths(oidc)).toEqual(["options.issuer"]);
  expect(paths({ ...oidc, options: { issuer: "https://sso.test" } })).toEqual([]);
  expect(paths({ ...oidc, options: { authorize_url: "https://a.test/", token_url: "https://a.test/t" } })).toEqual([]);
});

test("options change one by one; unknown ones are named", () => {
  expect(changedOptions({ label: "a", pkce: false }, { pkce: null, scopes: ["x"] }).options).toEqual({
    label: "a",
    scopes: ["x"],
  });
  expect(changedOptions({}, { lable: "x" }).problems[0]).toMatchObject({ path: "options.lable" });
  expect(changedOptions({}, { lable: null }).problems[0]).toMatchObject({ path: "options.lable" });
  expect(paths({ ...github, options: { scopes: ['a"b'] } })).toEqual(["options.scopes"]);
});
