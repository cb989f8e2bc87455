import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Rig, rig } from "../support/rig.ts";

let it: Rig;
beforeAll(async () => {
  it = await rig({ flags: ["--ingress-http-addr", "", "--ingress-https-addr", ""] });
});
afterAll(() => it.close());

const route = { kind: "ingress", scope: "shop", name: "web", spec: { host: "shop.test" } } as const;

test("an apply warns that an ingress is not served while the ingress is off", async () => {
  const answer = await it.apply(route);
  const { warnings } = answer.body.data as unknown as { warnings: string[] };
  expect(warnings).toContain("ingress/shop/web: stored, but not served: the ingress is turned off");
  const plan = await it.call("POST", "/apply?dry_run=true", [{ ...route, name: "other", spec: { host: "b.test" } }]);
  expect(JSON.stringify(plan.body)).toContain("stored, but not served: the ingress is turned off");
});

test("`berth ingress` says so, and that a reload is not possible", async () => {
  const status = await it.cli(["ingress", "status"]);
  expect(status).toMatchObject({ exitCode: 1 });
  expect(status.stdout).toContain("proxy    off\n");
  expect((await it.cli(["ingress", "ls"])).stdout).toMatch(/^shop\/web +http:\/\/shop\.test +shop\/web +0 ready/m);
  const get = await it.cli(["get", "ingress"]);
  expect(get.stdout).toMatch(/^shop\/web +stored .*not served: the ingress is turned off$/m);
  const reload = await it.cli(["ingress", "reload"]);
  expect(reload).toMatchObject({ exitCode: 1, stderr: "error: the ingress is turned off\n" });
});
