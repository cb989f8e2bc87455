import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { executable } from "../support/executable.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { onTerminal } from "../support/pty.ts";
import { connectRaw } from "../support/raw-client.ts";
import { type Rig, rig } from "../support/rig.ts";
import { waitFor } from "../support/wait.ts";

setDefaultTimeout(30_000);

let berth: Rig;

/** Says who it is, then something each 0.2 s. */
const chatty = (word: string) => ({
  command: ["sh", "-c", `echo ${word} begins; i=0; while true; do echo ${word} $i; i=$((i+1)); sleep 0.2; done`],
});

beforeAll(async () => {
  berth = await rig();
  await berth.apply(deployment("shop", "web", { replicas: 2, ...chatty("one") }));
  await berth.ready("deployment", "shop", "web");
}, 60_000);
afterAll(() => berth.close());

interface Follower {
  out(): string;
  err(): string;
  until(what: string | RegExp): Promise<void>;
  interrupt(): Promise<number>;
}

function follow(...args: string[]): Follower {
  const child = Bun.spawn([executable, "logs", "-f", ...args], {
    env: { BERTH_ENDPOINT: berth.endpoint },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const text = { out: "", err: "" };
  const collect = async (name: "out" | "err", stream: ReadableStream<Uint8Array>) => {
    for await (const bytes of stream) text[name] += Buffer.from(bytes).toString();
  };
  const streams = [collect("out", child.stdout), collect("err", child.stderr)];
  return {
    out: () => text.out,
    err: () => text.err,
    until: async (what) => void (await waitFor(`${what} in the log`, () => text.out.match(what) !== null)),
    async interrupt() {
      child.kill("SIGINT");
      await Promise.all(streams);
      return child.exited;
    },
  };
}

const podsOf = async (name: string) => (await berth.pods("shop", name)).map((pod) => pod.name).sort();

describe("what there is", () => {
  test("all replicas, each line with its pod; one replica bare", async () => {
    const [first = "", second = ""] = await podsOf("web");
    const { stdout, exitCode } = await berth.cli(["logs", "shop/web"]);
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`${first} | one begins\n`);
    expect(stdout).toContain(`${second} | one begins\n`);
    expect((await berth.cli(["logs", first])).stdout).toStartWith("one begins\n");
    expect((await berth.cli(["logs", "shop/web", "--no-prefix"])).stdout).toStartWith("one begins\n");
  });

  test("tail, since and timestamps", async () => {
    const lines = (text: string) => text.trim().split("\n");
    expect(lines((await berth.cli(["logs", "shop/web", "-n", "2"])).stdout)).toHaveLength(4);
    expect((await berth.cli(["logs", "shop/web", "--since", "2099-01-01T00:00:00Z"])).stdout).toBe("");
    const { stdout } = await berth.cli(["logs", "shop/web", "-t", "-n", "1"]);
    expect(stdout).toMatch(/^shop-web\.\w+ \| \d{4}-\d\d-\d\dT\S+Z one \d+\n/);
  });

  test("as JSON lines", async () => {
    const { stdout } = await berth.cli(["logs", "shop/web", "-o", "json", "-n", "1"]);
    const lines = stdout.trim().split("\n");
    expect(lines.map((line) => Object.keys(JSON.parse(line)))).toEqual([
      ["pod", "line"],
      ["pod", "line"],
    ]);
  });

  test("faults are the server's words", async () => {
    const bad = await berth.cli(["logs", "shop/web", "--since", "yesterday"]);
    expect([bad.exitCode, bad.stderr]).toEqual([1, expect.stringContaining('"yesterday" is not a time')]);
    const none = await berth.cli(["logs", "shop/none"]);
    expect([none.exitCode, none.stderr]).toEqual([1, expect.stringContaining('no pods of "shop/none"')]);
    expect((await berth.cli(["logs"])).exitCode).toBe(2);
  });

  test("colours on a terminal only, the same for a pod each time", async () => {
    const [first = ""] = await podsOf("web");
    const show = async () => {
      const it = onTerminal(["logs", "shop/web", "-n", "1"], { BERTH_ENDPOINT: berth.endpoint });
      await it.exited;
      await it.until(first);
      return it.shown();
    };
    const colourOf = (text: string) => text.match(new RegExp(`\\x1b\\[(\\d+)m${first} +\\|`))?.[1];
    const colour = colourOf(await show());
    expect(colour).toBeDefined();
    expect(colourOf(await show())).toBe(colour);
    expect((await berth.cli(["logs", "shop/web", "-n", "1"])).stdout).not.toContain("\x1b");
  });
});

describe("following", () => {
  test("Ctrl-C ends it with 130 and no complaint", async () => {
    const it = follow("shop/web", "-n", "1");
    await it.until(/one \d+/);
    expect(await it.interrupt()).toBe(130);
    expect(it.err()).toBe("");
  });

  test("joins replicas that appear, and goes on with the replacements of a new release", async () => {
    await berth.apply(deployment("shop", "grow", { replicas: 1, ...chatty("old") }));
    await berth.ready("deployment", "shop", "grow");
    const it = follow("shop/grow");
    await it.until("old begins");
    await berth.apply(deployment("shop", "grow", { replicas: 2, ...chatty("old") }));
    await waitFor("the second replica", () => (it.out().match(/old begins/g) ?? []).length === 2);
    expect(it.err()).toMatch(/shop-grow\.\w+ joined\n/);
    await berth.apply(deployment("shop", "grow", { replicas: 2, ...chatty("new") }));
    await waitFor("both replacements", () => (it.out().match(/new begins/g) ?? []).length === 2, 60_000);
    await it.interrupt();
    // From their first line, once.
    expect(it.out().match(/new begins/g)).toHaveLength(2);
  }, 120_000);

  test("a replica that is made anew under its name is followed on", async () => {
    await berth.apply(statefulset("shop", "db", chatty("db")));
    await berth.ready("statefulset", "shop", "db");
    const it = follow("shop/db");
    await it.until("db begins");
    await berth.cli(["restart", "shop/db"]);
    await waitFor("the next life", () => (it.out().match(/db begins/g) ?? []).length === 2, 60_000);
    await it.interrupt();
  }, 120_000);

  test("waits for pods that are not there yet", async () => {
    const it = follow("shop/later");
    await waitFor("the note", () => it.err().includes("no pods yet"));
    await berth.apply(deployment("shop", "later", chatty("late")));
    await it.until("late begins");
    await it.interrupt();
  }, 60_000);

  test("comes back after a restart of the server, and prints each line once", async () => {
    const command = ["sh", "-c", "i=0; while true; do seq $((i*20)) $((i*20+19)); i=$((i+1)); sleep 0.1; done"];
    await berth.apply(deployment("shop", "steady", { command }));
    await berth.ready("deployment", "shop", "steady");
    const it = follow("shop/steady", "--no-prefix");
    await it.until(/^100$/m);
    await berth.stop();
    await berth.start();
    const now = Number(it.out().trim().split("\n").at(-1));
    await it.until(new RegExp(`^${now + 400}$`, "m"));
    await it.interrupt();
    const numbers = it.out().trim().split("\n").map(Number);
    expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, index) => index));
  }, 60_000);
});

