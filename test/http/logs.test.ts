import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Failure } from "../../src/base/wire/failure.ts";
import type { LogOptions } from "../../src/orchestration/engine/session.ts";
import { createRecordingController } from "../support/recording-controller.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { limits } from "../../src/config/config.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createLog } from "../../src/base/words/log.ts";
import { eventually, startTestFront, type TestFront } from "../support/front.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";
import { connectRaw, type RawClient } from "../support/raw-client.ts";
import { podRef } from "../../src/orchestration/engine/identity.ts";

const pod = "s-web.ab1cd";
let plane: Plane;

beforeAll(async () => {
  plane = await startPlane();
  await plane.pod(pod);
  plane.runtime.writeLog(pod, "one\ntwo\nthree\n");
});
afterAll(() => plane.close());

const get = (query = "", name = pod) => fetch(`${plane.front.url}/pods/${name}/logs${query}`);
const text = (query = "", version = "1.1") =>
  `GET /pods/${pod}/logs${query} HTTP/${version}\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n`;

async function open(query: string): Promise<RawClient> {
  const client = await plane.front.connect();
  await client.send(text(query));
  return client;
}

describe("reading", () => {
  test("is plain text with the container's name, chunked, as the pod wrote it", async () => {
    const response = await get();
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("x-berth-container")).toBe(pod);
    expect(response.headers.get("transfer-encoding")).toBe("chunked");
    expect(await response.text()).toBe("one\ntwo\nthree\n");
  });

  test("tail", async () => {
    expect(await (await get("?tail=2")).text()).toBe("two\nthree\n");
    expect(await (await get("?tail=0")).text()).toBe("");
    expect(await (await get("?tail=%202%20")).text()).toBe("two\nthree\n");
  });

  test("HTTP/1.0 gets it unchunked, until the connection ends", async () => {
    const client = await plane.front.connect();
    await client.send(text("", "1.0"));
    const answer = await client.all();
    expect(answer).not.toContain("Transfer-Encoding");
    expect(answer).toEndWith("\r\n\r\none\ntwo\nthree\n");
  });

  test("HEAD gets the head", async () => {
    const client = await plane.front.connect();
    await client.send(text().replace("GET", "HEAD"));
    expect(await client.all()).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n$/);
  });

  test("a half-close does not cut what is read to its end", async () => {
    const client = await open("");
    client.finish();
    expect(await client.all()).toContain("three\n");
  });

  test("a request logs its line", async () => {
    await (await get("?tail=1")).text();
    const line = plane.log.findLast(({ message }) => message === "request");
    expect(line).toMatchObject({ method: "GET", path: `/pods/${pod}/logs`, status: 200, actor: "operator" });
  });
});

describe("refused, in the envelope", () => {
  test.each<[string, string, number]>([
    ["?tail=-1", pod, 400],
    ["?tail=all", pod, 400],
    ["?follow=yes", pod, 400],
    ["?timestamps=2", pod, 400],
    ["?since=yesterday", pod, 400],
    ["?since=-5m", pod, 400],
    ["", "s-web.gone", 404],
    ["?follow=true", "s-web.gone", 404],
    ["", "..%2fx", 400],
  ])("%s of %s is %d", async (query, name, status) => {
    const response = await get(query, name);
    expect(response.status).toBe(status);
    expect(((await response.json()) as { status: string }).status).toBe("error");
  });

  test.each([
    ["logs", ""],
    ["inspect", "?follow=true"],
  ] as const)("an engine that fails (%s)", async (call, query) => {
    plane.runtime.fail(call, new Failure("unavailable", "engine gone", { retryAfterSeconds: 2 }), 1);
    const response = await get(query);
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "2"]);
  });
});

