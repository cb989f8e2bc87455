import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { executable } from "../support/executable.ts";
import { deployment } from "../support/manifests.ts";
import { onTerminal } from "../support/pty.ts";
import { connectRaw } from "../support/raw-client.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(30_000);

let berth: Rig;
let pod: string;

beforeAll(async () => {
  berth = await rig();
  await berth.apply(deployment("shop", "web"), deployment("shop", "two", { replicas: 2 }));
  await berth.ready("deployment", "shop", "web");
  await berth.ready("deployment", "shop", "two");
  pod = (await berth.pods("shop", "web"))[0]?.name ?? "";
}, 60_000);
afterAll(() => berth.close());

const exec = (...args: string[]) => berth.cli(["exec", ...args]);
const sh = (script: string) => ["--", "sh", "-c", script];

/** Processes in the pod whose command line holds the text. */
const running = (text: string) =>
  berth
    .docker(["top", pod])
    .split("\n")
    .filter((line) => line.includes(text)).length;

describe("through pipes", () => {
  test("stdout, stderr and the exit code are the command's", async () => {
    expect(await exec("shop/web", ...sh("echo out; echo err >&2; exit 7"))).toEqual({
      exitCode: 7,
      stdout: "out\n",
      stderr: "err\n",
    });
  });

  test("flags, with and without --; what follows the command is its own", async () => {
    const given = await exec(
      "shop/web",
      "-w",
      "/tmp",
      "-u",
      "1234",
      "-e",
      "A=1",
      "--env=B=x y",
      "sh",
      "-c",
      "pwd; id -u; echo $A $B",
    );
    expect(given.stdout).toBe("/tmp\n1234\n1 x y\n");
    expect((await exec("shop/web", "echo", "-i", "--", "-t")).stdout).toBe("-i -- -t\n");
  });

  test("stdin is passed on with -i, and its end", async () => {
    const big = "x".repeat(3_000_000);
    const { stdout, exitCode } = await berth.cli(["exec", "shop/web", "-i", "sh", "-c", "wc -c"], { stdin: big });
    expect([stdout.trim(), exitCode]).toEqual(["3000000", 0]);
    expect((await berth.cli(["exec", "shop/web", "cat"], { stdin: "not passed" })).stdout).toBe("");
  });

  test("much output is whole", async () => {
    const { stdout } = await exec("shop/web", ...sh("yes 0123456789 | head -n 500000"));
    expect(stdout.length).toBe(11 * 500_000);
  });

  test("one of several replicas, by choice or by name", async () => {
    const [first] = await berth.pods("shop", "two");
    const chosen = await exec("shop/two", "true");
    expect(chosen.stderr).toMatch(/^in shop-two\.\w+\n$/);
    expect((await exec(`shop/two.${first?.replica_id}`, "true")).stderr).toBe("");
    expect((await exec(first?.name ?? "", "true")).exitCode).toBe(0);
  });

  test.each<[string[], number, string]>([
    [["shop/web"], 2, "say what to run"],
    [[], 2, "say which pod"],
    [["shop", "true"], 2, "names pods of deployment/shop/two, deployment/shop/web"],
    [["shop/gone", "true"], 1, 'no pods of "shop/gone"'],
    [["shop/web", "no-such-program"], 127, "no-such-program"],
    [["shop/web", "/no/such/program"], 127, "/no/such/program"],
    [["shop/web", "/etc/hostname"], 126, "/etc/hostname"],
    [["shop/web", "/tmp"], 126, "/tmp"],
    [["shop/web", "sh", "-c", "no-such-program"], 127, "no-such-program"],
    [["shop/web", "sh", "-c", "/etc/hostname"], 126, "/etc/hostname"],
    [["shop/web", "-w", "/no/such", "true"], 1, "/no/such"],
    [["shop/web", "-it", "sh"], 2, "-t needs a terminal on stdin"],
    [["shop/web", "-e", "NOVALUE", "true"], 2, "is not KEY=VALUE"],
  ])("%j ends with %d and says why", async (args, code, text) => {
    const { exitCode, stderr } = await exec(...args);
    expect(exitCode).toBe(code);
    expect(stderr).toContain(text);
  });

  test.each<NodeJS.Signals>(["SIGKILL", "SIGINT", "SIGTERM"])(
    "a client that %s ends takes its command along",
    async (signal) => {
      const mark = `77${signal.length}${signal.charCodeAt(3)}`;
      const child = Bun.spawn([executable, "exec", "shop/web", ...sh(`sleep ${mark}`)], {
        env: { BERTH_ENDPOINT: berth.endpoint },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
      });
      await waitFor("the command to run", () => running(`sleep ${mark}`) > 0);
      child.kill(signal);
      await child.exited;
      await waitFor("the command to be gone", () => running(`sleep ${mark}`) === 0);
    },
    30_000,
  );

  test("a reader that goes away ends it quietly", async () => {
    const script = `"${executable}" exec shop/web -- sh -c yes | head -n 1`;
    const child = Bun.spawn(["sh", "-c", script], {
      env: { PATH: process.env.PATH ?? "", BERTH_ENDPOINT: berth.endpoint },
      stdout: "pipe",
      stderr: "pipe",
    });
    const [out, err] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
    expect([out, err]).toEqual(["y\n", ""]);
    await waitFor("the command to be gone", () => running("yes") === 0);
  });

  test("an open stdin does not keep the client once the command has ended", async () => {
    const child = Bun.spawn([executable, "exec", "shop/web", "-i", "true"], {
      env: { BERTH_ENDPOINT: berth.endpoint },
      stdin: "pipe",
      stdout: "ignore",
      stderr: "ignore",
    });
    expect(await child.exited).toBe(0);
  });
});

