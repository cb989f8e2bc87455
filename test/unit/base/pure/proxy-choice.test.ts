import { describe, expect, test } from "bun:test";
import { noProxyFor, proxyArguments, proxyFor } from "../../../../src/base/pure/proxy-choice.ts";

const both = { http_proxy: "http://p:1", https_proxy: "http://s:2" };

describe("the proxy for a URL", () => {
  test.each([
    ["https://a.test/", {}, undefined],
    ["https://a.test/", both, "https_proxy"],
    ["http://a.test/", both, "http_proxy"],
    ["https://a.test/", { http_proxy: "http://p:1" }, undefined],
    ["https://a.test/", { HTTPS_PROXY: "http://s:2" }, "HTTPS_PROXY"],
    ["https://a.test/", { https_proxy: "http://s:2", HTTPS_PROXY: "http://other" }, "https_proxy"],
    ["https://a.test/", { https_proxy: " ", ALL_PROXY: "http://all" }, "ALL_PROXY"],
    ["http://a.test/", { all_proxy: "http://all" }, "all_proxy"],
    ["http://127.0.0.1:8686/", both, undefined],
    ["http://127.8.9.1/", both, undefined],
    ["http://[::1]/", both, undefined],
    ["https://localhost/", both, undefined],
    ["https://app.localhost/", both, undefined],
    ["https://127.example.test/", both, "https_proxy"],
    ["https://a.test/", { ...both, no_proxy: "*" }, undefined],
    ["https://a.test/", { ...both, NO_PROXY: "b.test,a.test" }, undefined],
    ["https://a.test/", { ...both, no_proxy: "b.test", NO_PROXY: "a.test" }, "https_proxy"],
    ["https://x.a.test/", { ...both, no_proxy: "b.test, .A.test" }, undefined],
    ["https://x.a.test/", { ...both, no_proxy: "*.a.test" }, undefined],
    ["https://xa.test/", { ...both, no_proxy: "a.test" }, "https_proxy"],
    ["https://a.test/", { ...both, no_proxy: "a.test:443" }, undefined],
    ["https://a.test/", { ...both, no_proxy: "a.test:80" }, "https_proxy"],
    ["https://a.test/", { ...both, no_proxy: ", ,." }, "https_proxy"],
    ["https://[2001:db8::1]/", { ...both, no_proxy: "[2001:db8::1]:443" }, undefined],
  ])("%s with %j: %p", (url, variables, variable) => {
    expect(proxyFor(new URL(url), variables)?.variable).toBe(variable);
  });
});

test("programs get hosts beside what no_proxy has, each once and in both spellings", () => {
  expect(noProxyFor({ no_proxy: "a" }, ["b"])).toEqual({});
  expect(noProxyFor({ HTTP_PROXY: "http://p" }, ["a", "b"])).toEqual({ no_proxy: "a,b", NO_PROXY: "a,b" });
  const more = noProxyFor({ all_proxy: "http://p", NO_PROXY: "x.test, a" }, ["a", "b"]);
  expect(more).toEqual({ no_proxy: "x.test,a,b", NO_PROXY: "x.test,a,b" });
});

describe("a build gets the proxies as arguments", () => {
  test("in both spellings, with their exceptions", () => {
    expect(proxyArguments({ HTTP_PROXY: "http://p:1", no_proxy: "a.test" })).toEqual({
      http_proxy: "http://p:1",
      HTTP_PROXY: "http://p:1",
      no_proxy: "a.test",
      NO_PROXY: "a.test",
    });
  });

  test.each([
    [{}],
    [{ no_proxy: "a.test" }],
    [{ http_proxy: "http://127.0.0.1:3128", https_proxy: "http://localhost:3128", all_proxy: "http://[::1]:1" }],
    [{ https_proxy: "http://user:password@p:1", http_proxy: "http://user@p:1" }],
    [{ http_proxy: "not an address" }],
  ])("not %j, which is not there or not for everybody", (variables) => expect(proxyArguments(variables)).toEqual({}));
});
