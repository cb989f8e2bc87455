import { afterEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { Manifest } from "../../src/orchestration/api/manifest.ts";
import { readManifests } from "../../src/client/manifests/read.ts";
import { clientLimits } from "../../src/config/config.ts";
import { type World, world } from "../support/world.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

let it: World;
afterEach(() => it.close());

/** Read as the client reads it. */
async function example(name: string): Promise<Manifest[]> {
  const cwd = join(import.meta.dir, "../..");
  const { manifests } = await readManifests([`examples/${name}`], {
    cwd,
    stdin: async () => "",
    variables: {},
    limits: clientLimits,
  });
  return manifests as Manifest[];
}

test("examples/job is accepted and runs", async () => {
  it = await world();
  it.runtime.addImage("berth-demo/hello:1");
  await it.apply(await example("job"));
  await it.settle();
  const run = await it.controller.runJob({ kind: "job", name: "report" }, { wait: false, actor: "test" });
  await it.quiet();
  const container = await it.runtime.inspect(podRef(run.container));
  expect(container).toMatchObject({ state: "running", env: { CUSTOMER: "everybody" } });
  expect(container?.mounts).toMatchObject([{ destination: "/report.sh", rw: false }]);
});

test("examples/cron is accepted, knows its next run, and runs then", async () => {
  it = await world();
  it.runtime.addImage("berth-demo/hello:1");
  await it.apply(await example("cron"));
  await it.settle();
  const { status } = await it.describe("cronjob", "demo", "nightly");
  // 04:30 in Berlin, in winter.
  expect(status).toMatchObject({ phase: "ready", next_run: "2026-01-01T03:30:00.000Z" });
  await it.advance(3.5 * 3_600_000);
  expect(it.containers()).toHaveLength(1);
});
