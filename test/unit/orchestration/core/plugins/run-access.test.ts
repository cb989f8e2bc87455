import { expect, test } from "bun:test";
import { orchestrationEndpoints } from "../../../../../src/orchestration/api/endpoints.ts";
import { callNeed, reaches } from "../../../../../src/orchestration/core/plugins/run-access.ts";

test.each([
  ["GET", "/config?scope=a&name=b", { type: "config", place: { scope: "a", name: "b" } }],
  ["HEAD", "/describe?kind=deployment&scope=a", { type: "scope", place: { scope: "a" } }],
  ["GET", "/logs?scope=a&name=b&follow=true", { type: "scope", place: { scope: "a", name: "b" } }],
  ["HEAD", "/logs", { type: "scope", place: {} }],
  ["POST", "/config?scope=%20a%20", { type: "action", action: "config_set", place: { scope: "a" } }],
  ["POST", "/pods/a-b.0/exec?tty=true", { type: "own", place: { pod: "a-b.0" } }],
  ["POST", "/jobs/runs/r1/cancel", { type: "own", place: { run: "r1" }, or: "run_job" }],
  [
    "POST",
    "/backups/databases/restores?scope=a&name=b&into=c/d",
    { type: "own", place: { scope: "a", name: "b" }, and: { scope: "c", name: "d" } },
  ],
  ["POST", "/apply", { type: "manifests", prunes: false }],
  ["POST", "/apply?prune=false", { type: "manifests", prunes: false }],
  // However the plane reads another word, it is not more than what was asked for here.
  ["POST", "/apply?prune=1", { type: "manifests", prunes: true }],
  ["POST", "/plugin/pg/promote", { type: "command", plugin: "pg" }],
  ["DELETE", "/scope?scope=a", { type: "everything" }],
  ["GET", "/config/", { type: "everything" }],
  ["GET", "//config?scope=a", { type: "everything" }],
  ["GET", "/%63onfig?scope=a", { type: "everything" }],
  ["PUT", "/config?scope=a", { type: "everything" }],
])("%s %s needs %p", (method, target, need) => {
  expect(callNeed(method, target)).toEqual(need as ReturnType<typeof callNeed>);
});

test("what is not said to be for plugins is for those that were granted everything", () => {
  const open = orchestrationEndpoints.filter(({ method, path }) => {
    return callNeed(method, path.replaceAll(/:[a-z]+/g, "x")).type === "nothing";
  });
  expect(open.map(({ path }) => path).sort()).toEqual(["/health", "/operations/:id", "/system"]);
  const identity = orchestrationEndpoints.filter(({ path }) => path.startsWith("/identity"));
  expect(identity.length).toBeGreaterThan(0);
  for (const { method, path } of identity) {
    expect(callNeed(method, path.replaceAll(/:[a-z]+/g, "x"))).toEqual({ type: "everything" });
  }
});

test("a call without a scope is reached by a grant for all of them alone", () => {
  const grant = { actions: [], scopes: ["a"], docker: false };
  expect([reaches(grant, { scope: "a" }), reaches(grant, { scope: "b" }), reaches(grant, {})]).toEqual([
    true,
    false,
    false,
  ]);
  expect(reaches({ ...grant, scopes: ["*"] }, {})).toBe(true);
});
