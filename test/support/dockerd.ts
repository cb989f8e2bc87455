import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
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
 * Starts one with the fixture image (`berth-fixture:1`), and waits until it answers. Needs root. It has no default
 * bridge and leaves the firewall alone, so that any number run beside each other: containers join networks that the
 * test makes, and published ports work on loopback.
 */
export async function startDockerd(): Promise<Dockerd> {
  const dir = mkdtempSync(join(tmpdir(), "berth-dockerd."));
  const host = `unix://${dir}/docker.sock`;
  writeFileSync(join(dir, "daemon.json"), "{}");
  const pool = Math.floor(Math.random() * 250) + 2;
  let running: Bun.Subprocess | undefined;

  const end = async (signal: NodeJS.Signals) => {
    running?.kill(signal);
    await running?.exited;
  };
  const daemon: Dockerd = {
    host,
    dir,
    get pid() {
      return running?.pid ?? 0;
    },
    async start() {
      if (running !== undefined && running.exitCode === null && running.signalCode === null) return;
      // What SIGKILL left behind, which a new daemon would mistake for a living one.
      rmSync(join(dir, "docker.pid"), { force: true });
      running = spawnDaemon(dir, host, pool);
      await waitFor(`dockerd to answer (log: ${dir}/dockerd.log)`, () => answers(host), startMs);
    },
    stop: () => end("SIGTERM"),
    kill: () => end("SIGKILL"),
    async close() {
      await daemon.start().catch(() => undefined);
      const ids = docker(host, ["ps", "-aq"]).split("\n").filter(Boolean);
      if (ids.length > 0) docker(host, ["rm", "-f", "-v", ...ids]);
      await end("SIGTERM");
      endContainerd(dir);
      unmountBelow(dir);
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

function spawnDaemon(dir: string, host: string, pool: number): Bun.Subprocess {
  const log = Bun.file(join(dir, "dockerd.log"));
  const own = ["--config-file", `${dir}/daemon.json`, "--host", host, "--pidfile", `${dir}/docker.pid`];
  const data = ["--data-root", `${dir}/data`, "--exec-root", `${dir}/exec`, "--live-restore"];
  const network = ["--bridge", "none", "--iptables=false", "--ip6tables=false", "--ip-forward=false"];
  const pools = ["--default-address-pool", `base=10.${pool}.0.0/16,size=24`];
  return Bun.spawn(["dockerd", ...own, ...data, ...network, ...pools], {
    stdin: "ignore",
    stdout: log,
    stderr: log,
    // A session of its own: an interrupt typed at the test run must not reach it before `close` does.
    detached: true,
  });
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

/** A killed daemon leaves its containerd; a new one adopts it, but only a clean stop ends it. */
function endContainerd(dir: string): void {
  const pid = Number(readOptional(join(dir, "exec/containerd/containerd.pid")));
  const command = readOptional(`/proc/${pid}/cmdline`);
  if (pid > 0 && isAlive(pid) && command.includes(dir)) process.kill(pid, "SIGKILL");
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
