import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isAlive, waitFor } from "./wait.ts";

/** The daemon that test/run started for all tests; absent when tests run by hand without one. */
export const testDockerHost: string | undefined = process.env.BERTH_TEST_DOCKER_HOST;

const fixtureImage = "berth-fixture:1";
const startMs = 60_000;

/** A Docker daemon of the test's own, to be stopped, killed and started at will. It keeps containers running meanwhile. */
export interface Dockerd {
  /** `unix:///…/docker.sock` */
  host: string;
  dir: string;
  /** Of the running or last process. */
  readonly pid: number;
  start(): Promise<void>;
  /** SIGTERM, and waits for the end. */
  stop(): Promise<void>;
  /** SIGKILL, and waits for the end. */
  kill(): Promise<void>;
  /** Removes the containers, ends the daemon and its processes, removes the folder. */
  close(): Promise<void>;
}

/**
 * Starts one with the fixture image (`berth-fixture:1`), and waits until it answers. Needs root. It has a bridge and
 * addresses of its own and leaves the firewall alone, so that any number run beside each other. Published ports work on
 * loopback; containers reach each other, but nothing outside.
 */
export async function startDockerd(): Promise<Dockerd> {
  const dir = mkdtempSync(join(tmpdir(), "berth-dockerd."));
  const host = `unix://${dir}/docker.sock`;
  writeFileSync(join(dir, "daemon.json"), "{}");
  const network = addBridge(`bt${dir.slice(-6)}`);
  let running: Bun.Subprocess | undefined;
  let lastPid = 0;

  const end = async (signal: NodeJS.Signals) => {
    running?.kill(signal);
    await running?.exited;
    running = undefined;
  };
  const daemon: Dockerd = {
    host,
    dir,
    get pid() {
      return lastPid;
    },
    async start() {
      if (running !== undefined) return;
      await forgetLast(dir);
      running = spawnDaemon(dir, host, network);
      lastPid = running.pid;
      await waitFor("dockerd to answer", () => answers(host), startMs).catch((error: unknown) => {
        throw new Error(`dockerd does not start:\n${readOptional(join(dir, "dockerd.log")).slice(-3000)}`, {
          cause: error,
        });
      });
    },
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    async close() {
      await daemon.start().catch(() => undefined);
      const ids = docker(host, ["ps", "-aq"]).split("\n").filter(Boolean);
      if (ids.length > 0) docker(host, ["rm", "-f", "-v", ...ids]);
      // Their bridges outlive the daemon.
      docker(host, ["network", "prune", "-f"]);
      await end("SIGTERM");
      endLeftovers(dir);
      unmountBelow(dir);
      ip("link", "delete", network.bridge);
      rmSync(dir, { recursive: true, force: true });
    },
  };

  try {
    await daemon.start();
    await copyFixture(host);
  } catch (error) {
    await daemon.close();
    throw error;
  }
  return daemon;
}

interface Network {
  bridge: string;
  /** First two numbers of its addresses: `10.123`. */
  subnet: string;
}

/** A bridge with addresses that nothing on the machine uses yet. */
function addBridge(bridge: string): Network {
  const used = ip("-4", "route", "show").stdout.toString();
  for (;;) {
    const subnet = `10.${Math.floor(Math.random() * 200) + 2}`;
    if (used.includes(`${subnet}.`)) continue;
    const steps = [
      ip("link", "add", "name", bridge, "type", "bridge"),
      ip("addr", "add", `${subnet}.0.1/24`, "dev", bridge),
      ip("link", "set", bridge, "up"),
    ];
    const failed = steps.find(({ success }) => !success);
    if (failed !== undefined) throw new Error(`cannot make the bridge ${bridge}: ${failed.stderr.toString()}`);
    return { bridge, subnet };
  }
}

function ip(...args: string[]) {
  return Bun.spawnSync(["ip", ...args], { stdout: "pipe", stderr: "pipe" });
}

function spawnDaemon(dir: string, host: string, { bridge, subnet }: Network): Bun.Subprocess {
  // Opened by hand: a Bun.file is written from its beginning at each start.
  const log = openSync(join(dir, "dockerd.log"), "a");
  const own = ["--config-file", `${dir}/daemon.json`, "--host", host, "--pidfile", `${dir}/docker.pid`];
  const data = ["--data-root", `${dir}/data`, "--exec-root", `${dir}/exec`, "--live-restore"];
  // Not "none": with that, dockerd removes the docker0 of whichever daemon it belongs to.
  const network = ["--bridge", bridge, "--default-address-pool", `base=${subnet}.0.0/16,size=24`];
  const quiet = ["--iptables=false", "--ip6tables=false", "--ip-masq=false", "--ip-forward=false"];
  try {
    return Bun.spawn(["dockerd", ...own, ...data, ...network, ...quiet], {
      stdin: "ignore",
      stdout: log,
      stderr: log,
      // A session of its own: an interrupt typed at the test run must not reach it before `close` does.
      detached: true,
    });
  } finally {
    closeSync(log);
  }
}

async function answers(host: string): Promise<boolean> {
  const answer = await fetch("http://localhost/_ping", { unix: host.slice("unix://".length) });
  return answer.ok;
}

/** Output of the docker client; empty when it fails. */
export function docker(host: string, args: string[]): string {
  const run = Bun.spawnSync(["docker", "-H", host, ...args], { stdout: "pipe", stderr: "pipe" });
  return run.exitCode === 0 ? run.stdout.toString().trim() : "";
}

/** Made anew by the script that test/run uses: there may be no other daemon to copy it from. */
async function copyFixture(host: string): Promise<void> {
  const setup = join(import.meta.dir, "../../setup");
  const script = '. "$1/say.sh"; . "$1/packages.sh"; . "$1/image.sh"; import_busybox "$2" "$3"';
  const run = Bun.spawn(["sh", "-euc", script, "sh", setup, host, fixtureImage], { stdout: "ignore", stderr: "pipe" });
  const fault = await new Response(run.stderr).text();
  if ((await run.exited) !== 0) throw new Error(`cannot make the fixture image: ${fault}`);
}

/** Processes whose command line names the folder; one that has ended but was not collected yet has none. */
function processesOf(dir: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && readOptional(`/proc/${name}/cmdline`).includes(`${dir}/`))
    .map(Number);
}

/** Whatever a daemon that would not start again has left: containers are children of the shims that name the folder. */
function endLeftovers(dir: string): void {
  for (const pid of processesOf(dir)) {
    const children = readOptional(`/proc/${pid}/task/${pid}/children`).split(" ").filter(Boolean).map(Number);
    for (const one of [...children, pid]) if (isAlive(one)) process.kill(one, "SIGKILL");
  }
}

/**
 * A killed daemon takes its containerd with it, a moment later; a new daemon that still sees its pid file waits for it
 * in vain. Its own pid file it would mistake for a living daemon.
 */
async function forgetLast(dir: string): Promise<void> {
  const isContainerd = (pid: number) => /^(?:\S*\/)?containerd\0/.test(readOptional(`/proc/${pid}/cmdline`));
  await waitFor("the last containerd to end", () => !processesOf(dir).some(isContainerd));
  rmSync(join(dir, "docker.pid"), { force: true });
  rmSync(join(dir, "exec/containerd/containerd.pid"), { force: true });
}

function readOptional(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function unmountBelow(dir: string): void {
  const points = readOptional("/proc/self/mountinfo")
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .filter((point) => point.startsWith(`${dir}/`));
  for (const point of points.reverse()) Bun.spawnSync(["umount", "-l", point]);
}
