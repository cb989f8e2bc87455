import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Manifest, Spec } from "../../../../../src/orchestration/api/manifest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, job, statefulset } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

const ref = (text: string) => `\${ref.${text}}`;
const reader = (env: Record<string, string>, spec: Spec = {}) => deployment("shop", "web", { env, ...spec });
const ingress = (host: string, spec: Spec = {}): Manifest => ({
  ...{ kind: "ingress", scope: "shop", name: "front" },
  spec: { host, service: "web", ...spec },
});

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const pods = () => it.runtime.containers().filter(({ name }) => name.startsWith("shop-web."));
const envOf = (key: string) => pods()[0]?.env[key];
const conditionText = async () => JSON.stringify((await it.status("deployment", "shop", "web")).conditions);

describe("a value of another manifest", () => {
  test("is in the environment when both come in one apply", async () => {
    await it.apply([
      reader({
        URL: `${ref("ingress.front.url")}/x`,
        DB: `${ref("statefulset.db.host_0")}:${ref("statefulset.db.port")}`,
      }),
      ingress("a.test", { tls: {} }),
      statefulset("shop", "db", { ports: ["5432"] }),
    ]);
    await it.settle();
    expect([envOf("URL"), envOf("DB")]).toEqual(["https://a.test/x", "db-0.shop.berth:5432"]);
  });

  test("is waited for, with a condition, until it is applied", async () => {
    const { warnings = [] } = await it.apply(reader({ URL: ref("ingress.front.url") }));
    expect(warnings.join()).toContain("ingress/shop/front is not applied");
    await it.advance(1_000);
    expect(pods()).toEqual([]);
    expect(await conditionText()).toContain("ReferenceUnresolved");
    expect(await conditionText()).toContain("ingress/shop/front is not applied; apply it, or write the value");
    await it.apply(ingress("a.test"));
    await it.settle();
    expect(envOf("URL")).toBe("http://a.test");
  });

  test("is looked for in the own scope alone", async () => {
    await it.apply([reader({ DB: ref("deployment.db.host") }), deployment("blog", "db")]);
    await it.advance(1_000);
    expect(pods()).toEqual([]);
  });

  test("a change of it replaces who reads it, and nobody else", async () => {
    await it.apply([reader({ URL: ref("ingress.front.url") }), ingress("a.test"), deployment("shop", "other")]);
    await it.settle();
    const other = it.runtime.containers().find(({ name }) => name.startsWith("shop-other."))?.id;
    await it.apply(ingress("a.test", { locations: [{ path: "/x" }] }));
    await it.settle();
    const [before] = pods();
    await it.apply(ingress("b.test"));
    await it.settle();
    expect(envOf("URL")).toBe("http://b.test");
    expect(pods().map(({ id }) => id)).not.toEqual([before?.id]);
    expect(it.runtime.containers().some(({ id }) => id === other)).toBe(true);
    expect(it.events("reference.changed").map(({ name }) => name)).toEqual(["web"]);
  });

  test("a change that leaves the value alone replaces nobody", async () => {
    await it.apply([reader({ URL: ref("ingress.front.host") }), ingress("a.test")]);
    await it.settle();
    const before = pods().map(({ id }) => id);
    await it.apply(ingress("a.test", { tls: {} }));
    await it.settle();
    expect(pods().map(({ id }) => id)).toEqual(before);
  });

  test("a reader that is applied unchanged beside the change rolls too", async () => {
    const web = reader({ URL: ref("ingress.front.url") });
    await it.apply([web, ingress("a.test")]);
    await it.settle();
    await it.apply([web, ingress("b.test")]);
    await it.settle();
    expect(envOf("URL")).toBe("http://b.test");
  });

  test("a rollback of what is read moves it too", async () => {
    const db = (port: string) => deployment("shop", "db", { ports: [port] });
    await it.apply([reader({ PORT: ref("deployment.db.port") }), db("1")]);
    await it.settle();
    await it.apply(db("2"));
    await it.settle();
    expect(envOf("PORT")).toBe("2");
    await it.controller.rollback(
      { scope: "shop", name: "db", kind: "deployment", releaseId: undefined },
      { actor: "ana" },
    );
    await it.settle();
    expect(envOf("PORT")).toBe("1");
  });

  test("the digest of an asset follows its content", async () => {
    const conf = (text: string): Manifest => ({
      kind: "asset",
      scope: "shop",
      name: "conf",
      spec: { files: { a: text } },
    });
    await it.apply([reader({ SUM: ref("asset.conf.digest") }), conf("one")]);
    await it.settle();
    const before = envOf("SUM");
    expect(before).toMatch(/^[0-9a-f]{64}$/);
    await it.apply(conf("two"));
    await it.settle();
    expect(envOf("SUM")).toMatch(/^[0-9a-f]{64}$/);
    expect(envOf("SUM")).not.toBe(before);
  });

  test("a run of a job gets what holds when it starts", async () => {
    await it.apply([job("shop", "tidy", { env: { URL: ref("ingress.front.url") } }), ingress("a.test")]);
    await it.apply(ingress("b.test"));
    await it.controller.runJob({ kind: "job", scope: "shop", name: "tidy" }, { wait: false, actor: "ana" });
    await it.quiet();
    const run = it.runtime.containers().find(({ name }) => name.includes("tidy"));
    expect(run?.env.URL).toBe("http://b.test");
  });
});

