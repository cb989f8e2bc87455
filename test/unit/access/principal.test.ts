import { expect, test } from "bun:test";
import { appLimitOf } from "../../../src/access/apps.ts";
import {
  mayChange,
  operator,
  ownsMachine,
  type Principal,
  theServer,
  tokenPrincipal,
  unnamed,
} from "../../../src/access/principal.ts";

const token = (scopes: string[], apps: string[] = [], person?: string) =>
  tokenPrincipal({ scopes, apps, ...(person === undefined ? {} : { person }) });
const run = (askedBy: Principal): Principal => ({ type: "plugin", askedBy });

test.each<[string, Principal, boolean]>([
  ["the operator of the machine", operator, true],
  ["the server itself", theServer, true],
  ["a token with admin", token(["actions", "admin"]), true],
  ["a person with admin", token(["admin"], [], "ana@a.example"), true],
  ["a run of a plugin for an operator", run(operator), true],
  ["a token without admin", token(["read", "actions", "exec", "config:reveal"]), false],
  ["a person with the role operator", token(["read", "actions"], [], "ana@a.example"), false],
  ["a token with admin that is limited to apps", token(["actions", "admin"], ["shop"]), false],
  ["a run of a plugin for a token", run(token(["actions"])), false],
  ["a run of a plugin for a run of one for a token", run(run(token(["actions"]))), false],
  ["a pod", { type: "pod" }, false],
  ["a caller that no door named", unnamed, false],
])("%s owns the machine: %j", (_, principal, owns) => {
  expect(ownsMachine(principal)).toBe(owns);
});

test("what a run or its container asks for has the limits of the one who started it", () => {
  const limited = token(["read"], ["data/main"]);
  for (const by of [limited, run(limited), run(run(limited)), { type: "pod", askedBy: run(limited) } as const]) {
    expect([appLimitOf(by).apps, mayChange(by), ownsMachine(by)]).toEqual([["data/main"], false, false]);
  }
  for (const by of [operator, theServer, unnamed, { type: "pod" } as const, run(token(["actions"]))]) {
    expect([appLimitOf(by).apps, mayChange(by)]).toEqual([[], true]);
  }
});
