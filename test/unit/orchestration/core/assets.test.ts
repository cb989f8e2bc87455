import { describe, expect, test } from "bun:test";
import type { CoreKind, Spec } from "../../../../src/orchestration/api/manifest.ts";
import {
  type AssetTarget,
  assetFiles,
  assetRefs,
  stampAssetDigests,
} from "../../../../src/orchestration/core/assets.ts";
import { limits } from "../../../../src/config/config.ts";
import { validateSpec } from "../../../../src/orchestration/core/validate.ts";
import { dependenciesOf, envSources } from "../../../../src/orchestration/core/dependencies.ts";

const asset = (ref: string) => `\${asset.${ref}}`;
const web = (spec: Spec, kind: CoreKind = "deployment") => ({ kind, scope: "shop", spec });

describe("files of an asset", () => {
  test("text, embedded and fetched", () => {
    const files = {
      a: "grüße",
      b: { _source: "file", content: "aGk=", filename: "hi.txt" },
      c: { _source: "url", url: "https://x.test/y" },
      d: { _source: "url", url: "https://x.test/z", timeout: "8s", on_failure: "skip" },
    };
    expect(assetFiles({ files })).toEqual([
      { key: "a", mode: 0o644, source: { type: "inline", bytes: new TextEncoder().encode("grüße") } },
      { key: "b", mode: 0o644, source: { type: "inline", bytes: new Uint8Array([104, 105]), fileName: "hi.txt" } },
      {
        key: "c",
        mode: 0o644,
        source: { type: "url", url: "https://x.test/y", timeoutMs: 30_000, onFailure: "stale" },
      },
      { key: "d", mode: 0o644, source: { type: "url", url: "https://x.test/z", timeoutMs: 8_000, onFailure: "skip" } },
    ]);
  });
  test("an empty file is a file; what cannot be read is left out", () => {
    expect(assetFiles({ files: { a: "", b: { _source: "file", content: "%" }, c: 3, d: { _source: "url" } } })).toEqual(
      [{ key: "a", mode: 0o644, source: { type: "inline", bytes: new Uint8Array() } }],
    );
    expect(assetFiles({})).toEqual([]);
  });
});

describe("modes of an asset", () => {
  const modesOf = (modes: unknown) => assetFiles({ files: { a: "", b: "" }, modes }).map(({ mode }) => mode);

  test("are those that are written, and 0644 for any other file", () => {
    expect(modesOf({ a: "0755" })).toEqual([0o755, 0o644]);
    expect(modesOf({ a: "400", b: "0644" })).toEqual([0o400, 0o644]);
    expect(modesOf(undefined)).toEqual([0o644, 0o644]);
  });
  test.each(["0777", "0022", "4755", "0055", "rwx", 493])("%p is not a mode", (mode) => {
    expect(modesOf({ a: mode })).toEqual([0o644, 0o644]);
    const problems = validateSpec("asset", { files: { a: "" }, modes: { a: mode } }, limits);
    expect(problems[0]?.path).toBe("spec.modes.a");
  });
  test("with files of the wrong type are no fault of their own", () => {
    const paths = (spec: object) => validateSpec("asset", spec, limits).map(({ path }) => path);
    expect(paths({ files: [[null]], modes: { a: "0755" } })).toEqual(["spec.files"]);
    expect(paths({ files: { a: "" }, modes: [[null]] })).toEqual(["spec.modes"]);
  });
  test("are of files that there are", () => {
    const problems = validateSpec("asset", { files: {}, modes: { a: "0755" } }, limits);
    expect(problems).toMatchObject([{ path: "spec.files", message: 'has no file "a", which spec.modes names' }]);
  });
});

