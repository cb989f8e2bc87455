import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { operator } from "../../../../src/access/principal.ts";
import type { Spec } from "../../../../src/orchestration/api/manifest.ts";
import { parsePort } from "../../../../src/orchestration/core/ports.ts";
import { deployment, statefulset } from "../../../support/manifests.ts";
import { keyOf, type World, world } from "../../../support/world.ts";

/** What happens before a replica that runs is stopped for one that takes its place. */

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const key = keyOf("deployment", "shop", "web");
const recreate = { strategy: "recreate", progress_deadline: "60s" };
const app = (v: string, spec: Spec = {}, name = "web") =>
  deployment("shop", name, { replicas: 1, rollout: recreate, env: { V: v }, ...spec });
const running = (name = "web") =>
  it.runtime
    .containers()
    .filter((one) => one.name.startsWith(`shop-${name}.`) && one.state === "running")
    .map(({ env }) => env.V)
    .join("");
const status = () => it.status("deployment", "shop", "web");
const binding = (text: string) => {
  const port = parsePort(text);
  if (!port.ok) throw new Error(port.error);
  return port.value;
};

describe("a replica stays until what takes its place can be made", () => {
  beforeEach(async () => {
    await it.apply(app("1"));
    await it.settle();
  });

  test("when the new image cannot be had", async () => {
    await it.apply(app("2", { image: "nowhere:1" }));
    await it.advance(30_000);
    expect(running()).toBe("1");
    expect((await status()).last_reconcile_error).toContain("nowhere:1");
    await it.settle();
    expect([running(), it.store.manifests.get(key)?.spec.env]).toEqual(["1", { V: "1" }]);
  });

  test("when the image of a new init container cannot be had", async () => {
    await it.apply(app("2", { inits: [{ name: "migrate", image: "nowhere:1", command: ["x"] }] }));
    await it.advance(30_000);
    expect(running()).toBe("1");
  });

  test("when a program of the machine holds the new host port, and goes as soon as it is free", async () => {
    it.runtime.occupyPort(binding("127.0.0.1:8080:80"), true);
    await it.apply(app("2", { ports: ["8080:80"] }));
    await it.advance(10_000);
    expect(running()).toBe("1");
    const { last_reconcile_error: error, conditions } = await status();
    expect(error).toBe("host port 8080 is held by another program; what runs now stays until the port is free");
    expect(conditions.at(-1)).toMatchObject({ reason: "PortTaken" });
    it.runtime.occupyPort(binding("127.0.0.1:8080:80"), false);
    await it.settle();
    expect(running()).toBe("2");
  });

  test("when a container of somebody else holds the new host port", async () => {
    await it.apply(app("x", { ports: ["0.0.0.0:8080:80"] }, "other"));
    await it.settle();
    await it.apply(app("2", { ports: ["8080:80"] }));
    await it.advance(10_000);
    expect([running(), running("other")]).toEqual(["1", "x"]);
    expect((await status()).last_reconcile_error).toMatch(/^host port 8080 is held by container "shop-other\.\w{5}";/);
  });

  test("also where a rollback returns to a port that somebody else has taken", async () => {
    await it.apply(app("2", { ports: ["8080:80"] }));
    await it.settle();
    await it.apply(app("3", { ports: ["8081:80"] }));
    await it.settle();
    it.runtime.occupyPort(binding("127.0.0.1:8080:80"), true);
    await it.controller.rollback({ scope: "shop", name: "web", releaseId: undefined }, { actor: "ana", by: operator });
    await it.advance(10_000);
    expect(running()).toBe("3");
  });
});

test.each([true, false])("a recreate that crashes gives way to the old spec, auto_rollback %p", async (back) => {
  const rollout = { ...recreate, auto_rollback: back };
  await it.apply(app("1", { ports: ["8080:80"], rollout }));
  await it.settle();
  await it.apply(app("2", { ports: ["8080:80"], rollout }));
  for (let second = 0; second < 90; second++) {
    await it.advance(1_000);
    for (const { name, env, state } of it.runtime.containers()) {
      if (env.V === "2" && state === "running") it.runtime.crash(name, 1);
    }
  }
  await it.advance(30_000);
  expect(running()).toBe("1");
});

test("an ordinal of a statefulset stays until the image of the new one is there", async () => {
  const db = (v: string, image?: string) =>
    statefulset("shop", "db", { replicas: 2, env: { V: v }, ...(image === undefined ? {} : { image }) });
  await it.apply(db("1"));
  await it.settle();
  await it.apply(db("2", "nowhere:1"));
  await it.advance(30_000);
  expect(running("db")).toBe("11");
});

test("a replica that keeps its host port is replaced, and its own container is no obstacle", async () => {
  await it.apply(app("1", { ports: ["8080:80"] }));
  await it.settle();
  await it.apply(app("2", { ports: ["0.0.0.0:8080:80"] }));
  await it.settle();
  expect(running()).toBe("2");
});

test("two resources change places", async () => {
  const pair = (a: string, b: string, v: string) => [
    app(v, { ports: [`${a}:80`] }, "web"),
    app(v, { ports: [`${b}:80`] }, "other"),
  ];
  await it.apply(pair("8080", "8081", "1"));
  await it.settle();
  await it.apply(pair("8081", "8080", "2"));
  await it.settle();
  expect([running("web"), running("other")]).toEqual(["2", "2"]);
});

describe("a plan tells who holds a host port", () => {
  const notes = async (...body: ReturnType<typeof app>[]) =>
    (await it.apply(body, { dryRun: true })).plan?.flatMap((row) => row.notes.filter((note) => note.includes("port ")));

  test("a program of the machine", async () => {
    it.runtime.occupyPort(binding("127.0.0.1:8080:80"), true);
    const note = "host port 8080 is held by another program; until it is free no new replica starts";
    expect(await notes(app("1", { ports: ["8080:80"] }))).toContain(note);
    const { warnings } = await it.apply(app("1", { ports: ["8080:80"] }));
    expect(warnings).toEqual([`deployment/shop/web: ${note}`]);
  });

  test("a container, or a manifest that has none yet, also of the same apply", async () => {
    await it.apply(app("1", { ports: ["8080:80"] }, "other"));
    await it.settle();
    const held = (text: string) => expect.stringMatching(new RegExp(`^host port 8080 is ${text}; until it is free`));
    expect(await notes(app("1", { ports: ["8080:80"] }))).toContainEqual(held('held by container "shop-other.*"'));
    expect(await notes(app("1", { ports: ["8081:80"] }), app("1", { ports: ["8081:80"] }, "third"))).toHaveLength(4);
  });

  test("nobody, where the port is its own, or its holder lets go of it in the same apply", async () => {
    await it.apply([app("1", { ports: ["8080:80"] }), app("1", { ports: ["8081:80"] }, "other")]);
    await it.settle();
    const isClash = (note: string) => note.includes("until it is free");
    expect((await notes(app("2", { ports: ["8080:80"] })))?.filter(isClash)).toEqual([]);
    const swapped = [app("2", { ports: ["8081:80"] }), app("2", { ports: ["8080:80"] }, "other")];
    expect((await notes(...swapped))?.filter(isClash)).toEqual([]);
  });
});
