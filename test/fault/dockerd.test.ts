import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Dockerd, docker, startDockerd } from "../support/dockerd.ts";
import { isAlive } from "../support/wait.ts";

/** The faults that other tests make use this daemon; these say that it does what they assume. */
let daemon: Dockerd;
beforeAll(async () => {
  daemon = await startDockerd();
}, 90_000);
afterAll(() => daemon.close(), 60_000);

const links = () => Bun.spawnSync(["ip", "-br", "link"]).stdout.toString();
const isRunning = () => docker(daemon.host, ["inspect", "-f", "{{.State.Running}}", "stays"]);

test("containers outlive a stop and a kill of the daemon", async () => {
  docker(daemon.host, ["network", "create", "net"]);
  docker(daemon.host, ["run", "-d", "--name", "stays", "--network", "net", "berth-fixture:1"]);
  const main = Number(docker(daemon.host, ["inspect", "-f", "{{.State.Pid}}", "stays"]));
  expect(isRunning()).toBe("true");
  for (const end of [daemon.stop, daemon.kill]) {
    await end();
    expect(isRunning()).toBe("");
    expect(isAlive(main)).toBe(true);
    await daemon.start();
    expect(isRunning()).toBe("true");
  }
}, 120_000);

test("a second one runs beside it, and leaves nothing behind", async () => {
  const hadDocker0 = links().includes("docker0 ");
  const second = await startDockerd();
  docker(second.host, ["network", "create", "net"]);
  docker(second.host, ["run", "-d", "--network", "net", "berth-fixture:1"]);
  expect(docker(second.host, ["ps", "-q"])).not.toBe("");
  const bridges = [`bt${second.dir.slice(-6)}`, `br-${docker(second.host, ["network", "ls", "-qf", "name=net"])}`];
  for (const bridge of bridges) expect(links()).toContain(`${bridge} `);
  await second.close();
  for (const bridge of bridges) expect(links()).not.toContain(`${bridge} `);
  expect(links().includes("docker0 ")).toBe(hadDocker0);
  expect(existsSync(second.dir)).toBe(false);
  expect(isAlive(second.pid)).toBe(false);
}, 120_000);