describe("uses of assets", () => {
  test("everywhere that is filled in, with the place", () => {
    const spec = {
      image: asset("a.image"),
      command: ["x", asset("a.command")],
      volumes: [`${asset("web.a.volume")}:/x`],
      env: { V: `${asset("a.one")}:${asset("a.two")}` },
      inits: [{ name: "i", command: [asset("a.init")] }],
      depends_on: { assets: ["a.listed"] },
      health_check: asset("a.ignored"),
    };
    expect(assetRefs(web(spec)).map(({ ref, path }) => [ref, path])).toEqual([
      ["a.image", "spec.image"],
      ["a.command", "spec.command[1]"],
      ["web.a.volume", "spec.volumes[0]"],
      ["a.one", "spec.env.V"],
      ["a.two", "spec.env.V"],
      ["a.init", "spec.inits[0].command[0]"],
      ["a.listed", "spec.depends_on.assets[0]"],
    ]);
  });
  test("without a scope the own one comes first, then none", () => {
    const [own, scoped] = assetRefs(web({ command: [asset("a.k"), asset("web.a.k")] }));
    expect(own?.candidates).toEqual([
      { scope: "shop", name: "a", key: "k" },
      { scope: "", name: "a", key: "k" },
    ]);
    expect(scoped?.candidates).toEqual([{ scope: "web", name: "a", key: "k" }]);
  });
  test("a cronjob's are inside its job; kinds without containers have none", () => {
    expect(assetRefs(web({ job: { image: asset("a.k") } }, "cronjob"))[0]?.path).toBe("spec.job.image");
    expect(assetRefs(web({ image: asset("a.k") }, "ingress"))).toEqual([]);
  });
});

describe("stamping", () => {
  const known: Record<string, string | null> = { "shop/a/k": "d1", "/a/k": "d2", "/b/k": "d3", "/c/k": null };
  const lookup = ({ scope, name, key }: AssetTarget) => known[`${scope}/${name}/${key}`];

  test("digests sorted by reference, own scope before unscoped, what a client sent is dropped", () => {
    const spec = { command: [asset("b.k"), asset("a.k")], _asset_digests: { "x.y": "forged" } };
    const stamped = stampAssetDigests(web(spec), lookup);
    expect(stamped).toEqual({
      spec: { command: spec.command, _asset_digests: { "a.k": "d1", "b.k": "d3" } },
      problems: [],
    });
    expect(Object.keys(Object(stamped.spec._asset_digests))).toEqual(["a.k", "b.k"]);
  });
  test("no use, no field", () => {
    expect(stampAssetDigests(web({ image: "x", _asset_digests: { a: "b" } }), lookup).spec).toEqual({ image: "x" });
  });
  test("a file that is declared but not here yet is neither stamped nor a problem", () => {
    expect(stampAssetDigests(web({ command: [asset("c.k")] }), lookup)).toEqual({
      spec: { command: [asset("c.k")] },
      problems: [],
    });
  });
  test("a file that nobody declares is a problem that names the places", () => {
    expect(stampAssetDigests(web({ env: { A: asset("no.k") } }), lookup).problems).toEqual([
      {
        path: "spec.env.A",
        message:
          '"no.k" names no asset file; no key "k" in asset/shop/no or asset/no; apply that asset first or with it',
      },
    ]);
  });
  test("a cronjob is stamped inside its job", () => {
    const { spec } = stampAssetDigests(web({ schedule: "@daily", job: { image: asset("b.k") } }, "cronjob"), lookup);
    expect(spec).toEqual({ schedule: "@daily", job: { image: asset("b.k"), _asset_digests: { "b.k": "d3" } } });
  });
  test("other kinds stay as they are", () => {
    const spec = { host: "a.test" };
    expect(stampAssetDigests(web(spec, "ingress"), lookup).spec).toBe(spec);
  });
});

describe("dependencies", () => {
  test("assets in both places, buckets at both levels, sorted and once each", () => {
    const spec = {
      env: { A: asset("conf.k"), B: asset("conf.other"), C: asset("web.conf.k") },
      env_from: ["other/api", "api", "api"],
    };
    expect(dependenciesOf(web(spec))).toEqual([
      "asset//conf",
      "asset/shop/conf",
      "asset/web/conf",
      "bucket/other/",
      "bucket/other/api",
      "bucket/shop/",
      "bucket/shop/api",
    ]);
  });
  test("env_from keeps its order and skips what names nothing", () => {
    expect(envSources(web({ env_from: ["b/x", "a", "../x", 3] }))).toEqual([
      { scope: "b", name: "x" },
      { scope: "shop", name: "a" },
    ]);
    expect(envSources(web({ env_from: ["a"] }, "ingress"))).toEqual([]);
  });
});
