import { expect, test } from "bun:test";
import { allowed, allowedBlock } from "../../../src/access/allowed.ts";
import { operator, tokenPrincipal } from "../../../src/access/principal.ts";
import { reachOf } from "../../../src/access/reach.ts";

const token = tokenPrincipal({ scopes: ["actions"], apps: [] });
const bind = { volumes: ["/srv:/d"] };

test("an operator may everything, a token only what stands", () => {
  const change = { kind: "deployment", stands: undefined, wanted: bind } as const;
  expect(allowed(operator, change)).toEqual([]);
  expect(allowed(token, change)).toEqual([
    { path: "spec.volumes[0]", message: expect.stringContaining('"/srv:/d" mounts') },
  ]);
  expect(allowed(token, { ...change, stands: bind })).toEqual([]);
});

test("what a plugin lends is allowed, and nothing beside it", () => {
  const lent = new Set(reachOf({ kind: "deployment", spec: bind }).map(({ mark }) => mark));
  const change = { kind: "deployment", stands: undefined, lent } as const;
  expect(allowed(token, { ...change, wanted: bind })).toEqual([]);
  expect(allowed(token, { ...change, wanted: { volumes: ["/srv:/d", "/:/h"] } })).toHaveLength(1);
});

test("a block may keep what an operator wrote into it", () => {
  const wanted = { pod: { volumes: ["/srv:/d"] } };
  expect(allowedBlock(token, { wanted })).toHaveLength(1);
  expect(allowedBlock(token, { wanted, stands: wanted })).toEqual([]);
  expect(allowedBlock(token, { wanted, stands: { volumes: ["/srv:/d"] } })).toHaveLength(1);
  expect(allowedBlock(operator, { wanted })).toEqual([]);
});
