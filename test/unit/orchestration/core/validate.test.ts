import { describe, expect, test } from "bun:test";
import { problemText } from "../../../../src/base/wire/failure.ts";
import { limits } from "../../../../src/config/config.ts";
import { type DecodeOptions, decodeManifests, concernsPlugins } from "../../../../src/orchestration/core/validate.ts";

const hello = { kind: "deployment", scope: "demo", name: "hello", spec: { image: "web:1" } };

function lines(body: unknown, options: DecodeOptions = { limits }): string[] {
  return decodeManifests(body, options).problems.map(problemText);
}

describe("a body with more problems than are shown", () => {
  const unknown = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`replicas${n}`, 1]));
  const named = (n: number, spec: object) => ({ ...hello, name: `hello${n}`, spec });

  test("counts further manifests of a wrong shape without explaining them, so that it cannot stall the server", () => {
    const found = lines([0, 1, 2, 3].map((n) => named(n, { image: "web:1", ...unknown(45) })));
    expect(found).toHaveLength(51);
    // 45 and 45 are explained, the other two manifests count as one each.
    expect(found.at(-1)).toBe("and at least 42 more");
  });

  test("still judges the meaning of further manifests of the right shape", () => {
    const full = [0, 1].map((n) => named(n, { image: "web:1", ...unknown(45) }));
    expect(lines([...full, named(2, { image: "web:1" })]).at(-1)).toBe("and at least 40 more");
    expect(lines([...full, named(2, { image: "web:1", ports: ["x"] })]).at(-1)).toBe("and at least 41 more");
  });

  test("says of a large spec of a wrong shape that only its shape was checked", () => {
    const env = Object.fromEntries(Array.from({ length: 6_000 }, (_, n) => [`K${n}`, "x"]));
    expect(lines({ ...hello, spec: { image: 1, ports: ["x"], env } })).toEqual([
      expect.stringContaining("spec.image: expected string"),
      expect.stringContaining("spec: is too large to check further while these are wrong"),
    ]);
    expect(lines({ ...hello, spec: { image: 1, ports: ["x"] } })).toHaveLength(2);
    expect(lines({ ...hello, spec: { image: 1 } })).toHaveLength(1);
  });

  test("explains at most as many unknown fields of a manifest itself", () => {
    // 51 are found: without a bound, 59,950 more would be compared with every field.
    expect(lines({ ...hello, ...unknown(60_000) }).at(-1)).toBe("and at least 1 more");
  });
});

describe("bodies", () => {
  test("one manifest or an array of them", () => {
    const manifest = { kind: "deployment", scope: "demo", name: "hello", spec: { image: "web:1" } } as const;
    expect(decodeManifests(hello, { limits })).toEqual({
      manifests: [manifest],
      indexes: [0],
      pluginBlocks: [],
      problems: [],
    });
    expect(decodeManifests([hello], { limits }).manifests).toEqual([manifest]);
  });
  test("the kind is spelled canonically, a missing spec is empty, a missing scope the empty string", () => {
    const { manifests, problems } = decodeManifests([{ ...hello, kind: "Deployments", spec: undefined }], { limits });
    expect(problems).toEqual([]);
    expect(manifests).toEqual([{ kind: "deployment", scope: "demo", name: "hello", spec: {} }]);
    const files = { kind: "asset", name: "conf", spec: { files: { a: "x" } } };
    expect(decodeManifests(files, { limits }).manifests[0]?.scope).toBe("");
  });
  test.each([null, 3, "x", true])("%j is no manifest", (body) => {
    expect(lines(body)).toEqual([`expected object, got ${body === null ? "null" : typeof body}`]);
  });
  test("an empty array, an array in an array", () => {
    expect(lines([])).toEqual(["no manifests in the body; send one, or an array of them"]);
    expect(lines([[]])).toEqual(["expected object, got array"]);
  });
  test("too many manifests", () => {
    const many = Array.from({ length: 3 }, (_, index) => ({ ...hello, name: `w${index}` }));
    expect(lines(many, { limits: { ...limits, manifestsPerApplyMax: 2 } })).toEqual([
      "3 manifests in one apply; at most 2 are allowed, send several",
    ]);
  });
  test("problems of several manifests say which, counted from 1", () => {
    const bad = { ...hello, name: "other", spec: { ports: ["x"] } };
    expect(lines([hello, bad])[0]).toStartWith('manifest 2: spec.ports[0]: "x" is not a port');
    expect(lines([bad])[0]).toStartWith("spec.ports[0]: ");
    expect(lines([hello, 3])).toEqual(["manifest 2: expected object, got number"]);
  });
  test("a problem has the position of its manifest, of the only one too", () => {
    const bad = { ...hello, spec: { ports: ["x"] } };
    expect(decodeManifests(bad, { limits }).problems[0]).toMatchObject({
      place: { manifest: 1 },
      path: "spec.ports[0]",
    });
    const unknown = decodeManifests([hello, { ...hello, name: "b", spce: {} }], { limits }).problems[0];
    expect(unknown).toMatchObject({ place: { manifest: 2 }, path: "spce", reason: "UnknownField" });
  });
  test("one identity twice names both places, in any spelling of the kind", () => {
    expect(lines([hello, { ...hello, name: "x" }, { ...hello, kind: "DEPLOYMENTS" }])).toEqual([
      "manifest 3: name: manifests 1 and 3 are both deployment/demo/hello; keep one of them",
    ]);
  });
  test("long lists of problems are cut", () => {
    const ports = Array.from({ length: 80 }, () => "x");
    const found = lines({ ...hello, spec: { image: "a", ports } });
    expect(found).toHaveLength(limits.problemsShownMax + 1);
    expect(found.at(-1)).toBe("and at least 30 more");
  });
});

