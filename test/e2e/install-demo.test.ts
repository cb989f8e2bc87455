import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "bun:test";
import { copyCheckout } from "../support/checkout.ts";
import { docker, testDockerHost } from "../support/dockerd.ts";
import { isAlive, waitFor } from "../support/wait.ts";

const slowMs = 300_000;

const work = mkdtempSync(join(tmpdir(), "berth-demo."));
afterAll(() => rmSync(work, { recursive: true, force: true }));

/** Where install.sh is run. */
const built = join(import.meta.dir, "../..");
const fresh = join(work, "checkout");

async function demo(checkout: string, root: string, dockerHost: string, ...more: string[]): Promise<string> {
  const child = Bun.spawn([join(checkout, "install.sh"), "--demo", "--root", root, ...more], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
    env: { ...process.env, DOCKER_HOST: dockerHost },
  });
  const [out, error] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  if ((await child.exited) !== 0) throw new Error(`install.sh --demo ${more.join(" ")} failed:\n${out}\n${error}`);
  return out;
}

const made = (root: string, name: string) =>
  new RegExp(`^${name}=(.*)$`, "m").exec(readFileSync(join(root, "made"), "utf8"))?.[1] ?? "";

const pagesOf = (out: string) => [...out.matchAll(/serves (http:\/\/127\.0\.0\.1:\d+\/)/g)].map(([, url]) => url ?? "");

const ours = (host: string, root: string, ...list: string[]) => {
  const filter = `label=berthdemo.installation=${made(root, "installation")}`;
  return docker(host, [...list, "--filter", filter])
    .split("\n")
    .filter(Boolean)
    .sort();
};

const links = () => Bun.spawnSync(["ip", "-br", "link"]).stdout.toString();

/** What the demo says to type, typed into a shell: it reaches this demo and no other installation. */
async function tryNext(out: string, root: string) {
  const exports = out.split("\n").filter((line) => line.includes(" export "));
  const shell = (line: string) => Bun.spawnSync(["sh", "-c", [...exports, line].join("\n")], { env: bare });
  const doctor = shell("berth doctor -o json").stdout.toString();
  const checks = (JSON.parse(doctor) as { data: { checks: { name: string; status: string; detail: string }[] } }).data;
  const check = (name: string) => checks.checks.find((each) => each.name === name);
  expect(check("server")).toMatchObject({ status: "ok" });
  expect(check("docker")).toMatchObject({ status: "ok" });
  expect(shell(`berth backup ${root}/demo.backup`).exitCode).toBe(0);
  expect(existsSync(join(root, "demo.backup"))).toBe(true);
}

