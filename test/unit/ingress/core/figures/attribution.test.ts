import { expect, test } from "bun:test";
import { createAttribution } from "../../../../../src/ingress/core/figures/attribution.ts";
import { runningWith } from "../../../../support/ingress-running.ts";
import { site, upstream } from "../../../../support/ingress-table.ts";

const web = site("web", [upstream(8001)], { options: { accessLog: "all" } });
const first = { site: "shop/web", answeredBy: { upstream: "container-8001", replica: "r8001" }, accessLog: "all" };

test("a line is of the ingress and the replica that the proxy's names stand for", () => {
  const attribution = createAttribution(10);
  attribution.learn(runningWith([web]));
  expect(attribution.find({ backend: "p1", server: "s1" })).toEqual(first as never);
  expect(attribution.find({ backend: "p1", server: undefined })).toEqual({ ...first, answeredBy: undefined } as never);
  expect(attribution.find({ backend: "p9", server: undefined })).toBeUndefined();
  expect(attribution.find({ backend: undefined, server: undefined })).toBeUndefined();
});

test("the last answers of a replica that left are still its own, also when its backend is another ingress's by now", () => {
  const attribution = createAttribution(10);
  attribution.learn(runningWith([web]));
  attribution.learn(runningWith([site("other", [upstream(8002)])], 2));
  expect(attribution.find({ backend: "p1", server: "s1" })).toMatchObject({ ...first, accessLog: "off" });
  expect(attribution.find({ backend: "p1", server: "s2" })).toMatchObject({ site: "shop/other" });
});

test("only so many that left are remembered, and those in use are never forgotten", () => {
  const attribution = createAttribution(2);
  for (let server = 2; server < 9; server++) {
    attribution.learn(runningWith([{ ...web, upstreams: [upstream(8000 + server)] }], server));
  }
  const known = [2, 3, 4, 5, 6, 7, 8].filter((server) => {
    return attribution.find({ backend: "p1", server: `s${server}` })?.answeredBy !== undefined;
  });
  expect(known).toEqual([6, 7, 8]);
});

test("before the proxy has anything, no line belongs anywhere", () => {
  const attribution = createAttribution(2);
  attribution.learn(undefined);
  expect(attribution.find({ backend: "p1", server: "s1" })).toBeUndefined();
});
