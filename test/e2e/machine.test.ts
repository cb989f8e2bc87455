import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { capabilities } from "../../src/orchestration/core/capabilities.ts";
import { deployment, fixtureImage } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

let berth: Rig;
beforeAll(async () => {
  berth = await rig();
  await waitFor("the engine to be reached", async () => (await berth.call("GET", "/pods")).status === 200);
});
afterAll(() => berth?.close());

const longest = "a".repeat(131_071);

/** Docker 20.10 does not know the newest, and machines that are containers themselves withhold some. */
const elsewhere = ["ALL", "BPF", "PERFMON", "CHECKPOINT_RESTORE", "SYS_RESOURCE"];

test("the capabilities, and the longest argument and variable that are accepted, can be run with", async () => {
  const spec = {
    cap_add: capabilities.filter((name) => !elsewhere.includes(name)),
    command: ["sh", "-c", "sleep 100000", longest],
    env: { A: longest.slice(2) },
  };
  expect((await berth.apply(deployment("shop", "web", spec))).body.error).toBeUndefined();
  await berth.ready("deployment", "shop", "web");
});

test("what the engine would refuse is refused before anything is stored", async () => {
  const cpus = Number(berth.docker(["info", "--format", "{{.NCPU}}"]));
  const refusals: [object, string][] = [
    [{ command: ["sh", "-c", "sleep 1", `${longest}a`] }, "spec.command[3]: is 131072 bytes long"],
    [{ env: { A: longest.slice(1) } }, "spec.env.A: is 131072 bytes long"],
    [{ cap_add: ["NET_ADMN"] }, 'spec.cap_add[0]: "NET_ADMN" is not a capability of Linux; did you mean "NET_ADMIN"'],
    [{ resources: { limits: { cpu: `${cpus + 1}` } } }, `is more than the ${cpus} CPUs of this machine`],
  ];
  for (const [spec, text] of refusals) {
    const { status, body } = await berth.apply(deployment("shop", "wrong", { ...spec }));
    expect({ status, error: body.error }).toEqual({ status: 400, error: expect.stringContaining(text) });
  }
});

test("an entrypoint runs with the command behind it, and an init with an image of its own keeps its own", async () => {
  const inits = [{ name: "own", image: fixtureImage, command: ["sh", "-c", "test $0 = sh"] }];
  const spec = { entrypoint: ["sh", "-c"], command: ["echo started as $0; sleep 100000", "me"], inits };
  expect((await berth.apply(deployment("shop", "entry", spec))).body.error).toBeUndefined();
  await berth.ready("deployment", "shop", "entry");
  const { stdout } = await berth.cli(["logs", "shop/entry"]);
  expect(stdout).toContain("started as me\n");
  await berth.apply(deployment("shop", "web", { command: ["sh", "-c", "echo as before; sleep 100000"] }));
  await waitFor("the command alone to run", async () => {
    return (await berth.cli(["logs", "shop/web"])).stdout.includes("as before");
  });
});
