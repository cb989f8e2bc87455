import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../src/base/wire/failure.ts";
import { deployment, statefulset } from "../../support/manifests.ts";
import { type Ask, plane } from "../../support/plane.ts";
import { type World, world } from "../../support/world.ts";

let it: World;
let ask: Ask;
beforeEach(async () => {
  it = await world();
  ask = plane(it);
  it.runtime.addRemoteImage("app:1", { id: "sha256:one" });
  await ask("POST /apply", [
    deployment("shop", "web", { image: "app:1", replicas: 2 }),
    deployment("shop", "auto", { autoscale: { min: 1, max: 3, cpu_target: 50 } }),
    deployment("shop", "both"),
    statefulset("shop", "both"),
  ]);
  await it.settle();
});
afterEach(() => it.close());

const named = (prefix: string) => it.containers().filter((name) => name.startsWith(prefix));

async function askAndSettle(request: string, body?: unknown) {
  const answer = ask(request, body);
  await it.settle();
  return answer;
}

describe("POST /scale", () => {
  test("writes the count, and the replicas follow", async () => {
    const { status, data } = await askAndSettle("POST /scale?scope=shop&name=web&replicas=3");
    expect([status, data]).toEqual([
      200,
      { kind: "deployment", scope: "shop", name: "web", replicas: 3, previous: 2, revision: expect.any(Number) },
    ]);
    expect(named("shop-web.")).toHaveLength(3);
    const [manifest] = (await ask("GET /apply?kind=deployment&name=web")).data as unknown as { spec: object }[];
    expect(manifest?.spec).toMatchObject({ image: "app:1", replicas: 3 });
    const { events } = (await ask("GET /events?scope=shop&name=web&limit=1000")).data as {
      events: { action: string }[];
    };
    expect(events.map(({ action }) => action)).toContain("scale");
  });

  test("what is wrong is refused, and changes nothing", async () => {
    const before = it.store.events.list({ limit: 1_000 }).length;
    const refusals = [
      ["POST /scale?name=web", 400],
      ["POST /scale?replicas=2", 400],
      ["POST /scale?name=web&replicas=-1", 400],
      ["POST /scale?name=web&replicas=2.5", 400],
      ["POST /scale?name=web&replicas=1001", 400],
      ["POST /scale?name=web&replicas=2&replicas=3", 400],
      ["POST /scale?name=both&replicas=2", 400],
      ["POST /scale?kind=job&name=web&replicas=2", 400],
      ["POST /scale?kind=nothing&name=web&replicas=2", 400],
      ["POST /scale?name=none&replicas=2", 404],
      ["POST /scale?scope=other&name=web&replicas=2", 404],
      ["POST /scale?name=auto&replicas=2", 409],
      ["GET /scale?name=web&replicas=2", 405],
    ] as const;
    for (const [request, status] of refusals) expect([request, (await ask(request)).status]).toEqual([request, status]);
    expect(it.store.events.list({ limit: 1_000 })).toHaveLength(before);
  });
});

describe("GET /why", () => {
  test("tells of a death", async () => {
    it.runtime.kill(named("shop-web.")[0] ?? "", 139);
    await it.settle();
    const { status, data } = await ask("GET /why?scope=shop&name=web");
    expect(status).toBe(200);
    expect(data).toMatchObject({
      kind: "deployment",
      phase: "ready",
      deaths: 1,
      death: { exit_code: 139, signal: "SIGSEGV" },
    });
  });

  test("of an ingress tells how it is served now, and what is behind it", async () => {
    await it.close();
    it = await world({ ingressServed: () => ({ phase: "progressing", why: "no replica of shop/web is ready" }) });
    ask = plane(it);
    const host = { host: "shop.example.org" };
    await ask("POST /apply", [
      deployment("shop", "web"),
      { kind: "ingress", scope: "shop", name: "web", spec: host },
      { kind: "ingress", scope: "shop", name: "site", spec: { host: "www.example.org", service: "web" } },
    ]);
    await it.settle();
    const told = { kind: "ingress", phase: "progressing", last_reconcile_error: "no replica of shop/web is ready" };
    expect((await ask("GET /why?name=site")).data).toMatchObject({ ...told, name: "site", service: "web" });
    expect((await ask("GET /why?kind=ingress&name=web")).data).toMatchObject({ ...told, name: "web", service: "web" });
    expect((await ask("GET /why?name=web")).data).toMatchObject({ kind: "deployment" });
  });

  test("what is wrong is refused", async () => {
    const refusals = [
      ["GET /why", 400],
      ["GET /why?name=both", 400],
      ["GET /why?kind=asset&name=web", 400],
      ["GET /why?kind=ingress&name=web", 404],
      ["GET /why?kind=job&name=web", 404],
      ["GET /why?kind=statefulset&name=web", 404],
      ["GET /why?name=none", 404],
      ["POST /why?name=web", 405],
    ] as const;
    for (const [request, status] of refusals) expect([request, (await ask(request)).status]).toEqual([request, status]);
  });
});

describe("a tag that moved", () => {
  beforeEach(() => it.runtime.addRemoteImage("app:1", { id: "sha256:two" }));
  const images = () => [
    ...new Set(
      it.runtime
        .containers()
        .filter(({ name }) => name.startsWith("shop-web."))
        .map(({ imageId }) => imageId),
    ),
  ];
  const same = () => deployment("shop", "web", { image: "app:1", replicas: 2 });

  test("is taken by a restart with pull, which is a release then", async () => {
    const { status, data } = await askAndSettle("POST /restart?name=web&pull=true");
    expect([status, data.image_pulls]).toEqual([200, [{ image: "app:1", updated: true }]]);
    const { releases } = (await ask("GET /releases?name=web")).data as { releases: { id: string; cause: string }[] };
    expect(releases[0]).toMatchObject({
      id: data.release,
      cause: "image",
      status: "succeeded",
      image_id: "sha256:two",
    });
    expect(images()).toEqual(["sha256:two"]);
  });

  test("is taken by an apply with force, and by no other", async () => {
    await askAndSettle("POST /apply", same());
    expect(images()).toEqual(["sha256:one"]);
    const { data } = await askAndSettle("POST /apply?force=true", same());
    expect(data.image_pulls).toEqual([{ image: "app:1", updated: true }]);
    expect(images()).toEqual(["sha256:two"]);
  });

  test("that cannot be pulled is a warning while there is a copy, and 503 without one", async () => {
    it.runtime.fail("pull", new Failure("conflict", "registry is away", { reason: "ImagePull" }));
    const { status, data } = await askAndSettle("POST /restart?name=web&pull=true");
    expect([status, data.image_pulls]).toEqual([
      200,
      [{ image: "app:1", updated: false, warning: "registry is away; the copy here stays" }],
    ]);
    const refused = await ask("POST /apply?force=true", deployment("shop", "new", { image: "nowhere:1" }));
    expect([refused.status, refused.error]).toEqual([503, "registry is away"]);
    expect((await ask("GET /describe?kind=deployment&name=new")).status).toBe(404);
  });

  test.each([["POST /restart?name=web&pull=maybe"], ["POST /apply?force=2"]])("%s is 400", async (request) => {
    expect((await ask(request, same())).status).toBe(400);
  });
});
