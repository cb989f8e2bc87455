import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { examineForwarding } from "../../src/local/forwarding.ts";
import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

let berth: Rig;
beforeAll(async () => {
  berth = await rig();
});
afterAll(() => berth?.close(), 60_000);

const examine = () => examineForwarding(berth.dockerHost, `${berth.prefix}0`);

test("two pods that reach each other, one that is cut off from the other, and one alone", async () => {
  await berth.apply(deployment("net", "db", { command: ["httpd", "-f", "-p", "5432"] }));
  await berth.ready("deployment", "net", "db");
  expect(await examine()).toMatchObject({ state: "untested" });
  await berth.apply(deployment("net", "app"));
  await berth.ready("deployment", "net", "app");
  await waitFor("the port to listen", async () => (await examine()).state === "open");

  const inspect = (name: string, format: string) => berth.docker(["inspect", "--format", format, name]);
  const [db] = await berth.pods("net", "db");
  const [app] = await berth.pods("net", "app");
  const pid = inspect(db?.name ?? "", "{{.State.Pid}}");
  const source = inspect(app?.name ?? "", `{{(index .NetworkSettings.Networks "${berth.prefix}0").IPAddress}}`);
  // This machine gets through to the port, the other pod does not: what a firewall on the bridge does.
  const cut = Bun.spawnSync([
    "nsenter",
    `--net=/proc/${pid}/ns/net`,
    "iptables",
    "-I",
    "INPUT",
    "-s",
    source,
    "-j",
    "DROP",
  ]);
  expect(cut.stderr.toString()).toBe("");
  const found = await examine();
  expect(found).toMatchObject({ state: "blocked", bridge: expect.stringMatching(/^br-[0-9a-f]{12}$/) });
  expect(found.detail).toContain(`${app?.name} cannot reach ${db?.name}, port 5432, although this machine can`);
});
