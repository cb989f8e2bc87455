import { afterEach, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { deployment, statefulset } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(90_000);

let berth: Rig;
beforeEach(async () => {
  berth = await rig();
});
afterEach(() => berth?.close());

const program = {
  docker_options: ["--user=1000:1000"],
  command: ["sh", "-c", "echo text >/data/file || exit 1; exec sleep 600"],
};

test("a program that is not root fails with a hint, and runs once the volume is its own", async () => {
  const spec = { ...program, volumes: ["data:/data"] };
  await berth.apply(deployment("shop", "web", spec));
  const hint = "the program runs as 1000:1000; the volume at /data belongs to 0:0 and is empty";
  const told = await waitFor("why to show the hint", async () => {
    const { stdout } = await berth.cli(["why", "shop/web"]);
    return stdout.includes(hint) ? stdout : undefined;
  });
  expect(told).toContain('Set volume_owner: "1000:1000" in the manifest');
  // Not at once: between two restarts the program runs for a moment.
  await berth.tells("shop/web", hint);
  await berth.apply(deployment("shop", "web", { ...spec, volume_owner: "1000:1000" }));
  await berth.ready("deployment", "shop", "web");
});

test("each ordinal of a statefulset gets a volume of its own owner", async () => {
  const volume_claims = [{ name: "data", mount_path: "/data" }];
  await berth.apply(statefulset("shop", "db", { ...program, replicas: 2, volume_claims, volume_owner: "1000:1000" }));
  await berth.ready("statefulset", "shop", "db");
  const pods = await berth.pods("shop", "db");
  const owners = pods.map(({ name }) => berth.docker(["exec", name, "sh", "-c", "stat -c %u:%g /data"]).trim());
  expect(owners).toEqual(["1000:1000", "1000:1000"]);
});
