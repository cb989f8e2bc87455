import { afterEach, expect, test } from "bun:test";
import type { SocketEnds } from "../../src/base/pure/socket-table.ts";
import type { Refusal } from "../../src/base/http/front/refusal.ts";
import { echo, startTestFront, type TestFront } from "../support/front.ts";
import { connectRaw, type RawClient } from "../support/raw-client.ts";
import { waitFor } from "../support/wait.ts";

let front: TestFront | undefined;
afterEach(async () => {
  await front?.close();
  front = undefined;
});

interface Asked {
  ends: SocketEnds;
  answer: (refusal: Refusal | undefined) => void;
}

/** A front whose clients wait for an answer that the test gives. */
async function start(limits: Parameters<typeof startTestFront>[0]["limits"] = {}) {
  const asked: Asked[] = [];
  let reached = 0;
  const it = await startTestFront({
    app: (request) => {
      reached++;
      return echo(request);
    },
    limits,
    tcp: {
      hostname: "127.0.0.1",
      port: 0,
      admit: (ends) => new Promise((answer) => asked.push({ ends, answer })),
    },
  });
  front = it;
  return { ...it, asked, reached: () => reached };
}

const get = "GET /p HTTP/1.1\r\nHost: localhost\r\n\r\n";
const stranger: Refusal = { status: 403, message: "who are you" };

test("a client is asked about once, by both ends, and all its requests go through", async () => {
  const it = await start();
  const client = await it.connect();
  await client.send(get + get);
  await waitFor("the question", async () => it.asked.length === 1);
  expect(it.reached()).toBe(0);
  const { ends, answer } = it.asked[0] as Asked;
  expect(ends.localAddress).toBe("127.0.0.1");
  expect(it.addresses[0]).toEndWith(`:${ends.localPort}`);
  expect(ends.remoteAddress).toBe("127.0.0.1");
  expect(ends.remotePort).toBeGreaterThan(0);
  answer(undefined);
  await client.until((text) => text.split('"path":"/p"').length === 3);
  await client.send(get);
  await client.until((text) => text.split('"path":"/p"').length === 4);
  expect(it.asked.length).toBe(1);
  client.abort();
});

test("one that is not let in reads why, and nothing of it reaches the app", async () => {
  const it = await start();
  const client = await it.connect();
  await client.send(get);
  await waitFor("the question", async () => it.asked.length === 1);
  it.asked[0]?.answer(stranger);
  const text = await client.all();
  expect(text).toStartWith("HTTP/1.1 403 Forbidden\r\n");
  expect(text).toContain('{"status":"error","error":"who are you","code":"forbidden"}');
  expect(it.reached()).toBe(0);
});

test("a refusal that is held comes later and is no line of the log; a server that stops gives it at once", async () => {
  const holdMs = 60_000;
  const it = await start();
  const [late, soon] = [await it.connect(), await it.connect()];
  for (const client of [late, soon]) await client.send(get);
  await waitFor("the questions", async () => it.asked.length === 2);
  it.asked[0]?.answer({ ...stranger, holdMs });
  it.asked[1]?.answer({ ...stranger, holdMs: 1 });
  expect(await soon.all()).toStartWith("HTTP/1.1 403 Forbidden\r\n");
  expect(it.log.filter(({ message }) => message === "request refused")).toEqual([]);
  const stopped = it.stop(5_000);
  expect(await late.all()).toStartWith("HTTP/1.1 403 Forbidden\r\n");
  await stopped;
  expect(it.reached()).toBe(0);
});

test("a request that ended with FIN before the answer is still answered", async () => {
  const it = await start();
  const client = await it.connect();
  await client.send(get);
  client.finish();
  await waitFor("the question", async () => it.asked.length === 1);
  it.asked[0]?.answer(undefined);
  expect(await client.all()).toContain('"path":"/p"');
});

test("an answer that never comes is a 503", async () => {
  const it = await start({ headReadMs: 100 });
  const client = await it.connect();
  await client.send(get);
  expect(await client.all()).toStartWith("HTTP/1.1 503 ");
  expect(it.reached()).toBe(0);
  it.asked[0]?.answer(undefined);
  expect(it.reached()).toBe(0);
});

test("clients that are not let in take no place from the others, and only a few may linger", async () => {
  const it = await start({ connectionsMax: 2, refusedConnectionsMax: 3, drainMs: 60_000 });
  const strangers: RawClient[] = [];
  for (let count = 1; count <= 6; count++) {
    const client = await it.connect();
    strangers.push(client);
    await waitFor("the question", async () => it.asked.length === count);
    it.asked.at(-1)?.answer(stranger);
    await client.until((text) => text.includes("who are you") || client.closed);
  }
  await waitFor("those of too many to be cut off", async () => strangers.filter(({ closed }) => closed).length >= 3);
  const client = await it.connect();
  await client.send(get);
  await waitFor("the question", async () => it.asked.length === 7);
  it.asked.at(-1)?.answer(undefined);
  await client.until((text) => text.includes('"path":"/p"'));
  for (const other of [...strangers, client]) other.abort();
});

test("nobody is asked on the unix socket", async () => {
  const it = await start();
  const client = await connectRaw(it.unix);
  await client.send(get);
  await client.until((text) => text.includes('"path":"/p"'));
  expect(it.asked).toEqual([]);
  client.abort();
});

test("a server that stops lets go of clients that wait to be let in", async () => {
  const it = await start();
  const client = await it.connect();
  await waitFor("the question", async () => it.asked.length === 1);
  const stopped = it.stop(5_000);
  it.asked[0]?.answer(undefined);
  await stopped;
  await waitFor("the end", async () => client.closed);
});
