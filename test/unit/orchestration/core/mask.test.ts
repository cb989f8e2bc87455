import { describe, expect, test } from "bun:test";
import { MASK, mapSecrets, maskSpec, restoreMasked } from "../../../../src/orchestration/core/mask.ts";

const registry = { url: "r.test", username: "bot", token: "s3cret" };
const hook = (url: string, headers: Record<string, string>) => ({ url, headers, method: "PUT" });
const web = {
  image: "web:1",
  env: { PASSWORD: "literal" },
  on_deploy: { success: [hook("https://a.test", { Authorization: "one", "X-Y": "two" })] },
  on_probe: { failure: [{ url: "https://c.test" }, hook("https://b.test", { Authorization: "three" })] },
};

describe("where secrets are", () => {
  test("every secret is visited once, with its path", () => {
    const seen: string[] = [];
    const mapped = mapSecrets("deployment", web, (value, path) => {
      seen.push(`${path}=${value}`);
      return value.toUpperCase();
    });
    expect(seen).toEqual([
      "on_deploy.success[0].headers.Authorization=one",
      "on_deploy.success[0].headers.X-Y=two",
      "on_probe.failure[1].headers.Authorization=three",
    ]);
    expect(JSON.stringify(mapped)).toContain("THREE");
    expect(JSON.stringify(web)).not.toContain("THREE");
    expect(Object.keys(mapped)).toEqual(Object.keys(web));
  });
  test("token and password of a registry", () => {
    expect(maskSpec("registry", { ...registry, password: "p" })).toEqual({ ...registry, token: MASK, password: MASK });
  });
  test("masking leaves the rest as it stands", () => {
    const masked = maskSpec("deployment", web);
    expect(masked).toMatchObject({ image: "web:1", env: { PASSWORD: "literal" } });
    for (const secret of ["one", "two", "three"]) expect(JSON.stringify(masked)).not.toContain(`"${secret}"`);
  });
  test("specs of odd shape are left alone", () => {
    for (const spec of [
      { on_deploy: 3 },
      { on_deploy: { success: "x" } },
      { on_probe: { failure: [1, { headers: 2 }] } },
    ]) {
      expect(maskSpec("deployment", spec)).toEqual(spec);
    }
    expect(maskSpec("registry", { token: 3 })).toEqual({ token: 3 });
  });
});

describe("a mask that comes back", () => {
  test("keeps the stored values", () => {
    expect(restoreMasked("deployment", maskSpec("deployment", web), web)).toEqual({ spec: web, problems: [] });
    expect(restoreMasked("registry", maskSpec("registry", registry), registry).spec).toEqual(registry);
  });
  test("beside new values", () => {
    const incoming = { ...maskSpec("registry", registry), username: "other" };
    expect(restoreMasked("registry", incoming, registry).spec).toEqual({ ...registry, username: "other" });
    expect(restoreMasked("registry", { ...registry, token: "new" }, registry).spec.token).toBe("new");
  });
  test("follows its hook when hooks change places", () => {
    const masked = maskSpec("deployment", web);
    const incoming = { ...masked, on_probe: { failure: [hook("https://b.test", { Authorization: MASK })] } };
    expect(restoreMasked("deployment", incoming, web)).toMatchObject({
      spec: { on_probe: { failure: [{ headers: { Authorization: "three" } }] } },
      problems: [],
    });
  });
  test("never carries a secret over to another address", () => {
    const moved = { ...registry, url: "evil.test", token: MASK };
    expect(restoreMasked("registry", moved, registry)).toEqual({
      spec: moved,
      problems: [{ path: "spec.token", message: "is masked and no value is stored for it; write the value" }],
    });
    const hooks = { on_deploy: { success: [hook("https://evil.test", { Authorization: MASK })] } };
    expect(restoreMasked("deployment", hooks, web).problems.map(({ path }) => path)).toEqual([
      "spec.on_deploy.success[0].headers.Authorization",
    ]);
  });
  test("without a stored value is a problem", () => {
    expect(restoreMasked("registry", { ...registry, token: MASK }, undefined).problems).toHaveLength(1);
  });
});
