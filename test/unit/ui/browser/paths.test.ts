import { expect, test } from "bun:test";
import { appPath, matchPath } from "../../../../src/ui/browser/paths.ts";

test("a pattern gives the values of its parts", () => {
  expect(matchPath("/apps/:scope/:name", "/apps/shop/web.api/")).toEqual({ scope: "shop", name: "web.api" });
  expect(matchPath("/apps/:scope/:name", "/apps/shop")).toBeUndefined();
  expect(matchPath("/", "/")).toEqual({});
  expect(matchPath("/logs", "/logs/x")).toBeUndefined();
});

test("what a person typed is read as it stands", () => {
  expect(matchPath("/apps/:scope/:name", "/apps/%ff/%3Cb%3E")).toEqual({ scope: "%ff", name: "<b>" });
});

test("the address of an app leads back to it", () => {
  const path = appPath({ scope: "shop", name: "a b" }, "logs");
  expect(matchPath("/apps/:scope/:name/logs", path)).toEqual({ scope: "shop", name: "a b" });
});
