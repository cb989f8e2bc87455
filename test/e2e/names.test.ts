import { afterAll, beforeAll, expect, setDefaultTimeout, test } from "bun:test";
import { chmodSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { layoutOf } from "../../src/base/disk/layout.ts";
import { executable } from "../support/executable.ts";

import { deployment } from "../support/manifests.ts";
import { type Rig, rig } from "../support/rig.ts";
import { openUpstream, outsideAddress, type Upstream } from "../support/upstream.ts";
import { isAlive, waitFor } from "../support/wait.ts";

setDefaultTimeout(120_000);

const dockerHost = process.env.BERTH_TEST_DOCKER_HOST ?? "";
const network = `names${Math.random().toString(36).slice(2, 8)}`;
let berth: Rig;
let upstream: Upstream;
let program: string;

/** As `berth import compose` writes it. */
const searching = () => ({ docker_options: [`--dns-search=dev.${berth.prefix}`, "--dns-option=ndots:1"] });

beforeAll(async () => {
  upstream = await openUpstream(dockerHost, network);
  program = serverWith(`nameserver ${upstream.address}\nsearch corp.example\n`);
  berth = await rig({ program });
  await waitFor("the engine to be reached", async () => (await berth.call("GET", "/pods")).status === 200);
  await berth.apply(deployment("dev", "db", { replicas: 0 }), deployment("dev", "web", searching()));
  await berth.ready("deployment", "dev", "web");
});
afterAll(async () => {
  await berth?.close();
  upstream?.close();
});

/** The executable where the machine has this file as its `/etc/resolv.conf`. */
function serverWith(resolver: string): string {
  const folder = mkdtempSync(join(tmpdir(), "berth-names."));
  const [file, script] = [join(folder, "resolv.conf"), join(folder, "berth")];
  writeFileSync(file, resolver);
  const inside = `mount --bind ${file} /etc/resolv.conf && exec ${executable} "$@"`;
  writeFileSync(script, `#!/bin/sh\nexec unshare --mount sh -c '${inside}' sh "$@"\n`);
  chmodSync(script, 0o755);
  return script;
}

async function containerOf(name: string): Promise<string> {
  const [pod] = await berth.pods("dev", name);
  return pod?.name ?? "";
}

/** As musl does: both address families at once, with the search list. */
async function lookUp(name: string, from = "web"): Promise<string> {
  return within(await containerOf(from), name);
}

/** Beside the name server of the test, which is in this process. */
async function within(container: string, name: string): Promise<string> {
  return ran(["exec", container, "busybox", "nslookup", name]);
}

async function ran(words: string[]): Promise<string> {
  const run = Bun.spawn(["docker", "-H", dockerHost, ...words], { stdout: "pipe", stderr: "pipe" });
  return (await Promise.all([run.stdout, run.stderr].map((stream) => new Response(stream).text()))).join("");
}

test("while no replica runs, no question for the names of a service leaves the machine", async () => {
  upstream.asked.length = 0;
  const long = `db.dev.${berth.prefix}`;
  for (const name of [
    "db",
    "db.dev",
    long,
    `nothing.dev.${berth.prefix}`,
    `${long}.corp.example`,
    "db.dev.corp.example",
  ]) {
    expect(await lookUp(name)).toContain("NXDOMAIN");
  }
  expect(upstream.asked).toEqual([]);
  expect(await lookUp("outside.example")).toContain(outsideAddress);
  expect(upstream.asked).toContain("outside.example");
});

test("the resolver of glibc asks nobody outside either", async () => {
  const web = await containerOf("web");
  const [pid, resolver] = berth.docker(["inspect", "-f", "{{.State.Pid}} {{.ResolvConfPath}}", web]).trim().split(" ");
  /** The program of this machine, in the network of the container. */
  const getent = async (name: string) => {
    const inside = `mount --bind ${resolver} /etc/resolv.conf && exec getent ahosts ${name}`;
    const words = ["nsenter", `--net=/proc/${pid}/ns/net`, "unshare", "--mount", "sh", "-c", inside];
    const run = Bun.spawn(words, { stdout: "pipe", stderr: "pipe" });
    const [stdout, stderr] = await Promise.all([run.stdout, run.stderr].map((stream) => new Response(stream).text()));
    return { code: await run.exited, stdout, stderr };
  };
  expect((await getent("outside.example")).stdout).toContain(outsideAddress);
  upstream.asked.length = 0;
  for (const name of ["db", "db.dev", `db.dev.${berth.prefix}`]) {
    expect(await getent(name)).toEqual({ code: 2, stdout: "", stderr: "" });
  }
  expect(upstream.asked).toEqual([]);
});

test("a service is found as soon as it runs", async () => {
  expect(await lookUp("db")).toContain("NXDOMAIN");
  await berth.apply(deployment("dev", "db", { replicas: 1 }));
  await berth.ready("deployment", "dev", "db");
  const address = berth
    .docker(["inspect", "-f", "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}", await containerOf("db")])
    .trim();
  for (const name of ["db", "db.dev", `db.dev.${berth.prefix}`]) expect(await lookUp(name)).toContain(address);
  await berth.apply(deployment("dev", "db", { replicas: 0 }));
  await waitFor("the replica to leave", async () => (await lookUp("db")).includes("NXDOMAIN"));
});

test("names of the outside resolve at once while the server is killed, and services stay inside", async () => {
  const web = await containerOf("web");
  await berth.stop("SIGKILL");
  upstream.asked.length = 0;
  const count = 50;
  // More than the kernel says in a second that a port is closed.
  const script = `for i in $(seq ${count}); do busybox nslookup outside.example | grep ${outsideAddress} || exit 1; done`;
  const began = performance.now();
  const said = await ran(["exec", web, "sh", "-c", script]);
  const ms = (performance.now() - began) / count;
  console.log(`a lookup while the server is killed: ${ms.toFixed(1)} ms`);
  expect(said.split("\n").length - 1).toBe(count);
  expect(ms).toBeLessThan(200);
  expect(await within(web, "db")).toContain("NXDOMAIN");
  expect(upstream.asked.filter((name) => name !== "outside.example")).toEqual([]);
  await berth.start(program);
});

test("the name server is started again when it ends, and goes with its root", async () => {
  const pid = () => Number(readFileSync(layoutOf(berth.root).namesPid, "utf8"));
  const first = pid();
  process.kill(first, "SIGKILL");
  const second = await waitFor("another name server", () => (pid() === first ? undefined : pid()));
  await waitFor("it to answer", async () => (await lookUp("db")).includes("NXDOMAIN"));
  await berth.stop();
  expect(isAlive(second)).toBe(true);
  await berth.start(program);
  expect(pid()).toBe(second);
});

test("name servers of the user stay, and containers without the network get none", async () => {
  const own = { docker_options: ["--dns=192.0.2.1"] };
  await berth.apply(deployment("dev", "own", own), deployment("dev", "host", { network_mode: "host" }));
  for (const name of ["own", "host"]) await berth.ready("deployment", "dev", name);
  const dns = async (name: string) =>
    berth.docker(["inspect", "-f", "{{json .HostConfig.Dns}}", await containerOf(name)]).trim();
  expect(await dns("own")).toBe('["192.0.2.1"]');
  expect(["null", "[]"]).toContain(await dns("host"));
  expect(await dns("web")).toContain(upstream.address);
});

test("the doctor names containers that ask former name servers of the machine", async () => {
  const file = join(dirname(program), "resolv.conf");
  const before = readFileSync(file, "utf8");
  writeFileSync(file, "nameserver 192.0.2.53\n");
  const web = await containerOf("web");
  await waitFor("the doctor to name it", async () => {
    const { stdout } = await berth.cli(["doctor", ...doctorFlags()]);
    return stdout.includes("name servers of this machine changed") && stdout.includes(web);
  });
  writeFileSync(file, before);
  await waitFor("all to be well", async () =>
    (await berth.cli(["doctor", ...doctorFlags()])).stdout.includes("ok    names of services"),
  );
});

test("behind a firewall that drops the questions, containers are made as before, and the doctor says so", async () => {
  const doctor = async () => (await berth.cli(["doctor", ...doctorFlags()])).stdout;
  expect(await doctor()).toContain("ok    names of services");
  const gateway = berth
    .docker(["network", "inspect", `${berth.prefix}0`, "-f", "{{(index .IPAM.Config 0).Gateway}}"])
    .trim();
  const rule = ["INPUT", "-d", gateway, "-p", "udp", "--dport", "53", "-j", "DROP"];
  await berth.stop();
  expect(Bun.spawnSync(["iptables", "-w", "-I", ...rule]).exitCode).toBe(0);
  try {
    await berth.start(program);
    await berth.apply(deployment("dev", "late"));
    await berth.ready("deployment", "dev", "late");
    const dns = berth.docker(["inspect", "-f", "{{json .HostConfig.Dns}}", await containerOf("late")]).trim();
    expect(["null", "[]"]).toContain(dns);
    expect(await doctor()).toContain("a firewall drops the questions");
  } finally {
    Bun.spawnSync(["iptables", "-w", "-D", ...rule]);
  }
});

const doctorFlags = () => ["--root", berth.root, "--docker-host", dockerHost];
