import { expect, test } from "bun:test";
import { allowed, allowedBlock } from "../../../src/access/allowed.ts";
import { operator, tokenPrincipal } from "../../../src/access/principal.ts";

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

test("under a guard the programs are what stands, or what the plugin makes of itself", () => {
  const lent = { ...bind, image: "agent:1", command: ["run"] };
  const change = { kind: "deployment", stands: undefined, guard: { lent } } as const;
  expect(allowed(token, { ...change, wanted: { ...lent, env: { A: "1" }, replicas: 3 } })).toEqual([]);
  expect(allowed(token, { ...change, wanted: { ...lent, volumes: ["/srv:/d", "/:/h"] } })).toHaveLength(1);
  for (const more of [{ image: "mine" }, { command: ["sh"] }, { inits: [{ name: "a", command: ["id"] }] }]) {
    expect(allowed(token, { ...change, wanted: { ...lent, ...more } })).toMatchObject([{ path: "spec" }]);
    expect(allowed(token, { ...change, stands: { ...lent, ...more }, wanted: { ...lent, ...more } })).toEqual([]);
    expect(allowed(operator, { ...change, wanted: { ...lent, ...more } })).toEqual([]);
  }
  expect(allowed(token, { ...change, guard: {}, wanted: lent })).toHaveLength(1);
  const files = { kind: "asset", stands: { files: { a: "1" } }, guard: {} } as const;
  expect(allowed(token, { ...files, wanted: { files: { a: "2" } } })).toHaveLength(1);
  expect(allowed(token, { ...files, wanted: { files: { a: "1" } } })).toEqual([]);
  // What only says how much of a program runs may be the substance of another kind.
  for (const kind of ["asset", "ingress", "registry"] as const)
    expect(allowed(token, { kind, stands: { timeout: "1s" }, wanted: { timeout: "2s" }, guard: {} })).toHaveLength(1);
});

test("a block may keep what an operator wrote into it", () => {
  const wanted = { pod: { volumes: ["/srv:/d"] } };
  expect(allowedBlock(token, { wanted })).toHaveLength(1);
  expect(allowedBlock(token, { wanted, stands: wanted })).toEqual([]);
  expect(allowedBlock(token, { wanted, stands: { volumes: ["/srv:/d"] } })).toHaveLength(1);
  expect(allowedBlock(operator, { wanted })).toEqual([]);
});
