import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { deployment, job, statefulset } from "../../../../support/manifests.ts";
import { expectFailure, thrownBy } from "../../../../support/failure.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

describe("a name alone that is the name of a scope", () => {
  const why = (name: string) => expectFailure(it.controller.why({ name }), "not_found");

  test("fails with the reason, and with one in it that would do", async () => {
    await it.apply([job("shop", "a"), statefulset("shop", "db"), deployment("blog", "web")]);
    const { message, reason, fields } = await why("shop");
    expect(message).toBe("deployment/shop or statefulset/shop or job/shop or cronjob/shop or ingress/shop not found");
    expect([reason, fields]).toEqual([
      "NameIsScope",
      { scope: "shop", example: expect.stringMatching(/^shop\/(a|db)$/) },
    ]);
    const releases = await thrownBy(() => it.controller.listReleases({ name: "shop" }));
    expect(releases.fields).toEqual({ scope: "shop" });
  });

  test("which is none, or stands for what the scope holds, has no reason", async () => {
    await it.apply([deployment("shop", "web"), deployment("blog", "shop")]);
    expect((await it.controller.why({ name: "shop" })).scope).toBe("blog");
    expect((await why("none")).reason).toBeUndefined();
    const inScope = await expectFailure(it.controller.why({ scope: "blog", name: "blog" }), "not_found");
    expect(inScope.reason).toBeUndefined();
  });
});