describe("refusals", () => {
  test.each<[string, string]>([
    ["ingress.front.port", 'a value "port" is not among those of the kind ingress; it has host, url'],
    ["job.x.exit", '"job" reports no values'],
  ])("%s, whatever is stored", async (text, fault) => {
    const error = await expectFailure(it.apply(reader({ X: ref(text) })), "invalid");
    expect(error.message).toContain(`spec.env.X: "${ref(text)}" is not a reference: `);
    expect(error.message).toContain(fault);
  });

  test("a value that the manifest does not report, stored or in the same apply", async () => {
    const web = reader({ X: ref("deployment.db.port") });
    const wanted = "deployment/shop/db reports host";
    expect((await expectFailure(it.apply([web, deployment("shop", "db")]), "invalid")).message).toContain(wanted);
    await it.apply(deployment("shop", "db"));
    expect((await expectFailure(it.apply(web), "invalid")).message).toContain(wanted);
    await it.apply([web, deployment("shop", "db", { ports: ["1"] })]);
  });

  test("a change that takes away what somebody reads", async () => {
    await it.apply([reader({ X: ref("deployment.db.port") }), deployment("shop", "db", { ports: ["1"] })]);
    const error = await expectFailure(it.apply(deployment("shop", "db")), "invalid");
    expect(error.message).toContain("deployment/shop/web reads");
    expect(error.message).toContain("change the reader first or with it");
    await it.apply([reader({}), deployment("shop", "db")]);
  });
});

describe("what is read goes", () => {
  beforeEach(async () => {
    await it.apply([reader({ URL: ref("ingress.front.url") }), ingress("a.test")]);
    await it.settle();
    await it.controller.deleteManifest(
      { kind: "ingress", scope: "shop", name: "front" },
      { prune: false, actor: "ana" },
    );
    // One failed look is no fault yet.
    await it.advance(10_000);
  });

  test("who reads it says so, keeps running, and is healed", async () => {
    expect(await conditionText()).toContain("ReferenceUnresolved");
    const [pod] = pods();
    it.runtime.kill(pod?.id ?? "");
    await it.advance(120_000);
    expect(pods().map(({ id, state }) => [id, state])).toEqual([[pod?.id ?? "", "running"]]);
    expect(await conditionText()).toContain("ReferenceUnresolved");
  });

  test("it comes back with another value", async () => {
    await it.apply(ingress("b.test"));
    await it.settle();
    expect(envOf("URL")).toBe("http://b.test");
    expect(await conditionText()).not.toContain("ReferenceUnresolved");
  });
});

test("a dry run shows who would be replaced, and what would wait, and does nothing", async () => {
  await it.apply([reader({ URL: ref("ingress.front.url") }), ingress("a.test")]);
  await it.settle();
  const { plan = [] } = await it.apply(ingress("b.test"), { dryRun: true });
  const row = plan.find((one) => one.ref === "deployment/shop/web");
  expect(row?.replicas.map(({ action }) => action)).toEqual(["replace"]);
  const waiting = await it.apply(deployment("shop", "x", { env: { A: ref("ingress.nobody.url") } }), { dryRun: true });
  expect(waiting.plan?.[0]?.notes.join()).toContain("ingress/shop/nobody is not applied");
  const both = [deployment("shop", "x", { env: { A: ref("deployment.y.host") } }), deployment("shop", "y")];
  expect((await it.apply(both, { dryRun: true })).plan?.flatMap(({ notes }) => notes)).toEqual([]);
  await it.quiet();
  expect(envOf("URL")).toBe("http://a.test");
  expect(it.events("reference.changed")).toEqual([]);
});
