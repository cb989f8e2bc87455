import { describe, expect, test } from "bun:test";
import type { ApplyResult } from "../../../../src/orchestration/api/apply.ts";
import { fieldChanges, valueAt, valueText } from "../../../../src/client/facts/changes.ts";
import { digestOf } from "../../../../src/client/facts/digest.ts";
import { appliedText, hasChanges, planText } from "../../../../src/client/text/plan-text.ts";
import { stored } from "../../../support/cli.ts";
import { plainStyle } from "../../../support/plain-style.ts";

const options = { style: plainStyle, reveal: false };

const result: ApplyResult = {
  applied: [
    stored("deployment/shop/web", { image: "web:2", env: { TOKEN: "new", MODE: "prod" }, ports: ["80", "443"] }),
    stored("ingress/shop/web", { host: "shop.example" }),
    stored("asset/shop/files", { files: { conf: { _source: "file", content: "YWJj", filename: "conf" } } }),
    stored("job/shop/same", {}),
  ],
  current: [
    stored("deployment/shop/web", { image: "web:1", env: { TOKEN: "old", GONE: "x", MODE: "prod" }, ports: ["80"] }),
    null,
    stored("asset/shop/files", { files: { conf: "hello" } }),
    stored("job/shop/same", {}),
  ],
  pruned: ["ingress/shop/old", "job/shop/stale"],
  dry_run: true,
  plugin_expansions: [{ from: "app/shop/web", to: ["deployment/shop/web", "ingress/shop/web"] }],
  warnings: ["the disk has 2 GB left"],
  plan: [
    {
      ref: "deployment/shop/web",
      action: "update",
      changed: ["spec.image", "spec.env", "spec.ports[1]"],
      replicas: [
        { replica_id: "a1b2c", action: "replace", why: "image changed" },
        { replica_id: "d3e4f", action: "replace", why: "image changed" },
        { action: "create", why: "replicas 2 to 3" },
        { replica_id: "zzzzz", action: "remove", why: "" },
      ],
      serving: { before: 2, least: 0 },
      notes: ["strategy recreate: it writes to a volume"],
    },
    { ref: "ingress/shop/web", action: "create", changed: [], replicas: [], notes: [] },
    { ref: "asset/shop/files", action: "update", changed: ["files.conf"], replicas: [], notes: [] },
    { ref: "job/shop/same", action: "unchanged", changed: [], replicas: [], notes: [] },
    { ref: "job/shop/stale", action: "delete", changed: [], replicas: [], notes: [] },
  ],
};

test("a plan names each resource, its changed fields, what happens to replicas and why", () => {
  expect(planText(result, options)).toBe(
    [
      "app/shop/web becomes deployment/shop/web, ingress/shop/web",
      "~ deployment/shop/web",
      '    image      "web:1"    → "web:2"',
      `    env.GONE   ${digestOf("x")}  → –`,
      `    env.TOKEN  ${digestOf("old")}  → ${digestOf("new")}`,
      '    ports[1]   –          → "443"',
      "    replaces 2 replicas a1b2c, d3e4f: image changed",
      "    starts 1 replica: replicas 2 to 3",
      "    removes replica zzzzz",
      "    ! down for a moment: no replica serves while it is replaced",
      "    ! strategy recreate: it writes to a volume",
      "+ ingress/shop/web",
      "~ asset/shop/files",
      `    files.conf  ${digestOf("hello")} (5 bytes)  → ${digestOf("abc")} (3 bytes)`,
      "= job/shop/same",
      "- job/shop/stale",
      "- ingress/shop/old",
      "! the disk has 2 GB left",
      "",
      "1 to create, 2 to change, 2 to delete, 1 unchanged",
    ].join("\n"),
  );
});

test.each([
  [{ before: 3, least: 2 }, "    no downtime: at least 2 of 3 serve"],
  [{ before: 3, least: 3 }, "    no downtime"],
])("says whether visitors notice: %j", (serving, line) => {
  const [row] = result.plan ?? [];
  if (row === undefined) throw new Error("no row");
  expect(planText({ ...result, plan: [{ ...row, serving }] }, options).split("\n")).toContain(line);
});

