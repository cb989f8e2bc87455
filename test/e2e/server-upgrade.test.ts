import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, expect, setDefaultTimeout, test } from "bun:test";
import { version } from "../../package.json";
import { executable } from "../support/executable.ts";
import { type OwnReleases, releaseFile as file, startOwnReleases } from "../support/own-releases.ts";
import { freePort } from "../support/ports.ts";
import { serviceMachine, type ServiceMachine } from "../support/service-machine.ts";
import { visitors, type Visitors } from "../support/visitors.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(60_000);

const docker = process.env.BERTH_TEST_DOCKER_HOST ?? "";
const work = mkdtempSync(join(tmpdir(), "berth-upgrade."));
const later = "99.1.0";
const releases = join(work, "releases");

/** A berth that brings the database up to date, and ends soon after without having answered as itself. */
function broken(real: string): string {
  const path = join(work, "broken");
  const serve = `"${real}" "$@" & pid=$!; sleep 2; kill "$pid"; wait "$pid"; exit 1`;
  writeFileSync(
    path,
    `#!/bin/sh\nif [ "$1" = --version ]; then echo "berth 99.2.0 (commit: bad)"; exit; fi\n${serve}\n`,
    {
      mode: 0o755,
    },
  );
  return path;
}

let server: OwnReleases;
let url = "";
const releaseEnv = () => ({ BERTH_RELEASE_URL: url, BERTH_RELEASE_PUBLIC_KEY: server.key.publicFile });
beforeAll(async () => {
  server = await startOwnReleases(releases, later);
  url = server.url;
});
afterAll(async () => {
  await server?.stop();
  rmSync(work, { recursive: true, force: true });
});

let machine: ServiceMachine;
let root = "";
let prefix = "";
let port = 0;
let watching: Visitors | undefined;
beforeEach(async () => {
  root = mkdtempSync(join(work, "root."));
  prefix = `bt${crypto.randomUUID().slice(0, 8)}`;
  port = await freePort();
  const endpoint = `unix:${root}/run/berth.sock`;
  machine = await serviceMachine({ DOCKER_HOST: docker, BERTH_ENDPOINT: endpoint, ...releaseEnv() });
  // As an operator does with systemctl edit.
  const settings = {
    ...{ BERTH_ADDR: "", BERTH_IDENTITY_ADDR: "", BERTH_OBSERVABILITY_ADDR: "", BERTH_CALLBACK_PORT: "off" },
    ...{ BERTH_INGRESS_HTTP_ADDR: `127.0.0.1:${port}`, BERTH_INGRESS_HTTPS_ADDR: "" },
    ...{ DOCKER_HOST: docker, BERTH_PREFIX: prefix },
  };
  const lines = Object.entries(settings).map(([name, value]) => `Environment=${name}=${value}`);
  const folder = "/etc/systemd/system/berth.service.d";
  await machine.run(["sh", "-c", `mkdir -p ${folder}; printf '%s\\n' "$@" >${folder}/test.conf`, "sh", ...lines]);
});
afterEach(async () => {
  watching?.close();
  watching = undefined;
  await machine.close();
  const mine = ["--filter", `label=createdby=${prefix}`];
  await machine.outside([
    "sh",
    "-c",
    `docker ps -aq ${mine.join(" ")} | xargs -r docker rm -f; docker network rm ${prefix}0`,
  ]);
});

const berth = (...args: string[]) => machine.run(["/usr/local/bin/berth", ...args]);
const done = { exitCode: 0, stderr: "" };
const serverVersion = async () => JSON.parse((await berth("server", "status", "-o", "json")).stdout).data.running;

async function apply(name: string): Promise<void> {
  const command = [
    "sh",
    "-c",
    "mkdir -p /w; echo page >/w/index.html; echo slow >/w/slow; exec httpd -f -p 8080 -h /w",
  ];
  const probes = { readiness: { http_get: { path: "/", port: 8080 }, period: "200ms" } };
  const manifests = [
    { kind: "deployment", scope: "shop", name, spec: { image: "berth-fixture:1", command, probes, ports: ["8080"] } },
    { kind: "ingress", scope: "shop", name, spec: { host: `${name}.test` } },
  ];
  const path = join(work, `${name}.json`);
  writeFileSync(path, JSON.stringify(manifests));
  expect(await berth("apply", "-y", "-f", path)).toMatchObject({ exitCode: 0 });
}

const install = (number: string) =>
  machine.run(["sh", "-c", `curl -fsS ${url}/install.sh | sh -s -- --root ${root} --version ${number}`]);

test("install, deploy, upgrade, go back and uninstall, and no visitor notices", async () => {
  expect(await install(version)).toMatchObject(done);
  await apply("web");
  await waitFor(
    "the page",
    async () => (await fetch(`http://127.0.0.1:${port}/`, { headers: { host: "web.test" } })).ok,
  );
  watching = await visitors({ port, host: "web.test", perSecond: 100, sockets: 0 });

  const upgraded = await berth("server", "upgrade");
  expect(upgraded).toMatchObject(done);
  expect(upgraded.stdout).toContain("to go back: berth server rollback");
  expect(await serverVersion()).toStartWith(`${later} (commit: `);
  expect((await berth("server", "upgrade")).stdout).toContain("is the latest release; nothing was changed");
  await apply("later");

  const client = await machine.run([executable, "get", "-o", "json"]);
  expect(client.exitCode).toBe(0);
  expect(client.stderr).toContain(`this berth is ${version} and the server is ${later}: berth self-update`);

  const older = await berth("server", "upgrade", "--version", version);
  expect(older).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("berth server rollback") });
  const asked = await berth("server", "rollback");
  expect(asked.exitCode).toBe(5);
  expect(asked.stdout).toContain("lost: 2 × manifest.apply");
  expect(await berth("server", "rollback", "-y")).toMatchObject(done);
  expect(await serverVersion()).toStartWith(`${version} (commit: `);
  expect((await berth("describe", "deployment", "shop/web")).exitCode).toBe(0);
  expect((await berth("describe", "deployment", "shop/later")).exitCode).toBe(1);

  const seen = await watching.report();
  expect(seen.failed).toEqual([]);
  expect(seen.requests).toBeGreaterThan(100);
  expect(await berth("server", "uninstall", "-y")).toMatchObject(done);
});

