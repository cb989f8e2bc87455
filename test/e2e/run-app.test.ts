import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { executable } from "../support/executable.ts";
import { deployment, job, statefulset } from "../support/manifests.ts";
import { onTerminal } from "../support/pty.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(30_000);

let berth: Rig;

beforeAll(async () => {
  berth = await rig();
  await berth.apply(
    deployment("shop", "web", {
      env: { COLOUR: "green" },
      ports: ["127.0.0.1::80"],
      volumes: ["shared:/shared"],
      resources: { limits: { memory: "64Mi" } },
    }),
    statefulset("shop", "db", { replicas: 2, volume_claims: [{ name: "data", mount_path: "/data" }] }),
    job("shop", "web", { command: ["sh", "-c", "echo the job; exit 4"] }),
  );
  await berth.ready("deployment", "shop", "web");
  await berth.ready("statefulset", "shop", "db");
}, 90_000);
afterAll(() => berth.close());

const run = (...args: string[]) => berth.cli(["run", ...args]);
const sh = (script: string) => ["--", "sh", "-c", script];
const names = () => berth.docker(["ps", "-a", "--format", "{{.Names}}"]).split("\n");
const runs = () => names().filter((name) => name.includes("-run-"));

async function untilGone(): Promise<void> {
  await waitFor("the container to be gone", () => runs().length === 0);
}

describe("through pipes", () => {
  test("stdout, stderr and the exit code are the command's, and the container is removed", async () => {
    const { stdout, stderr, exitCode } = await run("shop/web", ...sh("echo out; echo err >&2; exit 7"));
    expect({ stdout, stderr, exitCode }).toEqual({ stdout: "out\n", stderr: "err\n", exitCode: 7 });
    expect(runs()).toEqual([]);
  });

  test("it has the environment, the volumes and the limits of the app, and what the operator adds", async () => {
    await berth.cli(["exec", "shop/web", ...sh("echo kept >/shared/file")]);
    await berth.cli(["config", "set", "shop/web", "TOKEN=from-config", "--no-restart"]);
    const script =
      "echo $COLOUR $TOKEN $BERTH_NAME $MINE; cat /shared/file; cat /sys/fs/cgroup/memory.max /sys/fs/cgroup/memory/memory.limit_in_bytes 2>/dev/null; pwd; id -u";
    const { stdout } = await run("shop/web", "-e", "MINE=mine", "-w", "/tmp", "-u", "1234", ...sh(script));
    expect(stdout.split("\n").slice(0, 5)).toEqual([
      "green from-config web mine",
      "kept",
      String(64 * 1024 * 1024),
      "/tmp",
      "1234",
    ]);
  });

  test("stdin is passed on, and its end", async () => {
    const big = "x".repeat(3_000_000);
    const { stdout } = await berth.cli(["run", "shop/web", "--", "wc", "-c"], { stdin: big });
    expect(stdout.trim()).toBe("3000000");
  });

  test("without -- a job of the same name runs as before", async () => {
    const { stdout, exitCode } = await run("shop/web");
    expect([stdout.includes("the job"), exitCode]).toEqual([true, 4]);
  });

  test("a statefulset gives it the volumes of the pod that is named", async () => {
    await berth.cli(["exec", "shop/db.1", ...sh("echo second >/data/file")]);
    expect((await run("shop/db.1", ...sh("cat /data/file"))).stdout).toBe("second\n");
    const { stderr, exitCode } = await run("shop/db", ...sh("true"));
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("such as shop/db.0")]);
  });

  test.each<[string[], number, string]>([
    [["shop/gone", "--", "true"], 1, "shop/gone not found"],
    [["shop/web", "--", "no-such-program"], 127, "no-such-program"],
    [["shop/web", "--", "/no/such/program"], 127, "/no/such/program"],
    [["shop/web", "--", "/etc/hostname"], 126, "/etc/hostname"],
    [["shop/web", "--", "/tmp"], 126, "/tmp"],
    [["shop/web", "-t", "--", "sh"], 2, "-t needs a terminal on stdin"],
    [["shop/db"], 1, "berth run shop/db -- COMMAND"],
  ])("%j ends with %d and says why", async (args, code, text) => {
    const { exitCode, stderr } = await run(...args);
    expect([exitCode, stderr]).toEqual([code, expect.stringContaining(text)]);
    expect(runs()).toEqual([]);
  });
});

test("it is shown, counts as no replica, is no matter for the rollout, and is in the events with who ran it", async () => {
  const child = Bun.spawn([executable, "run", "shop/web", ...sh("sleep 600")], {
    env: { BERTH_ENDPOINT: berth.endpoint },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  await waitFor("the container to run", () => runs().length === 1);
  const { stdout } = await berth.cli(["ps", "shop/web"]);
  expect(stdout).toContain(runs()[0] ?? "");
  const status = await berth.status("deployment", "shop", "web");
  expect([status.ready_replicas, status.replicas, status.phase]).toEqual([1, 1, "ready"]);
  child.kill("SIGKILL");
  await child.exited;
  await untilGone();
  const { stdout: events } = await berth.cli(["events", "shop/web"]);
  expect(events).toMatch(/pod\.run .*program=sh/);
  expect(events).toContain("went away");
});

test("what a killed server leaves behind is ended by the next one", async () => {
  const child = Bun.spawn([executable, "run", "shop/web", ...sh("sleep 600")], {
    env: { BERTH_ENDPOINT: berth.endpoint },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  await waitFor("the container to run", () => runs().length === 1);
  await berth.stop("SIGKILL");
  expect(await child.exited).toBe(1);
  expect(await child.stderr.text()).toContain("the session broke off");
  expect(runs()).toHaveLength(1);
  await berth.start();
  await waitFor("the container to be gone", () => runs().length === 0, 60_000);
  const { stdout } = await berth.cli(["ps", "shop/web"]);
  expect(stdout).not.toContain("-run-");
}, 90_000);

describe("on a terminal", () => {
  const open = (...args: string[]) => onTerminal(["run", ...args], { BERTH_ENDPOINT: berth.endpoint });

  test("it gets one by itself: size and its changes, keys, and the exit code", async () => {
    const it = open("shop/web", "--", "sh", "-c", 'while read -r line; do eval "$line"; done');
    await waitFor("raw mode", () => it.raw());
    it.type("stty size; echo $TERM\r");
    await it.until("\r\n30 100\r\nxterm\r\n");
    it.resize(80, 20);
    it.type("sleep 0.3; stty size\r");
    await it.until("\r\n20 80\r\n");
    it.type("exit 6\r");
    expect(await it.exited).toBe(6);
    expect(it.raw()).toBe(false);
    expect(runs()).toEqual([]);
  });

  test("Ctrl-C ends a program that does nothing about it, although it is alone in its container", async () => {
    const it = open("shop/web", "--", "sh", "-c", "echo up; exec sleep 600");
    await it.until("up");
    it.type("\x03");
    expect(await it.exited).toBe(130);
    expect(it.raw()).toBe(false);
  });
});
