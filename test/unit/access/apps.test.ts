import { expect, test } from "bun:test";
import { appLimitOf, isFromAfar, requireAllApps, sees, sightOf } from "../../../src/access/apps.ts";
import { operator, type Principal, theServer, unnamed } from "../../../src/access/principal.ts";

const token: Principal = { type: "token", scopes: ["read", "admin"], apps: ["shop", "data/main-*"] };
const person: Principal = { ...token, type: "person" };
const whole: Principal = { ...token, apps: [] };
const run: Principal = { type: "plugin", askedBy: token };
const pod: Principal = { type: "pod", askedBy: token };
const here: Principal[] = [operator, theServer, unnamed, run, pod, { type: "pod" }];

test("tokens and persons come from afar, and nothing else does", () => {
  for (const by of [token, person, whole]) expect([by, isFromAfar(by)]).toEqual([by, true]);
  for (const by of here) expect([by, isFromAfar(by)]).toEqual([by, false]);
});

test.each([
  [{ scope: "shop", name: "web" }, true],
  [{ scope: "data", name: "main-2" }, true],
  [{ scope: "data", name: "other" }, false],
  [{ scope: "shopping", name: "web" }, false],
  [{ scope: "", name: "shop" }, false],
  [{ name: "web" }, false],
  [{ scope: "shop" }, false],
  [{}, false],
])("a limited token sees %j: %j; a caller without a limit sees it", (place, isSeen) => {
  for (const by of [token, person]) expect([by.type, sees(by, place)]).toEqual([by.type, isSeen]);
  for (const by of [whole, ...here]) expect([by.type, sees(by, place)]).toEqual([by.type, true]);
});

test("what is about the whole server is refused for limited tokens alone, with the reason", () => {
  for (const by of [token, person]) {
    expect(() => requireAllApps(by, "plugins serve all")).toThrow(
      "this token is limited to some apps, and plugins serve all",
    );
    expect(() => requireAllApps(by)).toThrow("this is about all of them");
  }
  for (const by of [whole, ...here]) expect(() => requireAllApps(by)).not.toThrow();
});

test("a run and a pod see all that their plugin was granted, and change no more than the token behind them", () => {
  for (const by of [run, pod]) {
    expect(sightOf(by)).toEqual({ apps: [] });
    expect(appLimitOf(by)).toEqual({ apps: ["shop", "data/main-*"] });
  }
});
