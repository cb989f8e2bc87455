import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Spec } from "../../src/orchestration/api/manifest.ts";
import { type Dockerd, startDockerd } from "../support/dockerd.ts";
import { freePort } from "../support/ports.ts";
import { type Rig, rig } from "../support/rig.ts";
import { type Visitors, visitors } from "../support/visitors.ts";
import { waitFor } from "../support/wait.ts";
import { importBun, webApp } from "../support/web-app-image.ts";

setDefaultTimeout(300_000);

/** The folder of the proxy's files is a disk of its own, which can be full while the rest of the server has room. */
const root = mkdtempSync(join(tmpdir(), "berth-outage."));
const folder = join(root, "ingress");
const filler = join(folder, "filler");

let docker: Dockerd;
let it: Rig;
let all: Visitors;
let port: number;

const app = (text: string, spec: Spec = {}) => ({
  kind: "deployment",
  scope: "shop",
  name: "web",
  spec: webApp(text, { replicas: 1, rollout: { drain: "1s", progress_deadline: "15s" }, ...spec }),
});

beforeAll(async () => {
  docker = await startDockerd();
  await importBun(docker.host);
  mkdirSync(folder);
  run(["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]);
  port = await freePort();
  const flags = ["--ingress-http-addr", `127.0.0.1:${port}`, "--ingress-https-addr", ""];
  it = await rig({ root, flags, dockerHost: docker.host });
  await it.apply({ kind: "ingress", scope: "shop", name: "web", spec: { host: "shop.test" } });
  await it.apply(app("page 1"));
  await served("page 1");
  all = await visitors({ port, host: "shop.test", perSecond: 50, sockets: 0 });
});

afterAll(async () => {
  all?.close();
  await it?.stop();
  run(["umount", "-l", folder]);
  await it?.close();
  await docker?.close();
});

const page = () =>
  fetch(`http://127.0.0.1:${port}/`, { headers: { host: "shop.test" }, keepalive: false }).then(
    (answer) => answer.text(),
    () => "",
  );
const served = (text: string, ms = 60_000) =>
  waitFor(`${text} to be served`, async () => (await page()).includes(text), ms);

interface Release {
  status: string;
  cause: string;
  error?: string;
}

async function releases(): Promise<Release[]> {
  const { body } = await it.call("GET", "/releases?scope=shop&name=web");
  return (body.data as unknown as { releases: Release[] }).releases;
}

const ended = (status: string, ms: number) =>
  waitFor(`a release that ${status}`, async () => (await releases()).find((one) => one.status === status), ms);

async function nobodyFailed(): Promise<void> {
  const { requests, failed } = await all.report();
  expect(failed).toEqual([]);
  expect(requests).toBeGreaterThan(0);
}

test("without room for its files, the proxy leads to the new replica, and writes them once there is room", async () => {
  fill();
  const { exitCode, stdout } = await it.cli(["apply", "-y", "-f", "-"], { stdin: JSON.stringify(app("page 2")) });
  expect({ exitCode, stdout: exitCode === 0 ? "" : stdout }).toEqual({ exitCode: 0, stdout: "" });
  expect(await page()).toContain("page 2");
  await nobodyFailed();

  const before = readFileSync(join(folder, "haproxy.cfg"), "utf8");
  rmSync(filler);
  await waitFor("the new files", () => readFileSync(join(folder, "haproxy.cfg"), "utf8") !== before);
  await waitFor("the state", () => readdirSync(folder).includes("state.json"));
  await nobodyFailed();
});

test("a proxy that cannot be told of the new replica keeps the old one, and the release fails with the cause", async () => {
  fill();
  await all.report();
  const socket = hideSocket();
  await it.apply(app("page 3"));
  const failed = await ended("failed", 60_000);
  expect(failed.error).toMatch(/progress deadline of 15 s: .* the ingress leads to it and takes no change over: /);
  expect(await page()).toContain("page 2");
  await nobodyFailed();
  const status = await it.cli(["ingress", "status"]);
  expect(status.stdout).toContain("failing");

  rmSync(filler);
  socket.putBack();
  await waitFor(
    "the ingress to be well",
    async () => !(await it.cli(["ingress", "status"])).stdout.includes("failing"),
    8_000,
  );
  await it.apply(app("page 4"));
  await served("page 4");
  await nobodyFailed();
});

test("a proxy that is gone and does not start again keeps the old replica, and leads on once it can", async () => {
  const pid = readFileSync(join(root, "run/haproxy.pid"), "utf8").trim();
  const taking = taker();
  process.kill(Number(pid), "SIGKILL");
  const server = await taking;
  await it.apply(app("page 5"));
  await waitFor("a trouble", async () => (await releases())[0]?.status === "running");
  await Bun.sleep(6_000);
  expect((await releases())[0]?.status).toBe("running");
  const why = await it.cli(["why", "shop/web"]);
  expect(why.stdout).toMatch(/ingress/);
  server.close();
  await served("page 5");
  await ended("succeeded", 60_000);
});

/** Takes the port of the proxy as soon as it is free. */
async function taker(): Promise<Server> {
  for (;;) {
    const server = createServer((socket) => socket.destroy());
    const isTaken = await new Promise<boolean>((resolve) => {
      server.once("error", () => resolve(false));
      server.listen(port, "127.0.0.1", () => resolve(true));
    });
    if (isTaken) return server;
    await Bun.sleep(5);
  }
}

/** Its name goes, and the proxy listens on where nobody can find it. */
function hideSocket(): { putBack(): void } {
  const at = join(root, "run/haproxy.sock");
  run(["mv", at, `${at}.hidden`]);
  return { putBack: () => run(["sh", "-c", `test -e ${at} || mv ${at}.hidden ${at}`]) };
}

/** To the last byte, also of room that is freed while it is filled. */
function fill(): void {
  run(["sh", "-c", `cat /dev/zero >${filler} 2>/dev/null; true`]);
}

function run(command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command, { stderr: "pipe" });
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr}`);
}