test("top draws on a terminal and leaves it as it was; ps and stats are tables", async () => {
  const it = onTerminal(["top", "shop/web"], { BERTH_ENDPOINT: berth.endpoint });
  await it.until("CPU LIMIT");
  expect(it.shown()).toContain("\x1b[?1049h");
  it.kill("SIGINT");
  expect(await it.exited).toBe(130);
  await it.until("\x1b[?1049l");
  expect((await berth.cli(["top", "shop/web"])).stdout).toMatch(/^POD +KIND +CPU/);
  const [first = ""] = await podsOf("web");
  expect((await berth.cli(["stats", first])).stdout).toContain(first);
  expect((await berth.cli(["ps", "shop/web"])).stdout).toMatch(/running, ready +yes +0 /);
});

/** Megabytes of resident memory of the server. */
function rss(): number {
  const status = readFileSync(`/proc/${berth.server.pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
}

test("followers that read nothing cost the server next to nothing, and the pod goes on writing", async () => {
  const line = "x".repeat(1_000);
  // About 40 MB/s, and what is written can be counted: it says so on a volume of its own.
  const flood = `yes ${line} | head -n 4000; i=$((i+1)); echo $i > /tmp/rounds; sleep 0.1`;
  const logs = { max_size: "100m", max_files: 2 };
  // Only while the test looks: the server stores all of it.
  const begin = "until [ -e /tmp/begin ]; do sleep 0.1; done";
  const command = ["sh", "-c", `i=0; ${begin}; while [ ! -e /tmp/end ]; do ${flood}; done; exec sleep 1000`];
  await berth.apply(deployment("shop", "flood", { command, logs }));
  await berth.ready("deployment", "shop", "flood");
  const [pod = ""] = await podsOf("flood");
  berth.docker(["exec", pod, "touch", "/tmp/begin"]);
  const rounds = () => Number(berth.docker(["exec", pod, "cat", "/tmp/rounds"]));
  // Until the store of logs has as much in memory as it ever has.
  await waitFor("the flood", () => rounds() > 8);
  const before = rss();
  const begun = rounds();
  const followers = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const client = await connectRaw({ unix: berth.endpoint.slice("unix:".length) }, { keep: false });
      await client.send(`GET /pods/${pod}/logs?follow=true HTTP/1.1\r\nHost: localhost\r\n\r\n`);
      await client.until(() => client.receivedBytes > 0);
      client.pause();
      return client;
    }),
  );
  let peak = 0;
  let written = 0;
  // Followers that are buffered would hold all that was written, four times: 160 MB at the least.
  while (written < 40) {
    for (let look = 0; look < 20; look += 1) {
      peak = Math.max(peak, rss());
      await Bun.sleep(50);
    }
    written = (rounds() - begun) * 4;
  }
  berth.docker(["exec", pod, "touch", "/tmp/end"]);
  for (const client of followers) client.abort();
  // Each may hold what two sockets and one piece hold, about 1 MB; the rest is garbage that waits for its collection.
  console.log(`the server grew by ${Math.round(peak - before)} MB while ${written} MB were written`);
  expect(peak - before).toBeLessThan(64);
}, 90_000);
