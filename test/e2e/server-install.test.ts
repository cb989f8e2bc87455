import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach, expect, test } from "bun:test";
import { routeCommand } from "../../src/local/stray-routes.ts";
import { executable } from "../support/executable.ts";
import { freePort } from "../support/ports.ts";
import { serviceMachine, type ServiceMachine } from "../support/service-machine.ts";
import { waitFor } from "../support/wait.ts";

const docker = process.env.BERTH_TEST_DOCKER_HOST ?? "";
const work = mkdtempSync(join(tmpdir(), "berth-server."));
afterAll(() => rmSync(work, { recursive: true, force: true }));

let machine: ServiceMachine;
let root = "";
let prefix = "";
let port = 0;
let endpoint = "";
beforeEach(async () => {
  root = mkdtempSync(join(work, "root."));
  prefix = `bt${crypto.randomUUID().slice(0, 8)}`;
  port = await freePort();
  endpoint = `unix:${root}/run/berth.sock`;
  machine = await serviceMachine({ DOCKER_HOST: docker, BERTH_ENDPOINT: endpoint });
});
afterEach(() => machine.close());

const berth = (...args: string[]) => machine.run(["/usr/local/bin/berth", ...args]);

function install() {
  const off = ["addr", "identity-addr", "observability-addr", "ingress-https-addr"].flatMap((name) => [
    `--${name}`,
    "",
  ]);
  const own = ["--root", root, "--prefix", prefix, "--docker-host", docker, "--ingress-http-addr", `127.0.0.1:${port}`];
  return machine.run([executable, "server", "install", ...own, ...off]);
}

const proxyPid = () => Number(readFileSync(join(root, "run/haproxy.pid"), "utf8"));
const commandOf = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");

test("a machine gets a server and a HAProxy of their own services, and loses both again with its state kept", async () => {
  const installed = await install();
  expect({ exitCode: installed.exitCode, stderr: installed.stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(installed.stdout).toContain("berth is running");
  const group = await machine.run(["getent", "group", prefix]);
  expect(group.stdout).toStartWith(`${prefix}:`);

  // HAProxy is started as its own service, and a restart of the server does not touch it.
  await waitFor("HAProxy", () => proxyPid() > 1);
  expect(machine.calls()).toContain("restart berth-ingress.service");
  const before = proxyPid();
  const again = await machine.run([executable, "server", "install"]);
  expect({ exitCode: again.exitCode, stderr: again.stderr }).toEqual({ exitCode: 0, stderr: "" });
  expect(proxyPid()).toBe(before);
  expect(commandOf(before)).toContain(`-f ${root}/ingress/haproxy.cfg`);

  const status = await berth("server", "status", "-o", "json");
  expect(JSON.parse(status.stdout).data).toMatchObject({
    ...{ root, service: "active", ingress_service: "active", ingress: "running" },
    running: expect.stringContaining("(commit: "),
  });
  const other = await machine.run([executable, "server", "install", "--root", join(work, "another")]);
  expect(other).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`has its state in ${root}`) });

  expect(await berth("server", "uninstall")).toMatchObject({ exitCode: 5, stderr: expect.stringContaining("add -y") });
  // As the server leaves it where the platform's network was.
  const [subnet, routes] = ["198.19.7.0/24", join(root, "run/subnets.json")];
  await machine.run(["sh", "-c", `echo '[{"subnet":"${subnet}"}]' >${routes}`]);
  await machine.run(routeCommand("replace", subnet));
  expect((await machine.run(["ip", "route"])).stdout).toContain(`unreachable ${subnet}`);
  const gone = await berth("server", "uninstall", "-y");
  expect((await machine.run(["ip", "route"])).stdout).not.toContain(subnet);
  expect(gone).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`its state is still in ${root}`) });
  const left = await machine.run(["sh", "-c", `ls /etc/systemd/system /usr/local/bin | grep -c berth; ls ${root}`]);
  expect(left.stdout).toStartWith("0\n");
  expect(left.stdout).toContain("state.db");
  const isOver = () => !existsSync(`/proc/${before}`) || !commandOf(before).includes("haproxy");
  await waitFor("the end of HAProxy", isOver);
});

test("a purge asks for the data too, and leaves nothing", async () => {
  expect((await install()).exitCode).toBe(0);
  expect(await berth("server", "uninstall", "--purge")).toMatchObject({
    exitCode: 5,
    stderr: expect.stringContaining(`volumes with their data, and all state in ${root}`),
  });
  expect((await berth("server", "status")).exitCode).toBe(0);
  expect(await berth("server", "uninstall", "--purge", "-y")).toMatchObject({ exitCode: 0, stderr: "" });
  expect((await machine.run(["ls", root])).exitCode).toBe(2);
  expect((await machine.run(["getent", "group", prefix])).exitCode).toBe(2);
});

test("a flag that the server would refuse changes nothing", async () => {
  const wrong = await machine.run([executable, "server", "install", "--root", root, "--prefix", "NOT A PREFIX"]);
  expect(wrong).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('prefix "NOT A PREFIX"') });
  expect((await machine.run(["test", "-e", "/usr/local/bin/berth"])).exitCode).toBe(1);
});

test("the help of the executable fits a terminal", async () => {
  const { stdout } = await machine.run([executable, "server", "--help"]);
  expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
});

test("without systemd nothing is changed, and the command to run is named", async () => {
  await machine.run(["rmdir", "/run/systemd/system"]);
  const refused = await install();
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toContain(`/usr/local/bin/berth serve --root ${root}`);
  expect((await machine.run(["test", "-e", "/usr/local/bin/berth"])).exitCode).toBe(1);
});
