import { expect, test } from "bun:test";
import { notServed } from "../../../../../src/orchestration/controller/write/not-served.ts";

test("an ingress is warned of while nothing serves it, with the reason", () => {
  const ingressProblem = () => "HAProxy is not installed";
  expect(notServed({ ingressProblem }, "ingress")).toEqual(["stored, but not served: HAProxy is not installed"]);
  expect(notServed({ ingressProblem }, "deployment")).toEqual([]);
});

test("nothing is said while all is well, or where nobody knows", () => {
  expect(notServed({ ingressProblem: () => undefined }, "ingress")).toEqual([]);
  expect(notServed({}, "ingress")).toEqual([]);
});
