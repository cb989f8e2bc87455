import { describe, expect, test } from "bun:test";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import {
  containerLabels,
  foreignLabel,
  ownLabels,
  selectorLabels,
} from "../../../../src/orchestration/engine/ownership.ts";
import { containerSpec } from "../../../support/container-spec.ts";

const owner = { names: naming("berth"), installationId: "i1" };

test("containerLabels: ours win over the spec's, the spec's over raw options", () => {
  const spec = containerSpec({
    image: "nginx:1",
    labels: { "berth.kind": "deployment", "berth.installation": "other" },
    options: { labels: { "berth.kind": "forged", createdby: "me", team: "blue" } },
  });
  expect(containerLabels(owner, spec)).toEqual({
    createdby: "berth",
    "berth.installation": "i1",
    "berth.kind": "deployment",
    "berth.image": "nginx:1",
    team: "blue",
  });
});

test("selectorLabels always names the installation, and of the key what was given", () => {
  expect(selectorLabels(owner, {})).toEqual({ "berth.installation": "i1" });
  expect(selectorLabels(owner, { kind: "deployment", scope: "", name: "web" })).toEqual({
    "berth.installation": "i1",
    "berth.kind": "deployment",
    "berth.scope": "",
    "berth.name": "web",
  });
});

describe("foreignLabel", () => {
  const wanted = { ...ownLabels(owner), "berth.scope": "shop", "berth.name": "db", "berth.claim": "data", other: "1" };

  test("the same owner is none", () => expect(foreignLabel(owner, wanted, wanted)).toBeUndefined());
  test("no labels name nobody", () => expect(foreignLabel(owner, {}, wanted)).toBeUndefined());
  test("labels beside the identity do not count", () =>
    expect(foreignLabel(owner, { ...wanted, other: "2", "berth.created_at": "x" }, wanted)).toBeUndefined());
  test.each(["createdby", "berth.installation", "berth.scope", "berth.name", "berth.claim"])("%s differs", (key) => {
    expect(foreignLabel(owner, { ...wanted, [key]: "else" }, wanted)).toBe(`${key}=else`);
  });
});
