import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { scopeWords } from "../../src/backups/restic/copy-group.ts";
import { backupLimits } from "../../src/config/backup-limits.ts";
import { executable } from "../support/executable.ts";
import { freePort } from "../support/ports.ts";
import { hasSystemd, type SystemdMachine, systemdMachine } from "../support/systemd-machine.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

const docker = process.env.BERTH_TEST_DOCKER_HOST ?? "";
const berth = "/usr/local/bin/berth";

describe.skipIf(!hasSystemd)("under systemd", () => {
  let machine: SystemdMachine;
  beforeAll(async () => {
    machine = await systemdMachine(docker);
    const off = ["addr", "identity-addr", "observability-addr", "ingress-https-addr"].flatMap((name) => [
      `--${name}`,
      "",
    ]);
    const own = ["--prefix", `bt${crypto.randomUUID().slice(0, 8)}`, "--docker-host", docker];
    const door = ["--ingress-http-addr", `127.0.0.1:${await freePort()}`];
    const installed = await machine.run(executable, "server", "install", ...own, ...off, ...door);
    expect({ exitCode: installed.exitCode, stderr: installed.stderr }).toEqual({ exitCode: 0, stderr: "" });
    await serving();
  });
  afterAll(() => machine?.close());

  const status = async () => JSON.parse((await machine.run(berth, "server", "status", "-o", "json")).stdout).data;
  const serving = () => waitFor("the ingress", async () => (await status()).ingress === "running");
  const proxyPid = async () => Number((await machine.run("cat", "/opt/berth/run/haproxy.pid")).stdout);
  const mainPid = async () =>
    (await machine.run("systemctl", "show", "-p", "MainPID", "--value", "berth.service")).stdout.trim();

  test("HAProxy is a service of its own, which a restart and a kill of the server leave alone", async () => {
    const before = await proxyPid();
    expect((await machine.run("cat", `/proc/${before}/cgroup`)).stdout).toContain("/berth-ingress.service");
    expect(await machine.run("systemctl", "restart", "berth.service")).toMatchObject({ exitCode: 0 });
    await serving();
    const server = await mainPid();
    await machine.run("systemctl", "kill", "-s", "KILL", "berth.service");
    await waitFor("another server", async () => !["0", server].includes(await mainPid()));
    await serving();
    expect(await proxyPid()).toBe(before);
  });

  test("HAProxy that was killed comes back in its own service", async () => {
    const before = await proxyPid();
    await machine.run("systemctl", "kill", "-s", "KILL", "berth-ingress.service");
    const after = await waitFor("another HAProxy", async () => {
      const pid = await proxyPid();
      return pid > 1 && pid !== before && pid;
    });
    await serving();
    expect((await machine.run("cat", `/proc/${after}/cgroup`)).stdout).toContain("/berth-ingress.service");
  });

  test("a copy stands in a scope of its own beside the services", async () => {
    const { exitCode, stdout } = await machine.run(...scopeWords(backupLimits), "cat", "/proc/self/cgroup");
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining("/system.slice/run-") });
  });

  test("an upgrade to what does not start goes back, and HAProxy runs on", async () => {
    const version = 'if [ "$1" = --version ]; then echo "berth 99.0.0 (commit: bad)"; exit; fi';
    const broken = "/opt/broken";
    const text = `#!/bin/sh\n${version}\nexit 1\n`;
    await machine.run("sh", "-c", 'printf %s "$2" >"$1"; chmod 755 "$1"', "sh", broken, text);
    const before = await proxyPid();
    const failed = await machine.run(berth, "server", "upgrade", "--executable", broken, "--wait", "2s");
    expect(failed.exitCode).toBe(1);
    expect(failed.stderr).toContain("99.0.0 (commit: bad) is not healthy: ");
    expect(failed.stderr).toContain(" runs again");
    expect(await status()).toMatchObject({ service: "active", ingress: "running", kept: [] });
    expect(await proxyPid()).toBe(before);
  });

  test("an uninstall ends both services", async () => {
    expect(await machine.run(berth, "server", "uninstall", "-y")).toMatchObject({ exitCode: 0, stderr: "" });
    const units = await machine.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "berth*");
    expect(units.stdout).toBe("");
    expect((await machine.run("pgrep", "-f", "/opt/berth/ingress/haproxy.cfg")).stdout).toBe("");
  });
});