/** The two lines that the demo prints, typed into a shell. Returns the pid of the proxy that answers. */
function byHostName(out: string, root: string): number {
  const lines = out.split("\n").flatMap((line) => /^ {4}(curl .*?)(?: +#.*)?$/.exec(line)?.[1] ?? []);
  expect(lines).toHaveLength(2);
  const [plain, secure] = lines.map((line) => {
    const run = Bun.spawnSync(["sh", "-c", `${line} -sS --max-time 10`], { env: bare });
    return run.stdout.toString() + run.stderr.toString();
  });
  const url = /serves (https:\/\/hello\.localhost:\d+\/)/.exec(out)?.[1] ?? "";
  expect(plain).toStartWith("HTTP/1.1 308");
  expect(plain?.toLowerCase()).toContain(`location: ${url}\r\n`);
  expect(secure).toContain("<h1>Hello from berth</h1>");
  return Number(readFileSync(join(root, "state/run/haproxy.pid"), "utf8"));
}

/** The link at the end signs a browser in, once. */
async function signIn(out: string): Promise<void> {
  const [, base = "", code = ""] = /^ {4}(http:\/\/127\.0\.0\.1:\d+)\/sign-in#link=(\S+)$/m.exec(out) ?? [];
  const page = await fetch(`${base}/sign-in`);
  expect([page.status, page.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
  const enter = () =>
    fetch(`${base}/ui/api/session`, {
      method: "POST",
      headers: { "X-Berth-UI": "1", "Content-Type": "application/json" },
      body: JSON.stringify({ link: code }),
    });
  const entered = await enter();
  const cookie = entered.headers.get("Set-Cookie")?.split(";")[0] ?? "";
  const overview = await fetch(`${base}/api/pat/v1/overview`, { headers: { Cookie: cookie } });
  expect([entered.status, overview.status]).toEqual([200, 200]);
  expect(await overview.text()).toContain('"name":"hello"');
  expect((await enter()).status).toBe(401);
}

/** Of nobody who has an installation. */
const bare = { PATH: process.env.PATH ?? "", HOME: work };

/** Everything there is to see of a demo from its start to its end. */
async function wholeLife(checkout: string, root: string, dockerHost: string) {
  const first = await demo(checkout, root, dockerHost);
  const host = made(root, "docker_host");
  const pages = pagesOf(first);
  expect(pages).toHaveLength(2);
  for (const page of pages) expect(await (await fetch(page)).text()).toContain("Hello from berth");
  const pods = ours(host, root, "ps", "-q");
  expect(pods).toHaveLength(2);
  const server = Number(readFileSync(join(root, "serve.pid"), "utf8"));

  await signIn(first);
  await tryNext(first, root);
  const proxy = byHostName(first, root);

  // Again: the same server, the same proxy, the same containers.
  const again = await demo(checkout, root, dockerHost);
  expect(again).not.toContain("building dist/berth");
  expect(byHostName(again, root)).toBe(proxy);
  expect(Number(readFileSync(join(root, "serve.pid"), "utf8"))).toBe(server);
  expect(ours(host, root, "ps", "-q")).toEqual(pods);

  docker(host, ["kill", pods[0] ?? ""]);
  await waitFor("the killed replica to run again", () => ours(host, root, "ps", "-q").length === 2);

  return { first, host, server, proxy };
}

describe.skipIf(existsSync("/run/systemd/system"))("the demo", () => {
  test.skipIf(testDockerHost === undefined)(
    "on a Docker that is there: what it made goes, the rest stays",
    async () => {
      const root = join(work, "shared/demo");
      const other = docker(testDockerHost ?? "", ["run", "-d", "berth-fixture:1"]);
      try {
        const { host, server, proxy } = await wholeLife(built, root, testDockerHost ?? "");
        expect(host).toBe(testDockerHost ?? "");
        const installation = made(root, "installation");
        const [{ subnet }] = JSON.parse(readFileSync(join(root, "state/run/subnets.json"), "utf8"));
        const routes = () => Bun.spawnSync(["ip", "route", "show", "type", "unreachable"]).stdout.toString();
        expect(routes()).toContain(subnet);
        await demo(built, root, host, "--down");
        expect(routes()).not.toContain(subnet);
        expect(isAlive(server)).toBe(false);
        expect(isAlive(proxy)).toBe(false);
        expect(existsSync(join(work, "shared"))).toBe(false);
        for (const list of [
          ["ps", "-aq"],
          ["volume", "ls", "-q"],
          ["network", "ls", "-q"],
        ]) {
          expect(docker(host, [...list, "--filter", `label=berthdemo.installation=${installation}`])).toBe("");
        }
        expect(docker(host, ["images", "-q", "berth-demo/hello"])).toBe("");
        expect(docker(host, ["images", "-q", "berth-fixture"])).not.toBe("");
        expect(docker(host, ["inspect", "-f", "{{.State.Running}}", other])).toBe("true");
        // A second time there is nothing left to do.
        expect(await demo(built, root, host, "--down")).toContain("nothing to remove");
      } finally {
        docker(testDockerHost ?? "", ["rm", "-f", other]);
      }
    },
    slowMs,
  );

  test(
    "from a fresh checkout, with no Docker running: executable and private Docker come, and go without a trace, even when it was killed",
    async () => {
      const root = join(work, "private");
      const before = links();
      copyCheckout(fresh);
      const { first, proxy } = await wholeLife(fresh, root, `unix://${work}/nothing.sock`);
      expect(first).toContain("building dist/berth");
      const daemon = Number(readFileSync(join(root, "docker/docker.pid"), "utf8"));
      const bridge = made(root, "bridge");
      expect(links()).toContain(bridge);
      expect(before).not.toContain(bridge);
      process.kill(daemon, "SIGKILL");
      await demo(fresh, root, "", "--down");
      expect(existsSync(join(fresh, "dist"))).toBe(false);
      expect(isAlive(daemon)).toBe(false);
      expect(isAlive(proxy)).toBe(false);
      expect(existsSync(root)).toBe(false);
      expect(links()).not.toContain(bridge);
      expect(readFileSync("/proc/self/mountinfo", "utf8")).not.toContain(root);
    },
    slowMs,
  );
});
