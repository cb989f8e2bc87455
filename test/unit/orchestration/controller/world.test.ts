import { afterEach, describe, expect, test } from "bun:test";
import { deployment, statefulset } from "../../../support/manifests.ts";
import { type World, world } from "../../../support/world.ts";

let it: World;
afterEach(() => it.close());

describe("the world that the other tests stand on", () => {
  test("runs what is applied, keeps it through a restart of the server, and ends", async () => {
    it = await world();
    await it.apply([deployment("shop", "web", { replicas: 2 }), statefulset("shop", "db")]);
    await it.settle();
    const names = it.containers();
    expect(names).toHaveLength(3);
    expect(names).toContain("shop-db.0");
    await it.restart();
    await it.settle();
    expect(it.containers()).toEqual(names);
  });

  test("says what is not settled", async () => {
    it = await world();
    await it.apply(deployment("shop", "web", { image: "nowhere:1" }));
    await expect(it.settle()).rejects.toThrow(/deployment\/shop\/web is failing: .*nowhere:1/);
  });
});
