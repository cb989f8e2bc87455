import { expect, test } from "bun:test";
import { openBeside } from "../../../../src/orchestration/core/open-beside.ts";

const ingress = (name: string, spec: object, scope = "shop") => ({
  kind: "ingress",
  scope,
  name,
  spec: { host: "a.test", ...spec } as Record<string, unknown>,
});
const closed = { locations: [{ path: "/admin" }], basic_auth: { ann: "secret" }, service: "web" };
const told = (...others: ReturnType<typeof ingress>[]) =>
  openBeside([ingress("admin", closed), ...others]).get("ingress/shop/admin") ?? [];

test("a path with a password below an open path of the same app is told, with what case means, for both", () => {
  const text =
    '"a.test/admin" has basic_auth, and "a.test/" of ingress/shop/web leads to the same app without it. Upper and lower case are different paths: an app that reads /Admin as /admin answers it without basic_auth';
  const notes = openBeside([ingress("admin", closed), ingress("web", {})]);
  expect([...notes]).toEqual([
    ["ingress/shop/admin", [text]],
    ["ingress/shop/web", [text]],
  ]);
});

test("with strip, an open path anywhere opens all of the app", () => {
  const [text] = told(ingress("web", { locations: [{ path: "/pub", strip: true }] }));
  expect(text).toContain(
    '"a.test/pub" of ingress/shop/web leads to the same app without it: with strip it reaches every',
  );
});

test("each of allow, deny and basic_auth counts, and the same rules on both close the gap", () => {
  const both = { ...closed, allow: ["10.0.0.0/8"], deny: ["10.1.0.0/16"] };
  const pair = (open: object) => openBeside([ingress("admin", both), ingress("web", open)]).get("ingress/shop/web");
  expect(pair({ allow: ["10.0.0.0/8"] })?.[0]).toContain("has basic_auth and deny, and");
  expect(pair({ basic_auth: { b: "c" }, allow: ["::1"], deny: ["::2"] })).toBeUndefined();
  // Empty lists are no rules.
  expect(pair({ basic_auth: {}, allow: [], deny: [] })?.[0]).toContain("basic_auth and allow and deny");
});

test.each([
  ["another app", ingress("other", {})],
  ["another host", ingress("web", { host: "b.test" })],
  ["another scope", ingress("web", {}, "blog")],
  ["a path beside, which leads nowhere else", ingress("web", { locations: [{ path: "/api" }] })],
  ["a path below, which was opened on purpose", ingress("web", { locations: [{ path: "/admin/public" }] })],
  ["a name that only begins alike", ingress("web", { locations: [{ path: "/adm" }] })],
  ["TCP", ingress("web", { tcp: { port: 5432 } })],
])("nothing is told of %s", (_, other) => {
  expect(told(other)).toEqual([]);
});

test("a whole host with rules has nothing beside it, and a path without letters has no case", () => {
  const all = ingress("all", { basic_auth: { a: "b" }, service: "web" });
  expect([...openBeside([all, ingress("web", { locations: [{ path: "/x" }] })])]).toEqual([]);
  const numbers = ingress("n", { ...closed, locations: [{ path: "/1/%C3" }] });
  expect(openBeside([numbers, ingress("web", {})]).get("ingress/shop/n")?.[0]).toEndWith("without it");
});
