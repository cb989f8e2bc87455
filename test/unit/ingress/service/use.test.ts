import { expect, test } from "bun:test";
import { readFigures } from "../../../../src/ingress/core/figures/proxy-figures.ts";
import { ingressUse, type UseOptions } from "../../../../src/ingress/service/use.ts";
import { expectFailure } from "../../../support/failure.ts";
import { ingress } from "../../../support/ingress-input.ts";
import { runningWith } from "../../../support/ingress-running.ts";
import { site } from "../../../support/ingress-table.ts";
import { info, stat } from "../../../support/ingress-views.ts";

const key = { kind: "deployment", scope: "shop", name: "web" };
const both = stat.replace("t2,BACKEND", "p2,BACKEND");

function useOf(changed: Partial<UseOptions> = {}, text = stat) {
  return ingressUse({
    proxy: {
      figures: async () => readFigures(info, text),
      running: () => runningWith([site("web", []), site("api", [])]),
    },
    ingresses: () => [ingress("web", { host: "a.test" })],
    serviceKinds: () => ["deployment"],
    ...changed,
  });
}

test("is what HAProxy counts of the backend: what was answered, and what is under way", async () => {
  const use = await useOf();
  expect(use(key)).toEqual({ mark: "10/150", active: 2 });
  expect(use({ ...key, name: "other" })).toBeUndefined();
  expect(use({ ...key, kind: "statefulset" })).toBeUndefined();
});

test("is summed over all ingresses that lead there", async () => {
  const ingresses = () => [ingress("web", { host: "a.test" }), ingress("api", { host: "b.test", service: "web" })];
  const running = runningWith([site("web", []), site("api", [])]);
  const [web, api] = ["shop/web", "shop/api"].map((id) => running.assignment.backends[id]);
  expect([web, api].toSorted()).toEqual(["p1", "p2"]);
  expect((await useOf({ ingresses }, both))(key)?.active).toBe(3);
});

test("is known of a TCP port alone, whose connections wake it as requests do", async () => {
  const ingresses = () => [ingress("web", { tcp: { port: 5432 } })];
  expect((await useOf({ ingresses }))(key)?.active).toBe(2);
});

test("fails while the proxy does not answer, or serves nothing yet", async () => {
  const figures = async () => readFigures(info, stat);
  await expectFailure(useOf({ proxy: { figures, running: () => undefined } }), "unavailable");
});
