import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { sha256Hex } from "../../src/base/pure/digest.ts";
import { contextDigest } from "../../src/base/pure/source-tree.ts";
import { type World, world } from "../support/world.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { limits } from "../../src/config/config.ts";
import { waitFor } from "../support/wait.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

let it: World;
let ask: (
  method: string,
  path: string,
  body?: string | Uint8Array<ArrayBuffer>,
) => Promise<{ status: number; body: Record<string, unknown> & { data: never } }>;
beforeAll(async () => {
  it = await world();
  mkdirSync(it.layout.builds, { recursive: true });
  const app = createOrchestrationApp({ controller: it.controller, version: "t", names: naming(), log: it.log, limits });
  ask = async (method, path, body) => {
    const answer = await app.fetch(
      new Request(`http://localhost${path}`, { method, ...(body === undefined ? {} : { body }) }),
    );
    return { status: answer.status, body: (await answer.json()) as never };
  };
});
afterAll(() => it.close());

async function archive(text: string): Promise<Uint8Array<ArrayBuffer>> {
  const tar = pack();
  tar.entry({ name: "Dockerfile", mode: 0o644 }, text);
  tar.finalize();
  const parts: Uint8Array[] = [];
  for await (const part of tar) parts.push(part as Uint8Array);
  return new Uint8Array(gzipSync(Buffer.concat(parts)));
}
const digest = contextDigest([{ path: "Dockerfile", kind: "file", mode: 0o644, digest: sha256Hex("FROM a") }]);
const build = (more: object = {}) =>
  ask("POST", "/builds", JSON.stringify({ scope: "shop", name: "web", context: digest, ...more }));

test("upload, build, build again, apply", async () => {
  expect(await build()).toMatchObject({ status: 409, body: { code: "conflict", reason: "ContextMissing" } });
  const bytes = await archive("FROM a");
  const path = `/builds/contexts/${digest}`;
  expect(await ask("PUT", `${path}?offset=5`, bytes)).toMatchObject({
    status: 409,
    body: { reason: "ContextOffset", fields: { received: 0 } },
  });
  expect(await ask("PUT", `${path}?offset=0`, bytes.slice(0, 9))).toMatchObject({
    status: 200,
    body: { data: { complete: false, received: 9 } },
  });
  expect(await ask("PUT", `${path}?offset=9&last=true`, bytes.slice(9))).toMatchObject({
    status: 200,
    body: { data: { complete: true } },
  });
  expect(await ask("GET", path)).toMatchObject({
    status: 200,
    body: { data: { digest, complete: true, received: bytes.length } },
  });
  const first = await build();
  const { id } = (first.body.data as { build: { id: string } }).build;
  expect(first).toMatchObject({
    status: 200,
    body: { data: { reused: false, build: { status: "succeeded", image: `shop-web:${id}` } } },
  });
  expect(await build()).toMatchObject({ body: { data: { reused: true, build: { id } } } });
  expect(await ask("GET", `/builds/shop/web/${id}/log`)).toMatchObject({
    status: 200,
    body: { data: { log: "Step 1/1 : built in memory\n" } },
  });
  expect(await ask("GET", "/builds?scope=shop")).toMatchObject({ body: { data: { builds: [{ id }] } } });
  const applied = await it.apply({ kind: "deployment", scope: "shop", name: "web", spec: { build: { id } } } as never);
  await it.settle();
  expect(applied.applied).toHaveLength(1);
  expect(it.store.images.pinOf({ kind: "deployment", scope: "shop", name: "web" })?.ref).toBe(`shop-web:${id}`);
});

test("a build does not take the image name of another app, whose scope and name read the same together", async () => {
  await it.apply({ kind: "deployment", scope: "a-b", name: "c", spec: { replicas: 0 } } as never);
  for (const latest of [true, false]) {
    expect(await build({ scope: "a", name: "b-c", latest })).toMatchObject({
      status: 409,
      body: { error: expect.stringContaining('the name "a-b-c" of containers and files belongs to deployment/a-b/c') },
    });
  }
  expect(await build({ scope: "a-b", name: "c", latest: true })).toMatchObject({ status: 200 });
});