test("a new server that is not healthy goes back by itself, with the state of before", async () => {
  expect(await install(version)).toMatchObject(done);
  await apply("web");
  const failed = await berth("server", "upgrade", "--executable", broken(join(releases, later, file)), "--wait", "4s");
  expect(failed.exitCode).toBe(1);
  expect(failed.stdout).toContain("the state is again as it was at");
  expect(failed.stderr).toContain(`99.2.0 (commit: bad) is not healthy`);
  expect(failed.stderr).toMatch(/; \S+ \(commit: \S+\) runs again/);
  expect(await serverVersion()).toStartWith(`${version} (commit: `);
  expect((await berth("describe", "deployment", "shop/web")).exitCode).toBe(0);
});

test("the installer that is run again upgrades, and refuses an older version before it changes anything", async () => {
  expect(await install(version)).toMatchObject(done);
  const upgraded = await install(later);
  expect(upgraded).toMatchObject({ ...done, stdout: expect.stringContaining("to go back: berth server rollback") });
  expect(await serverVersion()).toStartWith(`${later} (commit: `);
  await machine.run(["touch", "/etc/systemd/system/berth.service", "-d", "2001-01-01"]);
  const older = await install(version);
  expect(older).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is older than") });
  const changed = await machine.run(["stat", "-c", "%y", "/etc/systemd/system/berth.service"]);
  expect(changed.stdout).toStartWith("2001-01-01");
  expect(await serverVersion()).toStartWith(`${later} (commit: `);
});

test("a client updates itself; the executable of a server does not", async () => {
  const client = join(root, "berth");
  copyFileSync(executable, client);
  expect(await machine.run([client, "self-update"])).toMatchObject(done);
  expect((await machine.run([client, "--version"])).stdout).toStartWith(`berth ${later} (commit: `);
  const again = await machine.run([client, "self-update"]);
  expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining("nothing was changed") });
  expect(await machine.run([client, "self-update", "--version", "99.9.9"])).toMatchObject({ exitCode: 1 });
  const unsigned = await machine.run([client, "self-update"], { BERTH_RELEASE_PUBLIC_KEY: "" });
  expect(unsigned).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("was built without a release key") });
  writeFileSync(join(releases, "latest"), `${version}\n`);
  const older = await machine.run([client, "self-update"]);
  writeFileSync(join(releases, "latest"), `${later}\n`);
  expect(older).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("to go back, add --allow-older") });
  const named = await machine.run([client, "self-update", "--version", version]);
  expect(named).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("to go back, add --allow-older") });
  expect(await machine.run([client, "self-update", "--version", version, "--allow-older"])).toMatchObject(done);
  expect((await machine.run([client, "--version"])).stdout).toStartWith(`berth ${version} (commit: `);
  expect(readdirSync(root)).toEqual(["berth"]);
  expect(await machine.run([executable, "self-update"], { BERTH_RELEASE_URL: "" })).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining("set BERTH_RELEASE_URL"),
  });
  rmSync(client);
  expect(await install(version)).toMatchObject(done);
  const refused = await berth("self-update");
  expect(refused).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("berth server upgrade") });
});

test("what cannot be had changes nothing", async () => {
  const none = await machine.run([executable, "server", "upgrade"]);
  expect(none).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("no server that berth server install") });
  expect(await install(version)).toMatchObject(done);
  const missing = await berth("server", "upgrade", "--version", "99.9.9");
  expect(missing).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining(`${url}/99.9.9/SHA256SUMS: status 404`),
  });
  const odd = join(releases, "99.5.0");
  mkdirSync(odd);
  writeFileSync(join(odd, file), "cut off");
  const sums = `# berth 99.5.0\n${"0".repeat(64)}  ${file}\n`;
  writeFileSync(join(odd, "SHA256SUMS"), sums);
  const bare = await berth("server", "upgrade", "--version", "99.5.0");
  expect(bare).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("release 99.5.0 is not signed") });
  writeFileSync(join(odd, "SHA256SUMS.sig"), server.key.sign(sums));
  const cut = await berth("server", "upgrade", "--version", "99.5.0");
  expect(cut).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("does not match its sha256") });
  writeFileSync(join(work, "text"), "no program");
  const text = await berth("server", "upgrade", "--executable", join(work, "text"));
  expect(text).toMatchObject({ exitCode: 1, stderr: expect.stringContaining("is not a berth executable") });
  expect((await berth("server", "rollback", "-y")).stderr).toContain("no earlier executable is kept here");
  const left = await machine.run(["sh", "-c", "ls -A /usr/local/bin | grep berth"]);
  expect(left.stdout).toBe("berth\n");
  expect(await serverVersion()).toStartWith(version);
});
