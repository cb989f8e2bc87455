import { afterEach, beforeEach, expect, test } from "bun:test";
import { deployment } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";
import { podRef } from "../../../../../src/orchestration/engine/identity.ts";

let it: World;
beforeEach(async () => {
  it = await world();
  await it.apply(deployment("shop", "web"));
  await it.settle();
});
afterEach(() => it.close());

async function addressOf(name: string): Promise<string> {
  return (await it.runtime.inspect(podRef(name)))?.networks.berth0?.ipAddress ?? "";
}

test("a container is known by its address while it runs, and nobody else is", async () => {
  const [name = ""] = it.containers();
  const address = await addressOf(name);
  const found = await it.running.senders.at(address);
  expect(found).toMatchObject({ key: { kind: "deployment", scope: "shop", name: "web" }, pod: name, role: undefined });
  expect(name).toEndWith(`.${found?.replicaId}`);
  for (const stranger of ["", "127.0.0.1", "203.0.113.9"])
    expect([stranger, await it.running.senders.at(stranger)]).toEqual([stranger, undefined]);
  await it.controller.deleteManifest({ kind: "deployment", scope: "shop", name: "web" }, { prune: false, actor: "t" });
  await it.quiet();
  await it.advance(15_000);
  expect(it.containers()).toEqual([]);
  expect(await it.running.senders.at(address)).toBeUndefined();
});

test("a stranger who knocks again and again costs one listing a second", async () => {
  let listings = 0;
  const counted = await world({
    wrapRuntime: (runtime) => ({
      ...runtime,
      observe(...given) {
        listings += 1;
        return runtime.observe(...given);
      },
    }),
  });
  await counted.settle();
  listings = 0;
  for (let knock = 0; knock < 20; knock++) await counted.running.senders.at("203.0.113.9");
  expect(listings).toBe(1);
  await counted.advance(1);
  // Others wait for the next one, and share it.
  const knocks = Array.from({ length: 2_000 }, (_, at) => counted.running.senders.at(`203.0.${at >> 8}.${at & 255}`));
  await counted.advance(1_000);
  expect(await Promise.all(knocks)).toEqual(knocks.map(() => undefined));
  expect(listings).toBe(2);
  await counted.close();
});

test("whether a container is listened to is what its manifest says now", async () => {
  const [name = ""] = it.containers();
  expect(await it.running.senders.at(await addressOf(name))).toMatchObject({ wantsTelemetry: false });
  const plain = deployment("shop", "web");
  await it.apply({ ...plain, spec: { ...plain.spec, telemetry: true } });
  await it.settle();
  const [next = ""] = it.containers();
  expect(await it.running.senders.at(await addressOf(next))).toMatchObject({ wantsTelemetry: true });
});