describe.each([
  [
    { scope: "p", name: "q-r" },
    { scope: "p-q", name: "r" },
  ],
  [
    { scope: "p-q", name: "s" },
    { scope: "p", name: "q-s" },
  ],
  [
    { scope: "p", name: "q-r.t" },
    { scope: "p-q-r", name: "t" },
  ],
])("the images of %j and %j", (former, latter) => {
  const isSameName = `${former.scope}-${former.name}` === `${latter.scope}-${latter.name}`;
  const orders: [string, ("one" | "other")[]][] = [
    ["only the first was built", ["one"]],
    ["the second was built later", ["one", "other"]],
    ["the first was built later", ["other", "one"]],
  ];

  test.each(orders)("do not stand in for each other: %s", async (_, order) => {
    const mark = `${order.length}${order[0]}`;
    const one = { ...former, name: `${former.name}${mark}` };
    const other = { ...latter, name: `${latter.name}${mark}` };
    const key = { kind: "deployment", ...other } as const;
    const labels = async () => {
      const found = (await it.runtime.observe()).find(({ name }) => name.startsWith(`${other.scope}-${other.name}.`));
      const detail = found && (await it.runtime.inspect(podRef(found.id)));
      return detail && (await it.runtime.inspectImage(detail.imageId))?.labels;
    };
    const own = { "berth.scope": other.scope, "berth.name": other.name };
    for (const app of order) {
      const target = app === "one" ? one : other;
      expect(await build({ ...target, latest: true })).toMatchObject({ status: 200 });
    }
    await it.apply({ ...key, spec: {} } as never);
    await it.quiet();
    if (order.at(-1) === "other" || (!isSameName && order.includes("other"))) {
      expect(await labels()).toMatchObject(own);
    } else {
      expect(await labels()).toBeUndefined();
      const { body } = await ask("GET", `/describe?kind=deployment&scope=${other.scope}&name=${other.name}`);
      const text = isSameName ? `was built for ${one.scope}/${one.name}` : "is not on this machine";
      expect(JSON.stringify(body)).toContain(text);
    }
    expect(await build({ ...other, latest: true })).toMatchObject({ status: 200 });
    await it.apply({ ...key, spec: {} } as never);
    await it.settle();
    expect(await labels()).toMatchObject(own);
  });
});

test("an app that ran on an image of that name before keeps its containers", async () => {
  it.runtime.addImage("u-v-w:latest");
  const key = { kind: "deployment", scope: "u-v", name: "w" } as const;
  await it.apply({ ...key, spec: {} } as never);
  await it.settle();
  const ids = async () =>
    (await it.runtime.observe()).filter(({ name }) => name.startsWith("u-v-w.")).map(({ id }) => id);
  const before = await ids();
  expect(before).toHaveLength(1);
  const labels = { "berth.scope": "u", "berth.name": "v-w" };
  it.runtime.addImage("u-v-w:latest", { id: `sha256:${"7".repeat(64)}`, labels });
  await it.apply({ ...key, spec: {} } as never);
  await it.apply({ ...key, spec: { replicas: 2 } } as never);
  await it.settle();
  expect(await ids()).toEqual(expect.arrayContaining(before));
  expect(await ids()).toHaveLength(2);
});

const request = (more: object) => JSON.stringify({ scope: "other", name: "web", context: digest, ...more });

test.each<[string, string, string | undefined, number, string]>([
  ["PUT", "/builds/contexts/abc?offset=0", "x", 400, "is not a sha256 digest"],
  ["PUT", `/builds/contexts/${digest}`, "x", 400, "offset"],
  ["PUT", `/builds/contexts/${"1".repeat(64)}?offset=0&last=true`, "junk", 400, "the archive is broken"],
  ["GET", "/builds/contexts/..%2f..%2fetc", undefined, 400, "is not a sha256 digest"],
  ["POST", "/builds", "{}", 400, "scope"],
  ["POST", "/builds", JSON.stringify({ scope: "A b", name: "web", context: digest }), 400, "scope"],
  ["POST", "/builds", JSON.stringify({ scope: "a", name: "web", context: "x" }), 400, "context"],
  [
    "POST",
    "/builds",
    JSON.stringify({ scope: "a", name: "web", context: digest, dockerfile: "../x" }),
    400,
    "leads out of the folder",
  ],
  ["POST", "/builds", JSON.stringify({ scope: "a", name: "web", context: digest, extra: 1 }), 400, "extra"],
  ["POST", "/builds", request({ memory: "lots" }), 400, 'memory: "lots" is not a size'],
  ["POST", "/builds", request({ cpu: "0" }), 400, 'cpu: "0" is not a number of CPUs'],
  ["POST", "/builds", request({ secrets: { "a/../b": "x" } }), 400, "secrets"],
  ["POST", "/builds", request({ config_secrets: ["a b"] }), 400, "config_secrets"],
  ["POST", "/builds", request({ config_secrets: ["__proto__"] }), 409, "needs the secret __proto__"],
  ["POST", "/builds", request({ config_secrets: ["TOKEN"] }), 409, "berth config set other/web TOKEN="],
  ["POST", "/apply", JSON.stringify({ kind: "job", scope: "a", name: "j", spec: { build: {} } }), 400, "spec.build.id"],
  ["GET", "/builds/a/web/0123/log", undefined, 404, "no build"],
])("%s %s with %j is %d", async (method, path, body, status, text) => {
  const answer = await ask(method, path, body);
  expect([answer.status, answer.body.error]).toEqual([status, expect.stringContaining(text)]);
});