/** `BERTH_TEST_EXEC_MB=500` for the whole promise. */
const megabytes = Number(process.env.BERTH_TEST_EXEC_MB ?? 300);

test(`${megabytes} MB to a reader that stalls: complete, and the server's memory stays bounded`, async () => {
  const total = megabytes * 1024 * 1024;
  const client = await connectRaw({ unix: berth.endpoint.slice("unix:".length) }, { keep: false });
  client.pause();
  const body = JSON.stringify({ command: ["sh", "-c", `head -c ${total} /dev/zero`] });
  const head = `POST /pods/${pod}/exec HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n`;
  const rss = () =>
    Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${berth.server.pid}/status`, "utf8"))?.[1]) / 1024;
  const before = rss();
  await client.send(head + body);
  await Bun.sleep(1_500);
  const stalled = rss();
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, rss());
  }, 20);
  client.resume();
  await client.all();
  clearInterval(watch);
  expect(client.receivedBytes).toBeGreaterThan(total);
  expect(client.receivedBytes - total).toBeLessThan(500);
  expect(stalled - before).toBeLessThan(32);
  // What was sent stays until the next collection of garbage; kept, it would be all of it.
  expect(peak - before).toBeLessThan(150);
}, 120_000);

describe("on a terminal", () => {
  const open = (...args: string[]) => onTerminal(["exec", ...args], { BERTH_ENDPOINT: berth.endpoint });

  test("without a command it is a shell", async () => {
    const it = open("shop/web");
    await it.until("# ");
    it.type("exit 5\r");
    expect(await it.exited).toBe(5);
  });

  test("the size is there without a key or a change", async () => {
    // Engines before API 1.42 take the size only once the command runs.
    const it = open("shop/web", "-it", "--", "sh", "-c", 'until [ "$(stty size)" = "30 100" ]; do :; done; exit 4');
    expect(await it.exited).toBe(4);
  });

  test("size and its changes, keys, and the terminal as before", async () => {
    const it = open("shop/web", "-it", "sh", "-c", 'while read -r line; do eval "$line"; done');
    await waitFor("raw mode", () => it.raw());
    it.type("stty size; echo $TERM\r");
    await it.until("\r\n30 100\r\nxterm\r\n");
    it.resize(80, 20);
    it.type("sleep 0.3; stty size\r");
    await it.until("\r\n20 80\r\n");
    it.type("trap 'echo interrupted; exit 6' INT; sleep 600\r");
    await waitFor("sleep to run", () => running("sleep 600") > 0);
    it.type("\x03");
    expect(await it.exited).toBe(6);
    await it.until("interrupted");
    expect(it.raw()).toBe(false);
  });

  test.each<[NodeJS.Signals, number]>([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ])("%s brings the terminal back, and ends the command", async (signal, code) => {
    const mark = `88${code}`;
    const it = open("shop/web", "-it", "sh", "-c", `echo up; sleep ${mark}`);
    await it.until("up");
    expect(it.raw()).toBe(true);
    it.kill(signal);
    expect(await it.exited).toBe(code);
    expect(it.raw()).toBe(false);
    await waitFor("the command to be gone", () => running(`sleep ${mark}`) === 0);
  });

  test("a server that goes away brings the terminal back and is told", async () => {
    const own = await rig();
    await own.apply(deployment("shop", "web"));
    await own.ready("deployment", "shop", "web");
    const it = onTerminal(["exec", "shop/web"], { BERTH_ENDPOINT: own.endpoint });
    await it.until("# ");
    await own.stop("SIGKILL");
    expect(await it.exited).toBe(1);
    await it.until("the session broke off before the command had ended");
    expect(it.raw()).toBe(false);
    await own.close();
  }, 60_000);
});