describe("following", () => {
  test("the head comes before a silent pod says anything, then each line as it is written, and nothing in between", async () => {
    const client = await open("?follow=true&tail=0");
    const head = await client.until((answer) => answer.endsWith("\r\n\r\n"));
    plane.runtime.writeLog(pod, "unfinished");
    await client.until((answer) => answer.endsWith("a\r\nunfinished\r\n"));
    plane.runtime.writeLog(pod, " line\n");
    const all = await client.until((answer) => answer.endsWith(" line\n\r\n"));
    expect(all).toBe(`${head}a\r\nunfinished\r\n6\r\n line\n\r\n`);
    client.abort();
  });

  test("ends with the container, as a complete answer", async () => {
    await plane.pod("s-web.short");
    const response = await get("?follow=true", "s-web.short");
    plane.runtime.writeLog("s-web.short", "last words\n");
    await plane.runtime.stop(podRef("s-web.short"), { graceMs: 0 });
    expect(await response.text()).toBe("last words\n");
  });

  test.each<[string, (client: RawClient) => void]>([
    ["reset", (client) => client.abort()],
    ["FIN", (client) => client.finish()],
  ])("a client that leaves by %s ends the reader of a silent pod at once", async (_how, leave) => {
    const { front, readers } = await scripted(async function* (signal) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      yield new Uint8Array(0);
    });
    const client = await front.connect();
    await client.send(text("?follow=true"));
    await client.until((answer) => answer.endsWith("\r\n\r\n"));
    expect(readers.open).toBe(1);
    leave(client);
    await eventually(() => readers.open === 0);
    await front.close();
  });

  test("a server that stops breaks it off, without waiting for it", async () => {
    const { front } = await scripted(async function* (signal) {
      await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
      yield new Uint8Array(0);
    });
    const client = await front.connect();
    await client.send(text("?follow=true"));
    await client.until((answer) => answer.endsWith("\r\n\r\n"));
    await front.stop(60_000);
    expect(await client.all()).toEndWith("\r\n\r\n");
    await front.close();
  });
});

test("a stream that breaks is no complete answer", async () => {
  const { front } = await scripted(async function* () {
    yield Buffer.from("some");
    throw new Failure("unavailable", "the engine went away");
  });
  const client = await front.connect();
  await client.send(text());
  const answer = await client.all();
  expect(answer).toEndWith("4\r\nsome\r\n");
  await front.close();
});

test("a slow reader pulls no more than fits, and loses nothing", async () => {
  const block = Buffer.alloc(64 * 1024, "l");
  const blocks = 1_600;
  let given = 0;
  const { front } = await scripted(async function* () {
    for (; given < blocks; given += 1) yield block;
  });
  const client = await connectRaw(front.tcp, { keep: false });
  client.pause();
  await client.send(text());
  let before = -1;
  while (before !== given || given === 0) {
    before = given;
    await Bun.sleep(30);
  }
  expect(given).toBeLessThan(blocks / 4);
  client.resume();
  await client.all();
  expect(client.receivedBytes).toBeGreaterThan(block.length * blocks);
  await front.close();
});

test.each(["/logs?scope=s&follow=true", "/logs?scope=s", `/pods/${pod}/logs?follow=true`, `/pods/${pod}/logs`])(
  "HEAD %s leaves nobody who reads",
  async (path) => {
    const readers: AbortSignal[] = [];
    const opened = (signal: AbortSignal) => {
      readers.push(signal);
      return (async function* () {
        await new Promise(() => undefined);
        yield Buffer.from("never");
      })();
    };
    const { controller } = createRecordingController({
      podLogs: async (_name, { signal }) => opened(signal),
      scopeLogs: async (_target, { signal }) => ({ names: ["a"], bytes: opened(signal) }),
    });
    const log = createLog(() => undefined, "error");
    const app = createOrchestrationApp({ controller, version: "test", names: naming(), log, limits });
    const front = await startTestFront({ app: app.fetch, takeover: app.takeover });
    const client = await front.connect();
    await client.send(`HEAD ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`);
    expect(await client.all()).toStartWith("HTTP/1.1 200 OK\r\n");
    expect(readers.length).toBe(1);
    await eventually(() => readers.every((signal) => signal.aborted));
    await front.close();
  },
);

