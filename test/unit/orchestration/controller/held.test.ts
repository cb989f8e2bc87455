import { afterEach, expect, test } from "bun:test";
import { cronjob, deployment, job } from "../../../support/manifests.ts";
import { expectFailure } from "../../../support/failure.ts";
import { keyOf, type World, world } from "../../../support/world.ts";

let it: World;
let isHeld: boolean;
let sent: string[];
afterEach(() => it.close());

const minute = 60_000;
const hook = "https://hooks.test/web";

async function restoredWorld(): Promise<void> {
  isHeld = true;
  sent = [];
  it = await world({
    isHeld: () => isHeld,
    async sendWebhook({ url }) {
      sent.push(url);
      return { outcome: "delivered", result: "status 204" };
    },
  });
}

test("while a restore is not confirmed replicas run, and nothing else happens by itself", async () => {
  await restoredWorld();
  await it.apply([
    deployment("shop", "web", { replicas: 2, on_deploy: { success: [{ url: hook }] } }),
    deployment("shop", "shy", { release: { command: ["migrate"] } }),
    cronjob("shop", "nightly", { schedule: "* * * * *" }),
    job("shop", "once"),
  ]);
  await it.advance(10 * minute);
  const names = () => it.containers().map((name) => name.replace(/\..*/, ""));
  expect(names()).toEqual(["shop-web", "shop-web"]);
  expect(it.store.runs.list(keyOf("cronjob", "shop", "nightly"), 10)).toEqual([]);
  expect(sent).toEqual([]);
  const run = it.controller.runJob({ kind: "job", scope: "shop", name: "once" }, { wait: false, actor: "ana" });
  expect((await expectFailure(run, "conflict")).message).toContain("berth restore --confirm");

  isHeld = false;
  await it.advance(2 * minute);
  expect(it.store.runs.list(keyOf("cronjob", "shop", "nightly"), 10).length).toBeGreaterThan(0);
  expect(it.containers().join(" ")).toContain("shop-shy");
  expect(sent).toEqual([hook]);
});
