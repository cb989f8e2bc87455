import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync, rmSync } from "node:fs";
import type { Spec } from "../../../../src/orchestration/api/manifest.ts";
import { sha256Hex } from "../../../../src/base/pure/digest.ts";
import { expectFailure } from "../../../support/failure.ts";
import { deployment } from "../../../support/manifests.ts";
import { rowsOf } from "../../../support/rows.ts";
import { keyOf, type World, world } from "../../../support/world.ts";

let it: World;
let site: ReturnType<typeof Bun.serve>;
let answer: () => Response | Promise<Response>;
let asked = 0;

beforeEach(async () => {
  asked = 0;
  answer = () => new Response("one");
  site = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      asked += 1;
      return answer();
    },
  });
  it = await world({ limits: { assetBytesMax: 1_000 } });
});
afterEach(async () => {
  await it.close();
  await site.stop(true);
});

const remote = (file: Spec = {}) => ({
  kind: "asset",
  scope: "shop",
  name: "conf",
  spec: { files: { app: { _source: "url", url: `${site.url}app`, timeout: "5s", ...file } } },
});
const reader = deployment("shop", "web", { volumes: ["${asset.conf.app}:/etc/app"] });
const digestOf = (text: string) => sha256Hex(new TextEncoder().encode(text));
const assetStatus = async () => (await it.describe("asset", "shop", "conf")).status;
const mounted = () => {
  const [container] = it.runtime.containers();
  return container && readFileSync(container.mounts[0]?.source ?? "", "utf8");
};
const refuse = (status = 500) => {
  answer = () => new Response("no", { status });
};

describe("a file from an address", () => {
  test("is fetched at apply, and again at every apply", async () => {
    await it.apply([remote(), reader]);
    await it.settle();
    expect(mounted()).toBe("one");
    answer = () => new Response("two");
    await it.apply(remote());
    await it.settle();
    expect(mounted()).toBe("two");
    expect(asked).toBe(2);
    await it.advance(11 * 60_000);
    expect(asked).toBe(2);
  });

  test("is not fetched by a dry run, which knows the last content", async () => {
    await it.apply([remote(), reader], { dryRun: true });
    expect(asked).toBe(0);
    await it.apply([remote(), reader]);
    refuse();
    const { plan } = await it.apply([remote(), reader], { dryRun: true });
    expect([asked, plan?.map(({ action }) => action)]).toEqual([1, ["unchanged", "unchanged"]]);
  });

  test("that went missing on disk is fetched again, and readers roll when it is another by now", async () => {
    await it.apply([remote(), reader]);
    await it.settle();
    rmSync(it.assets.path(digestOf("one")));
    answer = () => new Response("two");
    await it.advance(11 * 60_000);
    await it.settle();
    expect(mounted()).toBe("two");
    expect(it.events("asset.changed")).toMatchObject([{ actor: "reconciler", name: "web" }]);
  });
});

describe("a file that cannot be fetched", () => {
  test("fails the whole apply with on_failure error", async () => {
    refuse();
    const rows = rowsOf(it);
    const error = await expectFailure(it.apply([reader, remote({ on_failure: "error" })]), "invalid");
    expect(error.message).toMatch(/^manifest 2: spec\.files\.app: .*asset\/shop\/conf: cannot fetch ".*": .*500/);
    expect(rowsOf(it)).toEqual(rows);
  });

  test("keeps its last content, names the fault, and is taken as soon as it can be had", async () => {
    await it.apply([remote(), reader]);
    await it.settle();
    refuse(503);
    await it.apply(remote());
    await it.advance(5_000);
    expect(mounted()).toBe("one");
    expect(await assetStatus()).toMatchObject({
      phase: "failing",
      files: { app: digestOf("one") },
      errors: { app: "the server answered 503" },
      last_reconcile_error: expect.stringContaining("503"),
    });
    answer = () => new Response("two");
    await it.advance(60_000);
    await it.settle();
    expect(mounted()).toBe("two");
    expect(await assetStatus()).toMatchObject({ phase: "ready", errors: {} });
    expect(await assetStatus()).not.toHaveProperty("last_reconcile_error");
  });

  test("leaves its reader waiting with the reason, and the reader comes up by itself", async () => {
    refuse();
    await it.apply([remote({ on_failure: "skip" }), reader]);
    await it.advance(5_000);
    expect(it.containers()).toEqual([]);
    const status = await it.status("deployment", "shop", "web");
    expect(status.conditions.find(({ type }) => type === "Progressing")).toMatchObject({ reason: "AssetUnavailable" });
    answer = () => new Response("at last");
    await it.advance(60_000);
    await it.settle();
    expect(mounted()).toBe("at last");
  });

  test("backs off: an hour of trying is some sixty fetches", async () => {
    refuse();
    await it.apply(remote());
    await it.advance(60 * 60_000);
    expect(asked).toBeGreaterThan(50);
    expect(asked).toBeLessThan(110);
  });

  test("is told as too large, before all of it has come", async () => {
    answer = () => new Response("x".repeat(1_001));
    const error = await expectFailure(it.apply(remote({ on_failure: "error" })), "invalid");
    expect(error.message).toContain("longer than 1000 bytes");
    answer = () => new Response("x".repeat(1_000));
    await it.apply(remote({ on_failure: "error" }));
  });

  test("is told as too slow", async () => {
    answer = () => new Promise(() => undefined);
    const error = await expectFailure(it.apply(remote({ on_failure: "error", timeout: "20ms" })), "invalid");
    expect(error.message).toMatch(/cannot fetch ".*": .*no answer within 0.02 s/);
  });

  test("is forgotten with its asset", async () => {
    refuse();
    await it.apply(remote());
    await it.controller.deleteManifest({ kind: "asset", scope: "shop", name: "conf" }, { prune: false, actor: "test" });
    await it.quiet();
    asked = 0;
    await it.advance(10 * 60_000);
    expect([asked, it.store.status.get(keyOf("asset", "shop", "conf"))]).toEqual([0, undefined]);
    const { degraded } = await it.controller.listPods({}, { detail: false, spec: false });
    expect(degraded).toEqual([]);
  });
});