const memoryLine = "Step 1/1 : built in memory\n";

const startIn = async (name: string, more: object = {}) => {
  const body = JSON.stringify({ scope: "shop", name, context: digest, ...more });
  const answer = await ask("POST", "/builds?wait=false", body);
  expect(answer.status).toBe(202);
  return (answer.body.data as { build: { id: string; status: string } }).build;
};
const statusOf = (name: string, id: string) => it.store.builds.get("shop", name, id)?.status;

test("a build that nobody waits for is followed, cancelled and built again", async () => {
  const { id, status } = await startIn("api", { args: { HOLD: "true" } });
  expect(status).toBe("queued");
  const behind = await startIn("worker");
  await waitFor("the first one to begin", () => statusOf("api", id) === "building");
  const printed = async () => ((await ask("GET", `/builds/shop/api/${id}/log`)).body.data as { log: string }).log;
  await waitFor("its output so far", async () => (await printed()) === memoryLine);
  expect(await ask("POST", `/builds/shop/worker/${behind.id}/cancel`)).toMatchObject({
    status: 200,
    body: { data: { build: { status: "canceled" } } },
  });
  const lines = it.controller.followBuild({ scope: "shop", name: "api", id }, AbortSignal.timeout(10_000));
  const read = Array.fromAsync(lines, (part) => new TextDecoder().decode(part));
  expect(await ask("POST", `/builds/shop/api/${id}/retry`)).toMatchObject({ status: 409 });
  expect(await ask("POST", `/builds/shop/api/${id}/cancel`)).toMatchObject({ status: 200 });
  expect([await read, statusOf("api", id)]).toEqual([[memoryLine], "canceled"]);
  expect(await ask("POST", `/builds/shop/api/${id}/cancel`)).toMatchObject({
    status: 409,
    body: { error: "the build has ended already: canceled" },
  });
  expect(await ask("POST", `/builds/shop/worker/${behind.id}/retry`)).toMatchObject({ status: 202 });
  await waitFor("the second try", () => statusOf("worker", behind.id) === "succeeded");
});

test("a list of builds tells the releases that run on each, and which images are kept", async () => {
  const { body } = await ask("GET", "/builds?scope=shop&name=web");
  const [first] = (body.data as { builds: { releases: string[]; kept: boolean; image_bytes: number }[] }).builds;
  expect(first).toMatchObject({ kept: true, image_bytes: expect.any(Number) });
});

test("a build with a secret that came along cannot be built again from what the server has", async () => {
  const { id } = await startIn("secret", { secrets: { npm: "hunter2" } });
  await waitFor("its end", () => statusOf("secret", id) === "succeeded");
  const answer = await ask("POST", `/builds/shop/secret/${id}/retry`);
  expect([answer.status, answer.body.reason]).toEqual([409, "BuildSecretMissing"]);
  expect(JSON.stringify(it.store.builds.get("shop", "secret", id))).not.toContain("hunter2");
});

