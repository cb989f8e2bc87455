import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import type { DiskUse, PrunePlan } from "../../src/orchestration/api/disk.ts";
import { deployment, fixtureImage, statefulset } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

/** The executable with a real Docker. */
let berth: Rig;

beforeAll(async () => {
  berth = await rig();
  const fill = ["sh", "-c", "head -c 2000000 /dev/urandom >/data/file; echo filled; exec sleep 1000"];
  const claims = [{ name: "data", mount_path: "/data" }];
  await berth.apply(statefulset("shop", "db", { command: fill, volume_claims: claims }));
  await berth.ready("statefulset", "shop", "db");
});

afterAll(() => berth?.close());

async function asked<T>(...words: string[]): Promise<T> {
  const { stdout, stderr } = await berth.cli([...words, "-o", "json"]);
  if (stdout === "") throw new Error(stderr);
  return (JSON.parse(stdout) as { data: T }).data;
}

test("disk measures what Docker and the server keep, and whose each volume is", async () => {
  const { engine, stores, volumes } = await asked<DiskUse>("disk");
  expect(engine?.images.used_bytes).toBeGreaterThan(100_000);
  expect(engine?.containers.count).toBeGreaterThan(0);
  expect(stores.find(({ name }) => name === "platform database")?.bytes).toBeGreaterThan(0);
  const volume = volumes.find(({ scope, name }) => scope === "shop" && name === "db");
  expect(volume?.state).toBe("used");
  expect(volume?.bytes).toBeGreaterThanOrEqual(2_000_000);
  expect((await berth.cli(["disk", "--volumes"])).stdout).toContain("shop/db");
});

test("prune shows what goes, removes only that, and the app still runs", async () => {
  const plan = await asked<PrunePlan>("prune", "--dry-run");
  const before = await berth.pods("shop", "db");
  const { exitCode } = await berth.cli(["prune", "-y"]);
  expect(exitCode).toBe(0);
  expect((await asked<PrunePlan>("prune", "--dry-run")).images.length).toBeLessThanOrEqual(plan.images.length);
  expect((await berth.pods("shop", "db")).map(({ name }) => name)).toEqual(before.map(({ name }) => name));
  expect((await asked<DiskUse>("disk")).volumes.length).toBeGreaterThan(0);
});

test("an app keeps its image over docker image prune and a tag that moved, and a rollback never runs another image", async () => {
  const ref = `${berth.prefix}-app:1`;
  const build = (version: string): string => {
    const name = `${berth.prefix}-base-${version}`;
    berth.docker(["create", "--name", name, fixtureImage]);
    const id = berth.docker(["commit", "--change", `LABEL version=${version}`, name, ref]).trim();
    berth.docker(["rm", name]);
    return id;
  };
  const app = (spec: object) => deployment("shop", "web", { image: ref, ...spec });
  const runsOn = async () => (await berth.pods("shop", "web")).map(({ name }) => imageOf(name));
  const imageOf = (name: string) => berth.docker(["inspect", "--format", "{{.Image}}", name]).trim();
  const first = build("one");
  await berth.apply(app({}));
  await berth.ready("deployment", "shop", "web");
  expect((await berth.cli(["scale", "shop/web", "0"])).exitCode).toBe(0);
  await waitFor("no pods", async () => (await berth.pods("shop", "web")).length === 0);
  const second = build("two");
  berth.docker(["image", "prune", "-f"]);
  expect((await berth.cli(["scale", "shop/web", "1"])).exitCode).toBe(0);
  await berth.ready("deployment", "shop", "web");
  expect(await runsOn()).toEqual([first]);
  expect((await berth.cli(["get", "pods"])).stdout).not.toContain("-kept");

  await berth.apply(app({ env: { A: "1" } }));
  await berth.ready("deployment", "shop", "web");
  await waitFor("the second image", async () => (await runsOn()).join() === second);
  berth.docker(["image", "rm", "-f", first]);
  const refused = await berth.cli(["rollback", "shop/web"]);
  expect([refused.exitCode === 0, refused.stderr.includes(first)]).toEqual([false, true]);
  expect(await runsOn()).toEqual([second]);
});
