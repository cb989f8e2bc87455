import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { version } from "../../package.json";
import { type OwnReleases, startOwnReleases } from "../support/own-releases.ts";
import { freePort } from "../support/ports.ts";
import { serviceMachine, type ServiceMachine } from "../support/service-machine.ts";
import { visitors } from "../support/visitors.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

const docker = process.env.BERTH_TEST_DOCKER_HOST ?? "";
const work = mkdtempSync(join(tmpdir(), "berth-clean."));
const root = join(work, "opt");
const prefix = `bt${crypto.randomUUID().slice(0, 8)}`;
const later = "99.1.0";
const fixtures = join(import.meta.dir, "../../.cache/fixtures");

/** Debian's smallest programs and a shell; it was made for the tests of plugins. */
function debian(): string {
  const name = existsSync(fixtures) ? readdirSync(fixtures).find((one) => /^redis-\d+\.tar$/.test(one)) : undefined;
  if (name === undefined) throw new Error("no Debian fixture: run this through test/run, which makes the Redis image");
  return join(fixtures, name);
}

let server: OwnReleases;
let machine: ServiceMachine;
let port = 0;
beforeAll(async () => {
  server = await startOwnReleases(join(work, "releases"), later);
  port = await freePort();
  mkdirSync(root);
  const env = {
    DOCKER_HOST: docker,
    BERTH_RELEASE_URL: server.url,
    BERTH_RELEASE_PUBLIC_KEY: server.key.publicFile,
    BERTH_ENDPOINT: `unix:${root}/run/berth.sock`,
    PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    HOME: "/root",
  };
  // What the script names as needed, and nothing else of this machine.
  const programs = ["curl", "haproxy", "docker", "ssh-keygen"].map((name) => Bun.which(name) ?? `no ${name} here`);
  const seen = [work, dirname(docker.replace("unix://", ""))];
  machine = await serviceMachine(env, { tar: debian(), programs, seen });
  const settings = {
    ...{ BERTH_ADDR: "", BERTH_IDENTITY_ADDR: "", BERTH_OBSERVABILITY_ADDR: "", BERTH_CALLBACK_PORT: "off" },
    ...{ BERTH_INGRESS_HTTP_ADDR: `127.0.0.1:${port}`, BERTH_INGRESS_HTTPS_ADDR: "" },
    ...{ DOCKER_HOST: docker, BERTH_PREFIX: prefix },
  };
  const lines = Object.entries(settings).map(([name, value]) => `Environment=${name}=${value}`);
  const folder = "/etc/systemd/system/berth.service.d";
  await machine.run(["sh", "-c", `mkdir -p ${folder}; printf '%s\\n' "$@" >${folder}/test.conf`, "sh", ...lines]);
});
afterAll(async () => {
  await machine?.close();
  await server?.stop();
  const mine = `label=createdby=${prefix}`;
  Bun.spawnSync(["sh", "-c", `docker ps -aq --filter ${mine} | xargs -r docker rm -f; docker network rm ${prefix}0`], {
    env: { ...process.env, DOCKER_HOST: docker },
    stdout: "ignore",
    stderr: "ignore",
  });
  rmSync(work, { recursive: true, force: true });
});

const berth = (...args: string[]) => machine.run(["berth", ...args]);
const done = { exitCode: 0, stderr: "" };
const page = () => fetch(`http://127.0.0.1:${port}/`, { headers: { host: "web.test" } });

test("the machine has nothing of this one", async () => {
  const found = await machine.run([
    "sh",
    "-c",
    "command -v bun node python3 git ssh systemd-run tar; ls /opt; test -e /home && echo home",
  ]);
  expect(found.stdout).toBe("");
});

test("from curl to an app with config, an upgrade and a way back under requests, and nothing left at the end", async () => {
  const script = `curl -fsS ${server.url}/install.sh | sh -s -- --root ${root} --version ${version}`;
  expect(await machine.run(["sh", "-c", script])).toMatchObject(done);

  const command = [
    "sh",
    "-c",
    'mkdir -p /w; echo "$GREETING" | tee /w/index.html >/w/slow; exec httpd -f -p 8080 -h /w',
  ];
  const probes = { readiness: { http_get: { path: "/", port: 8080 } } };
  const spec = { image: "berth-fixture:1", command, probes, ports: ["8080"], host: "web.test", stop_grace: "2s" };
  writeFileSync(join(work, "web.json"), JSON.stringify({ kind: "app", scope: "shop", name: "web", spec }));
  writeFileSync(join(work, "web.env"), "GREETING=hello\n");
  expect(await berth("env", "push", "shop/web", join(work, "web.env"), "-y")).toMatchObject({ exitCode: 0 });
  expect(await berth("apply", "-y", "-f", join(work, "web.json"))).toMatchObject({ exitCode: 0 });
  await waitFor("the page", async () => (await (await page()).text()) === "hello\n");

  const watching = await visitors({ port, host: "web.test", perSecond: 50, sockets: 0 });
  try {
    expect(await berth("server", "upgrade")).toMatchObject(done);
    expect((await berth("version")).stdout).toContain(later);
    expect(await berth("config", "set", "shop/web", "GREETING=later", "--no-restart")).toMatchObject({ exitCode: 0 });
    expect(await berth("server", "rollback", "-y")).toMatchObject(done);
    expect((await berth("config", "get", "shop/web", "GREETING")).stdout).toBe("hello\n");
    const { failed, requests } = await watching.report();
    expect([failed, requests > 50]).toEqual([[], true]);
  } finally {
    watching.close();
  }

  expect(await berth("server", "uninstall", "--purge", "-y")).toMatchObject({ exitCode: 0 });
  const left = await machine.run(["sh", "-c", `ls /etc/systemd/system /usr/local/bin; ls -A ${root} 2>/dev/null`]);
  expect(left.stdout.split("\n").filter((name) => /berth(?!\.service\.d)|db/.test(name))).toEqual([]);
});
