import { expect, test } from "bun:test";
import { hostKey, hostOk, plainPath } from "../../../../src/base/pure/hosts.ts";

const plain: Record<string, string> = {
  "/": "/",
  "/api/": "/api",
  "//api///x": "/api/x",
  "/%61%2dp%69": "/a-pi",
  "/x/../api/./y": "/api/y",
  "/../..": "/",
  "/x/%2E%2e/api": "/api",
  "/a%2Fb": "/a/b",
  "/a\\b%5Cc": "/a/b/c",
  "/a;v=1/b;w": "/a/b",
  "/;x/api": "/api",
  "/a/..;/b": "/b",
  "/caf%c3%A9%20%00": "/caf%C3%A9%20%00",
  "/50%25%3f%23": "/50%25%3F%23",
  "/100%": "/100%",
  "/v1./x..": "/v1/x",
  "/a%20/.../b%2e": "/a/b",
  "/.well-known/..x": "/.well-known/..x",
};

for (const [path, as] of Object.entries(plain)) {
  test(`${path} is ${as} to an app, and so is that`, () => {
    expect([plainPath(path), plainPath(as)]).toEqual([as, as]);
  });
}

test.each([
  ["App.Example", "app.example", true],
  ["bücher.example", "xn--bcher-kva.example", true],
  ["*.BÜCHER.example", "*.xn--bcher-kva.example", true],
  ["*", "*", false],
  ["http://bücher.example", "http://bücher.example", false],
  ["bücher.example:80", "bücher.example:80", false],
  ["", "", false],
])("the one spelling of %s is %s", (host, key, isHost) => {
  expect([hostKey(host), hostKey(hostKey(host)), hostOk(hostKey(host))]).toEqual([key, key, isHost]);
});