describe("the fields of a manifest", () => {
  test("unknown fields are refused with a suggestion", () => {
    expect(lines({ ...hello, spce: {} })).toEqual(['spce: unknown field; did you mean "spec"']);
    expect(lines({ ...hello, apiVersion: "v1" })).toEqual([
      "apiVersion: unknown field; known are kind, scope, name, spec, metadata",
    ]);
  });
  test("wrong types name what was expected and given", () => {
    const found = lines({ kind: 1, scope: null, name: [], spec: "x", metadata: 2 });
    expect(found.toSorted()).toEqual(
      [
        "metadata: expected object, got number",
        "kind: expected string, got number",
        "scope: expected string, got null",
        "name: expected string, got array",
        "spec: expected object, got string",
      ].toSorted(),
    );
  });
  test("what the server writes may come back; if_revision is a condition", () => {
    const metadata = { revision: 7, created_at: "2026-01-01T00:00:00Z", updated_at: "x", if_revision: 7 };
    const { manifests, problems } = decodeManifests({ ...hello, metadata }, { limits });
    expect(problems).toEqual([]);
    expect(manifests[0]?.ifRevision).toBe(7);
    expect(decodeManifests(hello, { limits }).manifests[0]).not.toHaveProperty("ifRevision");
  });
  test.each([-1, 1.5, "7", null])("if_revision %j is refused", (if_revision) => {
    expect(lines({ ...hello, metadata: { if_revision } })[0]).toStartWith("metadata.if_revision: expected a revision");
  });
  test("unknown metadata is refused", () => {
    expect(lines({ ...hello, metadata: { if_revison: 7 } })).toEqual([
      'metadata.if_revison: unknown field; did you mean "if_revision"',
    ]);
  });
});

describe("kinds", () => {
  test("an unknown kind lists the valid ones", () => {
    expect(lines({ ...hello, kind: "deploymant" })).toEqual([
      'kind: "deploymant" is not a kind; did you mean "deployment"; valid kinds are deployment, statefulset, ingress, ' +
        "job, cronjob, asset, registry, app",
    ]);
    expect(lines({ scope: "a", name: "b" })[0]).toStartWith("kind: is required; one of deployment,");
  });
  test("a plugin's kind is handed back unchecked, with its place", () => {
    const block = { kind: "postgres", scope: "data", name: "db", spec: { anything: [1] } };
    const { manifests, pluginBlocks, problems } = decodeManifests([hello, block], {
      limits,
      isPluginKind: (kind) => kind === "postgres",
    });
    expect(problems).toEqual([]);
    expect(manifests).toHaveLength(1);
    expect(pluginBlocks).toEqual([{ index: 1, kind: "postgres", scope: "data", name: "db", spec: { anything: [1] } }]);
  });
});

