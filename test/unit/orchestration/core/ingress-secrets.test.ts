import { expect, test } from "bun:test";
import { mapIngressSlots, MASK, maskSpec, restoreMasked } from "../../../../src/orchestration/core/mask.ts";

const spec = {
  host: "a.test",
  basic_auth: { ops: "one", "bob@a.test": "$5$two" },
  tls: { provider: "acme", directory: "https://ca.test/d", key: "/etc/key", eab: { kid: "k", hmac_key: "three" } },
  headers: { request: { set: { Authorization: "four", "X-Tenant": "shop", "X-Api-Key": "five" }, remove: ["Cookie"] } },
};

test("every secret is visited once, with its path", () => {
  const seen: string[] = [];
  const mapped = mapIngressSlots(spec, ({ path, value }) => {
    seen.push(`${path}=${value}`);
    return value;
  });
  expect(seen).toEqual([
    "basic_auth.ops=one",
    'basic_auth["bob@a.test"]=$5$two',
    "tls.eab.hmac_key=three",
    "headers.request.set.Authorization=four",
    "headers.request.set.X-Api-Key=five",
  ]);
  expect(mapped).toEqual(spec);
});

test("what is no secret is shown, and a spec of another version passes as it is", () => {
  expect(maskSpec("ingress", spec)).toEqual({
    ...spec,
    basic_auth: { ops: MASK, "bob@a.test": MASK },
    tls: { ...spec.tls, eab: { kid: "k", hmac_key: MASK } },
    headers: { request: { set: { Authorization: MASK, "X-Tenant": "shop", "X-Api-Key": MASK }, remove: ["Cookie"] } },
  });
  const odd = { basic_auth: ["x"], tls: "on", headers: { request: { set: 3 }, response: null } };
  expect(maskSpec("ingress", odd)).toEqual(odd);
});

test("a mask that is applied again keeps the stored value", () => {
  expect(restoreMasked("ingress", maskSpec("ingress", spec), spec)).toEqual({ spec, problems: [] });
});

test("a mask never gives one user the password of another, nor one CA the key of another", () => {
  const renamed = { ...spec, basic_auth: { eve: MASK } };
  expect(restoreMasked("ingress", renamed, spec).problems.map(({ path }) => path)).toEqual(["spec.basic_auth.eve"]);
  const moved = { ...spec, tls: { ...spec.tls, directory: "https://evil.test", eab: { kid: "k", hmac_key: MASK } } };
  expect(restoreMasked("ingress", moved, spec).problems.map(({ path }) => path)).toEqual(["spec.tls.eab.hmac_key"]);
});
