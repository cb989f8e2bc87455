import { describe, expect, test } from "bun:test";
import type { CoreKind, Spec } from "../../../../src/orchestration/api/manifest.ts";
import { dependenciesOf } from "../../../../src/orchestration/core/dependencies.ts";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import type { ReferencedManifest } from "../../../../src/orchestration/core/reported-values.ts";
import {
  absentReferences,
  movedUses,
  referenceProblems,
  type ReferenceTarget,
  referenceUses,
} from "../../../../src/orchestration/core/references.ts";

const names = naming("berth");
const ref = (text: string) => `\${ref.${text}}`;
const owner = (spec: Spec, kind: CoreKind = "deployment") => ({ kind, scope: "shop", spec });
const db = (spec: Spec): ReferencedManifest => ({ kind: "statefulset", scope: "shop", name: "db", spec });
const only =
  (referenced: ReferencedManifest) =>
  ({ kind, scope, name }: ReferenceTarget) =>
    kind === referenced.kind && scope === referenced.scope && name === referenced.name ? referenced : undefined;

describe("uses", () => {
  test("everywhere that is filled in, in the own scope alone", () => {
    const spec = {
      command: ["x", ref("deployment.api.host")],
      env: { A: `${ref("ingress.web.url")}/${ref("asset.conf.digest")}`, B: "$" + "{HOME}" },
      inits: [{ name: "i", command: [ref("statefulset.my.db.port")] }],
    };
    expect(
      referenceUses(owner(spec)).map(({ path, target, field }) => [path, target.kind, target.name, field]),
    ).toEqual([
      ["spec.command[1]", "deployment", "api", "host"],
      ["spec.env.A", "ingress", "web", "url"],
      ["spec.env.A", "asset", "conf", "digest"],
      ["spec.inits[0].command[0]", "statefulset", "my.db", "port"],
    ]);
    expect(new Set(referenceUses(owner(spec)).map(({ target }) => target.scope))).toEqual(new Set(["shop"]));
    expect(dependenciesOf(owner(spec))).toEqual([
      "ref/asset/shop/conf",
      "ref/deployment/shop/api",
      "ref/ingress/shop/web",
      "ref/statefulset/shop/my.db",
    ]);
  });
  test("of the job inside a cron job; none of an ingress", () => {
    const spec = { env: { A: ref("deployment.api.host") } };
    expect(referenceUses(owner({ job: spec }, "cronjob"))[0]?.path).toBe("spec.job.env.A");
    expect(referenceUses(owner(spec, "ingress"))).toEqual([]);
  });
});

describe("at apply", () => {
  const problems = (field: string, referenced: ReferencedManifest) =>
    referenceProblems(
      owner({ env: { A: ref(`${referenced.kind}.${referenced.name}.${field}`) } }),
      only(referenced),
      names,
    );

  test("a field that the manifest reports is fine", () => {
    expect(problems("port", db({ ports: ["5432"] }))).toEqual([]);
    expect(problems("host_1", db({ replicas: 2 }))).toEqual([]);
  });
  test("one that it does not is told, with those there are", () => {
    expect(problems("port", db({ replicas: 2 }))).toEqual([
      {
        path: "spec.env.A",
        message: `"${ref("statefulset.db.port")}" has no value: statefulset/shop/db reports host, host_0, host_1`,
      },
    ]);
    expect(problems("host_2", db({ replicas: 2 }))).toHaveLength(1);
    expect(problems("host_200", db({ replicas: 100 }))[0]?.message).toEndWith("host_5, host_6 and 93 more");
    const wild: ReferencedManifest = { kind: "ingress", scope: "shop", name: "web", spec: { host: "*.a.test" } };
    expect(problems("host", wild)[0]?.message).toEndWith("ingress/shop/web reports no values");
  });
  test("what is not there yet, or not whole yet, is waited for", () => {
    const spec = { env: { A: ref("ingress.web.url") } };
    expect(referenceProblems(owner(spec), () => undefined, names)).toEqual([]);
    expect(absentReferences(owner(spec), () => undefined)).toHaveLength(1);
    const fetched: ReferencedManifest = { kind: "asset", scope: "shop", name: "conf", spec: {} };
    expect(problems("digest", fetched)).toEqual([]);
  });
});

describe("what moved", () => {
  const reader = owner({ env: { A: ref("statefulset.db.port"), B: ref("statefulset.db.host") } });
  const moved = (before: ReferencedManifest | undefined, after: ReferencedManifest) =>
    movedUses(reader, { before, after, names }).map(({ use, lost }) => [use.field, lost]);

  test("only what is read, only where the value is another", () => {
    expect(moved(db({ ports: ["1"] }), db({ ports: ["1"], replicas: 3 }))).toEqual([]);
    expect(moved(db({ ports: ["1"] }), db({ ports: ["2"] }))).toEqual([["port", false]]);
    expect(moved(undefined, db({ ports: ["2"] }))).toEqual([
      ["port", false],
      ["host", false],
    ]);
    expect(moved(db({ ports: ["1"] }), { ...db({ ports: ["2"] }), name: "other" })).toEqual([]);
  });
  test("a value that goes is lost", () => {
    expect(moved(db({ ports: ["1"] }), db({}))).toEqual([["port", true]]);
  });
  test("an asset that is fetched anew is awaited, not lost", () => {
    const conf = (digests?: Record<string, string>): ReferencedManifest => ({
      ...{ kind: "asset", scope: "shop", name: "conf", spec: {} },
      ...(digests === undefined ? {} : { digests }),
    });
    const uses = movedUses(owner({ env: { A: ref("asset.conf.digest") } }), {
      before: conf({ a: "1" }),
      after: conf(),
      names,
    });
    expect(uses.map(({ lost }) => lost)).toEqual([false]);
  });
});
