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

/** An HTTP receiver that takes a batch unless `refuses` names a status for its lines. */
function picky(refuses: (texts: string[], bytes: number) => number | undefined) {
  const taken: string[] = [];
  const statuses: number[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const body = await request.text();
      const texts = body
        .trim()
        .split("\n")
        .map((line) => (JSON.parse(line) as { text: string }).text);
      const status = refuses(texts, Buffer.byteLength(body)) ?? 200;
      statuses.push(status);
      if (status === 200) taken.push(...texts);
      return new Response("", { status });
    },
  });
  return { taken, statuses, url: `http://127.0.0.1:${server.port}/`, stop: () => server.stop(true) };
}

test.each([400, 422])(
  "a line that the receiver refuses with %d is set aside and counted; all others arrive",
  async (status) => {
    const bad = new Set(["line 7", "line 8", "line 60", "line 119"]);
    const server = picky((texts) => (texts.some((text) => bad.has(text)) ? status : undefined));
    await drains.put("a", { target: { type: "http", url: server.url } });
    const texts = Array.from({ length: 120 }, (_, at) => `line ${at}`);
    await ingest(...texts);
    await waitFor(
      "all lines",
      () => drains.list()[0]?.refused_lines === 4 && drains.list()[0]?.delivered_lines === 116,
    );
    expect(server.taken.filter((text) => text !== "test line of berth")).toEqual(
      texts.filter((text) => !bad.has(text)),
    );
    const result = `the other side answered with status ${status}`;
    expect(drains.list()[0]?.last_refused).toMatchObject({ app: "shop/web", result });
    await waitFor("its state", () => drains.list()[0]?.state === "waiting for lines");
    expect(drains.list()[0]?.oldest_waiting_at).toBeUndefined();
    await server.stop();
  },
);

test("a batch that is too large is halved; a line that is too large alone is set aside", async () => {
  const server = picky((_, bytes) => (bytes > 2_000 ? 413 : undefined));
  await drains.put("a", { target: { type: "http", url: server.url } });
  const texts = Array.from({ length: 100 }, (_, at) => (at === 30 ? "x".repeat(3_000) : `line ${at}`));
  await ingest(...texts);
  await waitFor("all lines", () => drains.list()[0]?.refused_lines === 1 && drains.list()[0]?.delivered_lines === 99);
  expect(server.taken).toEqual(texts.filter((text) => text.startsWith("line")));
  await server.stop();
});

test.each([400, 401, 404])("a receiver that answers %d to everything loses no line, and is shown", async (status) => {
  let isWrong = true;
  const server = picky(() => (isWrong ? status : undefined));
  await drains.put("a", { target: { type: "http", url: server.url } });
  await ingest("one", "two", "three");
  await waitFor("some attempts", () => (drains.list()[0]?.failures ?? 0) > 1);
  const [drain] = drains.list();
  expect(drain).toMatchObject({ state: "failing", refused_lines: 0, last_error: expect.stringContaining(`${status}`) });
  expect(drain?.oldest_waiting_at).toBeDefined();
  isWrong = false;
  await waitFor("all lines", () => drains.list()[0]?.delivered_lines === 3);
  expect(server.taken).toEqual(["one", "two", "three"]);
  await server.stop();
});

test("the receiver says how long to wait", async () => {
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch: () => new Response("", { status: 429, headers: { "retry-after": "600" } }),
  });
  await drains.put("a", { target: { type: "http", url: `http://127.0.0.1:${server.port}/` } });
  await ingest("one");
  await waitFor("a failure", () => drains.list()[0]?.state === "failing");
  expect(Date.parse(drains.list()[0]?.next_at ?? "") - Date.now()).toBeGreaterThan(500_000);
  await server.stop(true);
});

test("a line that makes a syslog collector hang up is set aside; all others arrive", async () => {
  let got = "";
  const server = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: {
      data(socket, bytes) {
        if (bytes.includes("poison")) socket.terminate();
        else got += bytes.toString();
      },
    },
  });
  await drains.put("a", { target: { type: "syslog", host: "collector.test", port: server.port, tls: false } });
  await ingest("one", "poison", "two");
  await waitFor("the lines", () => got.includes("one") && got.includes("two"));
  await waitFor("the count", () => drains.list()[0]?.refused_lines === 1 && drains.list()[0]?.delivered_lines === 2);
  server.stop(true);
});

test("an S3 drain halves what the storage calls too large", async () => {
  const lines: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const got = Buffer.from(Bun.gunzipSync(await request.arrayBuffer()))
        .toString()
        .trim()
        .split("\n");
      if (got.length > 10) return new Response("<Error><Code>EntityTooLarge</Code></Error>", { status: 400 });
      lines.push(...got);
      return new Response("", { headers: { ETag: '"1"' } });
    },
  });
  const endpoint = `http://127.0.0.1:${server.port}`;
  await drains.put("a", {
    target: { type: "s3", bucket: "logs", endpoint, access_key_id: "KEY", secret_access_key: "SECRET" },
  });
  await ingest(...Array.from({ length: 50 }, (_, at) => `line ${at}`));
  await waitFor("all lines", () => drains.list()[0]?.delivered_lines === 50);
  expect(lines.map((line) => (JSON.parse(line) as { text: string }).text)).toEqual(
    Array.from({ length: 50 }, (_, at) => `line ${at}`),
  );
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
