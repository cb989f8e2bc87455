import { afterEach, beforeEach, expect, test } from "bun:test";
import { deployment, statefulset } from "../support/manifests.ts";
import { plane, type Ask } from "../support/plane.ts";
import { world, type World } from "../support/world.ts";

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world();
  ask = plane(it);
  await it.apply([
    statefulset("data", "main"),
    deployment("shop", "web"),
    deployment("shop", "report", { env: { FROM: "http://web.shop/" } }),
  ]);
  await ask("POST /config?scope=shop&name=web", { DATABASE_URL: "postgres://app:pw@main-0.data:5432/app", OTHER: "1" });
});
afterEach(() => it.close());

const use = {
  what: "statefulset/data/main",
  by: "deployment/shop/web",
  where: "DATABASE_URL in its config names main-0.data",
};
const text = `${use.what} is used by ${use.by}: ${use.where}`;

test("who names a host is told, without a value", async () => {
  const { data, text: body } = await ask("GET /uses?scope=data&name=main");
  expect(data).toEqual({ uses: [use] });
  expect(body).not.toContain("pw@");
  expect((await ask("GET /uses?scope=shop")).data).toEqual({
    uses: [{ what: "deployment/shop/web", by: "deployment/shop/report", where: "its manifest names web.shop" }],
  });
});

test("each way to delete what others use says so, and not where they go as well", async () => {
  expect((await ask("DELETE /apply?kind=statefulset&scope=data&name=main")).data.warnings).toEqual([text]);
  await it.apply(statefulset("data", "main"));
  expect((await ask("DELETE /resource?scope=data&name=main")).data.warnings).toEqual([text]);
  await it.apply(statefulset("data", "main"));
  expect((await ask("DELETE /scope?scope=data")).data.warnings).toEqual([text]);
  expect((await ask("DELETE /scope?scope=shop")).data.warnings).toBeUndefined();
});

test("an apply that prunes it says so in its plan already", async () => {
  const only = statefulset("data", "other");
  const answer = await ask("POST /apply?prune=true&dry_run=true", [only]);
  expect(answer.data.warnings).toEqual([text]);
});
