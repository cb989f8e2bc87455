import { expect, test } from "bun:test";
import { notServed } from "../../../../../src/orchestration/controller/write/not-served.ts";

const ingress = { kind: "ingress", spec: { host: "a.test" } };

test("an ingress is warned of while nothing serves it, with the reason", () => {
  const ingressProblem = () => "HAProxy is not installed";
  expect(notServed({ ingressProblem }, ingress)).toEqual(["stored, but not served: HAProxy is not installed"]);
  expect(notServed({ ingressProblem }, { kind: "deployment", spec: {} })).toEqual([]);
});

test("an ingress that a plugin routes does not need the proxy", () => {
  const ingressProblem = () => "the ingress is turned off";
  expect(notServed({ ingressProblem }, { kind: "ingress", spec: { host: "a.test", plugin: "front" } })).toEqual([]);
});

test("nothing is said while all is well, or where nobody knows", () => {
  expect(notServed({ ingressProblem: () => undefined }, ingress)).toEqual([]);
  expect(notServed({}, ingress)).toEqual([]);
});
