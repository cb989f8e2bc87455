import { afterEach, beforeEach, expect, test } from "bun:test";
import { logLimits } from "../../../../../src/config/log-limits.ts";
import { createGuardedFetch } from "../../../../../src/base/deliver/guarded-fetch.ts";
import { createObjectSender } from "../../../../../src/base/deliver/object-storage.ts";
import { createStreamSender } from "../../../../../src/base/deliver/stream-socket.ts";
import { systemClock } from "../../../../../src/base/words/clock.ts";
import { createDrainRoom, type DrainRoom } from "../../../../../src/observability/service/drains/create.ts";
import { packLines } from "../../../../../src/observability/core/logs/packed-lines.ts";
import { createLogsRoom, type LogsRoom } from "../../../../../src/observability/service/logs/create.ts";
import { type LogFiles, logFiles } from "../../../../support/log-world.ts";
import { openTestObservabilityStore } from "../../../../support/observability.ts";
import { silentLog } from "../../../../support/silent-log.ts";
import { waitFor } from "../../../../support/wait.ts";

let files: LogFiles;
let logs: LogsRoom;
let drains: DrainRoom;
let stop: () => Promise<void>;

beforeEach(() => {
  files = logFiles();
  const { store, remove } = openTestObservabilityStore();
  logs = createLogsRoom(files.platform, { clock: systemClock, log: silentLog });
  const guard = { resolve: async () => ["127.0.0.1"], allowPrivate: true };
  const asking = { ...guard, fetch: (url: string, init: RequestInit) => fetch(url, init), bodyBytesMax: 1_000 };
  drains = createDrainRoom({ store, clock: systemClock, log: silentLog }, logs, {
    limits: { ...logLimits.drains, lookMs: 10, objectMs: 10, lagMs: 0, retryMs: 10, linesMax: 50, sendMs: 3_000 },
    hostname: "vps1",
    post: createGuardedFetch({ ...asking, headMs: 2_000 }),
    stream: createStreamSender({ ...guard, limitMs: 3_000 }),
    put: createObjectSender({ ...asking, limitMs: 3_000 }),
  });
  const stopping = new AbortController();
  const running = Promise.all([logs.run(stopping.signal), drains.run(stopping.signal)]);
  stop = async () => {
    stopping.abort();
    await running;
    remove();
  };
});
afterEach(async () => {
  await stop();
  files.close();
});

/** Their times are in the past minute, and a drain begins with the lines from its making on. */
async function ingest(...texts: string[]): Promise<void> {
  const source = { id: "c", pod: "shop-web.c", replica: "c", release: "r1", role: "" };
  const at = Date.now();
  const lines = texts.map((text) => ({ at, level: "info" as const, text }));
  await logs.ingest({ scope: "shop", name: "web" }, [packLines(source, "stdout", lines)]);
}

test("an HTTP drain delivers every line once, in order, over failures, and says what went wrong", async () => {
  const got: string[] = [];
  let refuse = true;
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (refuse) return new Response("busy", { status: 503 });
      expect(request.headers.get("authorization")).toBe("Bearer x");
      got.push(
        ...(await request.text())
          .trim()
          .split("\n")
          .map((line) => (JSON.parse(line) as { text: string }).text),
      );
      return new Response("");
    },
  });
  await drains.put("a", {
    target: { type: "http", url: `http://127.0.0.1:${server.port}/in`, headers: { Authorization: "Bearer x" } },
  });
  const texts = Array.from({ length: 230 }, (_, at) => `line ${at}`);
  await ingest(...texts);
  await waitFor("a failure", () => drains.list()[0]?.state === "failing");
  expect(drains.list()[0]).toMatchObject({ last_error: "the other side answered with status 503", delivered_lines: 0 });
  expect(await drains.test("a")).toEqual({ delivered: false, result: "the other side answered with status 503" });
  refuse = false;
  await waitFor("all lines", () => got.length >= 230);
  expect(got).toEqual(texts);
  await waitFor("its state", () => drains.list()[0]?.delivered_lines === 230);
  await ingest("one more");
  await waitFor("the next line", () => got.at(-1) === "one more");
  expect(drains.list()[0]).toMatchObject({ name: "a", type: "http", state: "waiting for lines", failures: 0 });
  await server.stop(true);
});

test("a syslog drain sends frames over TCP, and counts them when the collector has read them all", async () => {
  let got = "";
  const server = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: {
      data(_, bytes) {
        got += bytes.toString();
      },
    },
  });
  await drains.put("a", {
    target: { type: "syslog", host: "collector.test", port: server.port, tls: false },
    apps: ["shop/*"],
    level: "info",
  });
  await ingest("hello", "world");
  await waitFor("the frames", () => got.includes("hello") && got.includes("world"));
  expect(got).toMatch(/^\d+ <134>1 \S+Z vps1 shop\.web c - \[berth@32473 .*\] hello\d+ <134>1 /);
  await waitFor("the count", () => drains.list()[0]?.delivered_lines === 2);
  server.stop(true);
});

test("an S3 drain puts gzip files of JSON lines", async () => {
  const objects = new Map<string, string>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { searchParams } = new URL(request.url);
      expect(searchParams.get("X-Amz-Credential")).toStartWith("KEY/");
      objects.set(new URL(request.url).pathname, Buffer.from(Bun.gunzipSync(await request.arrayBuffer())).toString());
      return new Response("", { headers: { ETag: '"1"' } });
    },
  });
  const target = {
    type: "s3",
    bucket: "logs",
    endpoint: `http://127.0.0.1:${server.port}`,
    prefix: "p/",
    access_key_id: "KEY",
    secret_access_key: "SECRET",
  };
  const drain = await drains.put("a", { target });
  expect(JSON.stringify(drain)).not.toContain("SECRET");
  await ingest("hello");
  await waitFor("an object", () => objects.size === 1);
  const [[name, body] = ["", ""]] = objects;
  expect(name).toMatch(/^\/logs\/p\/\d{4}\/\d\d\/\d\d\/\d{6}-\d+-\d+\.jsonl\.gz$/);
  expect(JSON.parse(body)).toMatchObject({ text: "hello", scope: "shop", host: "vps1" });
  await server.stop(true);
});

test("what cannot be is refused, and what is removed is gone", async () => {
  await expect(drains.put("A", { target: { type: "http", url: "https://x.test" } })).rejects.toThrow(
    'drain name "A" is not valid',
  );
  await expect(drains.put("a", { target: { type: "fax" } })).rejects.toThrow();
  await expect(drains.remove("a")).rejects.toThrow('there is no drain "a"');
  await drains.put("a", { target: { type: "syslog", host: "127.0.0.1", port: 1 } });
  expect((await drains.test("a")).delivered).toBe(false);
  await drains.remove("a");
  expect(drains.list()).toEqual([]);
});