test("an asset's new content shows as digests at its reader, replicas without ids as a count", () => {
  const text = planText(
    {
      applied: [
        stored("deployment/shop/web", { _asset_digests: { "pages.index": "b".repeat(64), plain: "c".repeat(64) } }),
      ],
      current: [stored("deployment/shop/web", { _asset_digests: { "pages.index": "a".repeat(64) } })],
      pruned: [],
      plan: [
        {
          ref: "deployment/shop/web",
          action: "update",
          changed: ['_asset_digests["pages.index"]', "_asset_digests.plain"],
          replicas: [
            { action: "create", why: "2 are wanted" },
            { action: "create", why: "2 are wanted" },
            { replica_id: "0", action: "create", why: "ordinal 0 is missing" },
            { action: "create", why: "another" },
          ],
          notes: ["not acted upon"],
        },
      ],
      warnings: ["deployment/shop/web: not acted upon"],
    },
    options,
  );
  expect(text.split("\n")).toEqual([
    "~ deployment/shop/web",
    `    asset pages.index  ${digestOf("a".repeat(64))}  → ${digestOf("b".repeat(64))}`,
    `    asset plain        –          → ${digestOf("c".repeat(64))}`,
    "    starts 2 replicas: 2 are wanted",
    "    starts replica 0: ordinal 0 is missing",
    "    starts 1 replica: another",
    "    ! not acted upon",
    "",
    "1 to change",
  ]);
});

test("environment values show with reveal only", () => {
  expect(planText(result, options)).not.toMatch(/old"|new"/);
  expect(planText(result, { ...options, reveal: true })).toContain('env.TOKEN  "old"');
});

describe("hasChanges", () => {
  const unchanged: ApplyResult = {
    applied: [stored("job/shop/same")],
    pruned: [],
    plan: [{ ref: "job/shop/same", action: "unchanged", changed: [], replicas: [], notes: [] }],
  };

  test("is false when every row is unchanged", () => {
    expect(hasChanges(unchanged)).toBe(false);
    expect(planText(unchanged, options)).toBe("= job/shop/same\n\nno changes");
  });

  test("is true for a single prune", () => {
    expect(hasChanges({ ...unchanged, pruned: ["job/shop/old"] })).toBe(true);
  });
});

test.each([
  ["a.b", 1],
  ["a.x.y", 2],
  ["a.x.y.z", 3],
  ["list[1].n", 4],
  ["list[9]", undefined],
  ["a.none", undefined],
  ["a.b.c", undefined],
])("valueAt(%p), where keys may hold dots", (path, value) => {
  expect(valueAt({ a: { b: 1, "x.y": path === "a.x.y" ? 2 : { z: 3 } }, list: [0, { n: 4 }] }, path)).toEqual(value);
});

test.each([
  ["image", "x".repeat(80), `"${"x".repeat(58)}…`],
  ["replicas", 3, "3"],
  ["limits", { cpu: "1" }, '{"cpu":"1"}'],
  ["job.env.A", "secret", digestOf("secret")],
  ["env.A", "***", digestOf("***")],
  ["files.a", { _source: "url", url: "https://x/y" }, "https://x/y"],
  ["image", undefined, "–"],
])("valueText(%p, %p)", (path, value, text) => {
  expect(valueText(path, value, false)).toBe(text);
});

test("a changed path counts with and without its spec", () => {
  const change = { path: "image", before: "a", after: "b" };
  expect(fieldChanges(["spec.image"], { image: "a" }, { image: "b" })).toEqual([change]);
  expect(fieldChanges(["image"], { image: "a" }, { image: "b" })).toEqual([change]);
});

test("of a plugin's block the changed fields show without values, and what its plugin asks for", () => {
  const plan = [
    {
      ref: "pg/data/main",
      action: "update" as const,
      changed: ["password"],
      replicas: [],
      notes: ["its plugin asks for x"],
    },
    {
      ref: "cache/data/c",
      action: "create" as const,
      changed: [],
      replicas: [],
      notes: ["unknown until it is installed"],
    },
  ];
  const text = planText({ applied: [], current: [], pruned: [], dry_run: true, plan }, options);
  expect(text.split("\n")).toEqual([
    "~ pg/data/main",
    "    password  changed",
    "    ! its plugin asks for x",
    "+ cache/data/c",
    "    ! unknown until it is installed",
    "",
    "1 to create, 1 to change",
  ]);
});

test("what was done is counted as the plan counted it: blocks too, and nothing that stays", () => {
  const row = (ref: string, action: "create" | "update" | "unchanged" | "delete") => {
    return { ref, action, changed: [], replicas: [], notes: [] };
  };
  const plan = [row("postgres/d/m", "create"), row("statefulset/d/m", "create"), row("job/d/x", "unchanged")];
  const of = (rows: typeof plan, pruned: string[] = []) => {
    return appliedText({ applied: [], current: [], pruned, dry_run: true, plan: rows });
  };
  expect(of(plan)).toBe("applied 2 resources");
  expect(of([row("job/d/x", "update")], ["job/d/old"])).toBe("applied 1 resource, deleted 1");
  expect(of([], ["job/d/old"])).toBe("deleted 1 resource");
});
