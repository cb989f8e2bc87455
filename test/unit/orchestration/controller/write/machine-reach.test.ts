import { afterEach, beforeEach, expect, test } from "bun:test";
import type { Manifest } from "../../../../../src/orchestration/api/manifest.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { deployment, fixtureImage } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";

let it: World;
beforeEach(async () => {
  it = await world();
});
afterEach(() => it.close());

const options = { dryRun: false, prune: false, actor: "pat:Ab3dEf" };
const confined = (body: Manifest | Manifest[]) => it.controller.apply(body, { ...options, confined: true });
const job = (spec: object): Manifest => ({
  kind: "job",
  scope: "shop",
  name: "tidy",
  spec: { image: fixtureImage, ...spec },
});

const reaching: [string, Manifest][] = [
  ["a folder of the machine", deployment("shop", "web", { volumes: ["/:/host"] })],
  ["the network of the machine", deployment("shop", "web", { network_mode: "host" })],
  ["a capability", deployment("shop", "web", { cap_add: ["SYS_ADMIN"] })],
  ["an option of the engine", deployment("shop", "web", { docker_options: ["--privileged"] })],
  ["a folder of the machine in a job", job({ volumes: ["/etc:/host"] })],
  ["an app that becomes such a deployment", { ...deployment("shop", "web", { volumes: ["/:/host"] }), kind: "app" }],
  [
    "a file that the server would fetch",
    {
      kind: "asset",
      scope: "shop",
      name: "page",
      spec: { files: { a: { _source: "url", url: "http://127.0.0.1/config" } } },
    },
  ],
];

test.each(reaching)("a confined apply refuses %s and stores nothing", async (_, manifest) => {
  for (const dryRun of [true, false]) {
    const error = await expectFailure(
      it.controller.apply([deployment("shop", "other"), manifest], { ...options, dryRun, confined: true }),
      "forbidden",
    );
    expect(error.message).toContain("which takes the scope admin");
  }
  expect(it.store.manifests.heads()).toEqual([]);
});

test("it may change everything else, and named volumes of its scope", async () => {
  await confined(deployment("shop", "web", { volumes: ["data:/data"], env: { A: "1" } }));
  expect(it.store.manifests.heads()).toHaveLength(1);
});

test("what is stored already may stay; more of it may not come", async () => {
  const spec = { volumes: ["/srv/web:/data"] };
  await it.apply(deployment("shop", "web", spec));
  await confined(deployment("shop", "web", { ...spec, env: { A: "2" } }));
  await expectFailure(confined(deployment("shop", "web", { volumes: ["/srv/web:/data", "/etc:/etc"] })), "forbidden");
  await expectFailure(confined(deployment("shop", "twin", spec)), "forbidden");
});