describe("a build without an id, where the caller asks for that", () => {
  const app = (name: string, more: object = {}) => ({
    kind: "deployment",
    scope: "shop",
    name,
    spec: { build: {}, ...more },
  });
  const put = async (body: object, query = "?unbuilt=true") => {
    const answer = await ask("POST", `/apply${query}`, JSON.stringify(body));
    expect(answer).toMatchObject({ status: 200 });
    return (answer.body.data as { applied: { spec: { build: { id?: string }; job?: object } }[] }).applied[0]?.spec;
  };
  const statusOfApp = async (name: string) =>
    (((await ask("GET", `/describe?kind=deployment&scope=shop&name=${name}`)).body.data as object) ?? {}) as {
      status: { last_reconcile_error?: string; conditions: { reason?: string }[] };
      pods: { image: string }[];
    };
  const newBuild = async (name: string, more: object = {}) => {
    const answer = await build({ name, ...more });
    expect(answer).toMatchObject({ status: 200 });
    return (answer.body.data as { build: { id: string; image_id: string } }).build;
  };

  beforeAll(async () => {
    await ask("PUT", `/builds/contexts/${digest}?offset=0&last=true`, await archive("FROM a"));
  });

  test("waits for its image, and never takes a latest of somebody else", async () => {
    await it.engine.tagImage(
      it.store.images.pinOf({ kind: "deployment", scope: "shop", name: "web" })?.imageId ?? "",
      "shop-late:latest",
    );
    expect((await put(app("late")))?.build).toEqual({});
    await waitFor("the reason", async () => (await statusOfApp("late")).status.last_reconcile_error !== undefined);
    const { status, pods } = await statusOfApp("late");
    expect(status.last_reconcile_error).toContain(
      "is not built yet; build it where its source is: berth apply -f FILE",
    );
    expect(JSON.stringify(status.conditions)).toContain('"ImageMissing"');
    expect(pods).toEqual([]);
    // What is stored may be stored again by whoever does not ask.
    await put(app("late", { replicas: 2 }), "");
    const made = await newBuild("late", { args: { NUMBER: "1" } });
    const pin = () => it.store.images.pinOf({ kind: "deployment", scope: "shop", name: "late" })?.imageId;
    await waitFor("it to run on its first image", () => pin() === made.image_id);
    await it.settle();
    const before = (await statusOfApp("late")).pods.map(({ image }) => image);
    expect(before).toHaveLength(2);
    // Applied again it is the same, and not rolled.
    const generation = () => it.store.manifests.get({ kind: "deployment", scope: "shop", name: "late" })?.generation;
    const was = generation();
    await put(app("late", { replicas: 2 }));
    expect(generation()).toBe(was);
    // The next image comes with the next apply.
    await it.advance(10);
    const next = await newBuild("late", { args: { NUMBER: "2" } });
    expect(pin()).toBe(made.image_id);
    expect((await put(app("late", { replicas: 2 })))?.build).toEqual({ id: next.id });
    await waitFor("it to run on the next image", () => pin() === next.image_id);
  });

  test("of a cron job gets its newest build as well", async () => {
    const { id } = await newBuild("tick");
    const spec = { schedule: "0 0 1 1 *", job: { build: {} } };
    expect(await put({ kind: "cronjob", scope: "shop", name: "tick", spec })).toMatchObject({ job: { build: { id } } });
  });

  test("is refused from anybody who does not ask", async () => {
    expect(await ask("POST", "/apply", JSON.stringify(app("strict")))).toMatchObject({ status: 400 });
  });

  test("an image that is named latest is the newest, also where it was there already", async () => {
    const latest = async () => (await it.engine.inspectImage("shop-named:latest"))?.id;
    const first = await newBuild("named", { args: { NUMBER: "3" } });
    expect(await latest()).toBeUndefined();
    await newBuild("named", { args: { NUMBER: "3" }, latest: true });
    expect(await latest()).toBe(first.image_id);
    const second = await newBuild("named", { args: { NUMBER: "4" }, latest: true });
    expect(await latest()).toBe(second.image_id);
    await it.advance(10);
    await newBuild("named", { args: { NUMBER: "3" }, latest: true });
    expect(await latest()).toBe(first.image_id);
    expect((await put(app("named")))?.build).toEqual({ id: first.id });
  });

  test("an image that is named latest goes like any other that nothing needs", async () => {
    const made = await newBuild("gone", { args: { NUMBER: "5" }, latest: true });
    expect((await it.engine.inspectImage("shop-gone:latest"))?.id).toBe(made.image_id);
    await it.advance(2 * 3_600_000);
    expect(await ask("POST", "/prune")).toMatchObject({ status: 200 });
    expect(await it.engine.inspectImage("shop-gone:latest")).toBeUndefined();
    expect(await it.engine.inspectImage(made.image_id)).toBeUndefined();
  });
});

test("builds that a killed server left are failed at the next start", async () => {
  const [left] = it.store.builds.list({ scope: "shop", name: "web" }, 1);
  if (left === undefined) throw new Error("there is a build");
  await it.store.write((tx) => tx.builds.put({ ...left, id: "unfinished000", status: "building" }));
  await it.restart();
  await it.quiet();
  expect(it.store.builds.get("shop", "web", "unfinished000")).toMatchObject({
    status: "failed",
    error: expect.stringContaining("the server ended"),
  });
});