describe("hostile input: each is refused and names the field", () => {
  const spec = (value: object) => ({ ...hello, spec: { image: "web:1", ...value } });
  test.each([
    ["name with ..", { ...hello, name: "a..b" }, "name: "],
    ["name with a slash", { ...hello, name: "../etc" }, "name: "],
    ["upper case", { ...hello, scope: "Demo" }, "scope: "],
    ["over-long name", { ...hello, name: "x".repeat(64) }, "name: "],
    ["replicas as text", spec({ replicas: "3" }), 'spec.replicas: expected integer, got string "3"'],
    ["a billion replicas", spec({ replicas: 1e9 }), "spec.replicas: must be at most 1000, got 1000000000"],
    ["negative replicas", spec({ replicas: -1 }), "spec.replicas: must be at least 0, got -1"],
    ["fractional replicas", spec({ replicas: 1.5 }), "spec.replicas: expected integer, got number 1.5"],
    ["NUL in a value", spec({ env: { A: "a\0b" } }), "spec.env.A: holds a NUL character"],
    ["NUL in a key", spec({ env: { "A\0": "b" } }), 'spec.env["A\\u0000"]: holds a NUL'],
    ["broken Unicode", spec({ env: { A: "\ud800" } }), "spec.env.A: is not valid Unicode"],
    ["__proto__ in a map", spec({ env: JSON.parse('{"__proto__": "x"}') }), 'spec.env.__proto__: the key "__proto__"'],
    [
      "constructor",
      spec({ on_deploy: { success: [{ url: "http://x", body: { constructor: 1 } }] } }),
      "spec.on_deploy",
    ],
    ["prototype", spec({ prototype: 1 }), "spec.prototype: the key"],
  ])("%s", (_, manifest, expected) => {
    expect(lines(manifest).join("\n")).toStartWith(expected);
  });
  test("__proto__ as a field of the spec and of the manifest", () => {
    expect(lines(JSON.parse('{"kind":"job","scope":"a","name":"b","spec":{"__proto__":{"x":1}}}'))).toEqual([
      'spec.__proto__: the key "__proto__" is not allowed',
    ]);
    expect(lines(JSON.parse('{"kind":"job","scope":"a","name":"b","__proto__":{"kind":"x"}}'))[0]).toStartWith(
      "__proto__: unknown field",
    );
  });
  test("depth", () => {
    let deep: unknown = "end";
    for (let level = 0; level < 10_000; level++) deep = { level: deep };
    const [line] = lines(spec({ on_deploy: { success: [{ url: "http://x", body: deep }] } }));
    expect(line).toStartWith("spec.on_deploy.success[0].body.level");
    expect(line).toEndWith("is nested too deeply");
  });
  test("a body of 60,000 unknown fields is answered with the first ones", () => {
    const found = lines(spec(Object.fromEntries(Array.from({ length: 60_000 }, (_, i) => [`f${i}`, 1]))));
    expect(found).toHaveLength(limits.problemsShownMax + 1);
  });
  test("values that may be secret are not repeated", () => {
    const registry = { kind: "registry", name: "acme", spec: { url: "r.test", username: "bot", token: 424242 } };
    expect(lines(registry)).toEqual(["spec.token: expected string, got integer; put it in quotes"]);
    expect(lines(spec({ env: { PASSWORD: 424242 } })).join()).not.toContain("424242");
  });
});

test("plugins have a say in a kind that is not built in, and in what they may route", () => {
  const job = { kind: "Job", scope: "s", name: "a" };
  expect([job, [job, { kind: "jobs" }], {}, [null, 1], { kind: 5 }].map(concernsPlugins)).toEqual(Array(5).fill(false));
  expect(
    [{ kind: "postgres" }, [job, { kind: "postgres" }], { kind: "apps" }, { kind: "Ingress" }].map(concernsPlugins),
  ).toEqual(Array(4).fill(true));
});