test("options reach the controller; since is a time, seconds, or a while back", async () => {
  const { front, asked } = await scripted(async function* () {});
  const since = async (value: string) => {
    await (await fetch(`${front.url}/pods/${pod}/logs?since=${encodeURIComponent(value)}`)).text();
    return asked.at(-1)?.since ?? Number.NaN;
  };
  expect(await since("2026-01-31T13:05:00.5+01:00")).toBe(Date.UTC(2026, 0, 31, 12, 5, 0, 500));
  expect(await since("1700000000.25")).toBe(1_700_000_000_250);
  const back = await since("1h30m");
  expect(Math.abs(Date.now() - 5_400_000 - back)).toBeLessThan(10_000);
  await (await fetch(`${front.url}/pods/${pod}/logs?timestamps=true&tail=5`)).text();
  expect(asked.at(-1)).toMatchObject({ follow: false, tail: 5, since: undefined, timestamps: true });
  await front.close();
});

describe("GET /logs", () => {
  const { label } = naming();
  const labels = (scope: string, name: string, replica: string, kind = "deployment") => ({
    [label.kind]: kind,
    [label.scope]: scope,
    [label.name]: name,
    [label.replicaId]: replica,
  });
  const merged = (query: string) => fetch(`${plane.front.url}/logs?${query}`);
  const start = async (name: string, ...identity: Parameters<typeof labels>) => {
    await plane.pod(name, labels(...identity));
    await waitFor(`${name} to be listed`, async () =>
      (await plane.controller.listPods({}, { detail: false, spec: false })).pods.some((row) => row.name === name),
    );
  };
  const follow = async (query: string) => {
    const client = await plane.front.connect();
    await client.send(`GET /logs?follow=true&${query} HTTP/1.0\r\nHost: localhost\r\n\r\n`);
    await client.until((answer) => answer.includes("\r\n\r\n"));
    return client;
  };

  test("has all containers of a scope, jobs too, and names them in a header", async () => {
    await start("all-web.a", "all", "web", "a");
    await start("all-web.b", "all", "web", "b");
    await start("all-tidy.r1", "all", "tidy", "r1", "job");
    for (const name of ["all-web.a", "all-web.b", "all-tidy.r1"]) plane.runtime.writeLog(name, `1 ${name}\n2`);
    const response = await merged("scope=all");
    expect(response.status).toBe(200);
    expect(response.headers.get("content-type")).toBe("text/plain; charset=utf-8");
    expect(response.headers.get("x-berth-containers")).toBe("all-web.a,all-web.b,all-tidy.r1");
    expect((await response.text()).split("\n").toSorted()).toEqual([
      "",
      "[all-tidy.r1] 1 all-tidy.r1",
      "[all-tidy.r1] 2",
      "[all-web.a] 1 all-web.a",
      "[all-web.a] 2",
      "[all-web.b] 1 all-web.b",
      "[all-web.b] 2",
    ]);
    const web = await merged("scope=all&name=web&tail=1");
    expect(await web.text()).toBe("[all-web.a] 2\n[all-web.b] 2\n");
    expect((await merged("scope=all&kind=job")).headers.get("x-berth-containers")).toBe("all-tidy.r1");
    expect(await (await merged("scope=all&kind=job&tail=1&timestamps=true")).text()).toMatch(
      /^\[all-tidy\.r1\] \d{4}-\d\d-\d\dT[\d:.]+Z 2\n$/,
    );
  });

  test.each([
    ["scope=nothing", 404, 'no containers in scope "nothing"'],
    ["scope=nothing&follow=true", 404, 'no containers in scope "nothing"'],
    ["scope=nothing&name=web", 404, 'no containers of "nothing/web"'],
    ["scope=nothing&kind=job", 404, 'no containers of kind "job" in scope "nothing"'],
    ["", 400, "scope is required"],
    ["scope=%20", 400, "scope is required"],
    ["scope=all&tail=-1", 400, "tail"],
    ["scope=all&follow=maybe", 400, "follow"],
  ])("%s is a %d in words", async (query, status, words) => {
    const response = await merged(query);
    const body = (await response.json()) as { status: string; error: string };
    expect([response.status, body.status]).toEqual([status, "error"]);
    expect(body.error).toContain(words);
  });

  test("followed: the head comes from silent containers, a line only once it is whole, and none is torn", async () => {
    await start("torn-web.a", "torn", "web", "a");
    await start("torn-web.b", "torn", "web", "b");
    const client = await follow("scope=torn&tail=0");
    plane.runtime.writeLog("torn-web.a", "first ");
    plane.runtime.writeLog("torn-web.b", "other\n");
    plane.runtime.writeLog("torn-web.a", "half\n");
    const all = await client.until((answer) => answer.includes("half"));
    expect(all.slice(all.indexOf("\r\n\r\n") + 4)).toBe("[torn-web.b] other\n[torn-web.a] first half\n");
    client.abort();
  });

  test("followed: who comes later joins in, who ends leaves, and who restarts is read on without a line twice", async () => {
    await start("live-web.a", "live", "web", "a");
    plane.runtime.writeLog("live-web.a", "one\n");
    const client = await follow("scope=live&name=web");
    await client.until((answer) => answer.includes("[live-web.a] one\n"));
    await start("live-other.x", "live", "other", "x");
    await start("live-web.b", "live", "web", "b");
    plane.runtime.writeLog("live-other.x", "not asked for\n");
    plane.runtime.writeLog("live-web.b", "two\n");
    await client.until((answer) => answer.includes("[live-web.b] two\n"));
    plane.runtime.writeLog("live-web.a", "three\n");
    await plane.runtime.stop(podRef("live-web.a"), { graceMs: 0 });
    await client.until((answer) => answer.includes("[live-web.a] three\n"));
    const ended = Date.now();
    await waitFor("the clock to move on", () => Date.now() > ended);
    await plane.runtime.start(podRef("live-web.a"));
    plane.runtime.writeLog("live-web.a", "four\n");
    plane.runtime.writeLog("live-web.b", "five\n");
    const all = await client.until((answer) => answer.includes("four\n") && answer.includes("five\n"));
    for (const word of ["one", "two", "three", "four", "five"]) expect(all.split(` ${word}\n`)).toHaveLength(2);
    expect(all).not.toContain("not asked for");
    client.abort();
  });

  test("followed: an empty line comes whenever nothing has come for a while; one that leaves ends the readers", async () => {
    const readers = new Set<AbortSignal>();
    const { controller } = createRecordingController({
      scopeLogs: async (_target, { signal }) => {
        readers.add(signal);
        return {
          names: ["a", "b"],
          bytes: (async function* () {
            yield Buffer.from("[a] only\n");
            await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
          })(),
        };
      },
    });
    const log = createLog(() => undefined, "error");
    const options = { ...limits, logPingMs: 10 };
    const app = createOrchestrationApp({ controller, version: "test", names: naming(), log, limits: options });
    const front = await startTestFront({ app: app.fetch, takeover: app.takeover });
    const client = await front.connect();
    await client.send("GET /logs?scope=s&follow=true HTTP/1.0\r\nHost: localhost\r\n\r\n");
    const answer = await client.until((all) => all.endsWith("only\n\n\n\n"));
    expect(answer).toContain("Containers: a,b\r\n");
    client.abort();
    await eventually(() => [...readers].every((signal) => signal.aborted));
    await front.close();
  });
});

type Source = (signal: AbortSignal) => AsyncGenerator<Uint8Array>;

/** A plane whose every log comes from `source`. */
async function scripted(source: Source): Promise<{
  front: TestFront;
  readers: { open: number };
  asked: LogOptions[];
}> {
  const readers = { open: 0 };
  const asked: LogOptions[] = [];
  const { controller } = createRecordingController({
    podLogs: async (_name, options) => {
      asked.push(options);
      readers.open += 1;
      return (async function* () {
        try {
          yield* source(options.signal);
        } finally {
          readers.open -= 1;
        }
      })();
    },
  });
  const log = createLog(() => undefined, "error");
  const app = createOrchestrationApp({ controller, version: "test", names: naming(), log, limits });
  return { front: await startTestFront({ app: app.fetch, takeover: app.takeover }), readers, asked };
}
