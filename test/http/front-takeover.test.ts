import { afterEach, expect, test } from "bun:test";
import type { TakeoverHandler } from "../../src/http/server/takeover.ts";
import { echo, eventually, startTestFront, type TestFront } from "../support/front.ts";

let front: TestFront | undefined;
afterEach(async () => {
  await front?.close();
  front = undefined;
});

/** Takes the connection over, says what it was asked, and sends every byte back in upper case; "bye" after FIN. */
function shouting(events: string[]): TakeoverHandler {
  return ({ request, wire, early }) => {
    const shout = (bytes: Uint8Array) => wire.write(Buffer.from(Buffer.from(bytes).toString().toUpperCase()));
    wire.write(Buffer.from(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[${request.path}]`));
    shout(early);
    return {
      data: (chunk) => void shout(chunk),
      drain: () => events.push("drain"),
      end() {
        wire.write(Buffer.from("bye"));
        wire.finish(() => events.push("sent"));
      },
      close: () => events.push("close"),
    };
  };
}

async function start(handler: TakeoverHandler): Promise<TestFront> {
  front = await startTestFront({
    inner: echo,
    takeover: ({ method, path }) => (method === "POST" && path.endsWith("/exec") ? handler : undefined),
  });
  return front;
}

const exec = "POST /pods/a/exec?tty=true HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}";

test("the handler gets the raw connection from the byte after the head, half-close included", async () => {
  const events: string[] = [];
  const it = await start(shouting(events));
  const client = await it.connect();
  await client.send(`${exec}early`);
  await client.until((text) => text.endsWith("[/pods/a/exec]{}EARLY"));
  await client.send("later");
  await client.until((text) => text.endsWith("LATER"));
  client.finish();
  expect(await client.all()).toEndWith("LATERbye");
  await eventually(() => events.includes("close"));
  expect(events).toEqual(["sent", "close"]);
});

test("it also claims the second request of a connection, and other requests go to the app", async () => {
  const it = await start(shouting([]));
  const client = await it.connect();
  await client.send(`GET /first HTTP/1.1\r\nHost: localhost\r\n\r\n${exec}x`);
  const text = await client.until((answers) => answers.endsWith("[/pods/a/exec]{}X"));
  expect(text).toContain('"/first"');
  client.abort();
});

test("the guard comes first", async () => {
  const it = await start(shouting([]));
  const client = await it.connect();
  await client.send(exec.replace("localhost", "evil.example"));
  expect(await client.all()).toStartWith("HTTP/1.1 403 ");
});

test("a session outlives the time-outs of requests", async () => {
  front = await startTestFront({
    inner: echo,
    takeover: () => shouting([]),
    limits: { headReadMs: 30, bodyReadMs: 30, idleMs: 30, drainMs: 30 },
  });
  const client = await front.connect();
  await client.send(exec);
  await Bun.sleep(120);
  await client.send("still");
  await client.until((text) => text.endsWith("STILL"));
  client.abort();
});

test("a large output to a slow client is kept in order, and drain is told", async () => {
  const events: string[] = [];
  const total = 20 * 1024 * 1024;
  const it = await start(({ wire }) => {
    const block = Buffer.alloc(total, "o");
    expect(wire.write(block)).toBe(false);
    expect(wire.unsentBytes).toBeGreaterThan(0);
    return {
      data() {},
      drain() {
        events.push(`drain ${wire.unsentBytes}`);
        wire.write(Buffer.from("end"));
        wire.finish(() => events.push("sent"));
      },
      end() {},
      close() {},
    };
  });
  const client = await it.connect();
  client.pause();
  await client.send(exec);
  await Bun.sleep(50);
  client.resume();
  const text = await client.all();
  expect(text.length).toBe(total + 3);
  expect(text).toEndWith("oend");
  expect(events).toEqual(["drain 0", "sent"]);
});

test("a throw in the handler or in its session closes that connection and no other", async () => {
  const it = await start(({ wire }) => {
    wire.write(Buffer.from("ready"));
    return {
      data() {
        throw new Error("bug in the session");
      },
      drain() {},
      end() {},
      close() {},
    };
  });
  const client = await it.connect();
  await client.send(exec);
  await client.until((text) => text === "ready");
  await client.send("boom");
  expect(await client.all()).toBe("ready");
  expect(JSON.stringify(it.log)).toContain("bug in the session");
  expect((await fetch(`${it.url}/ok`)).status).toBe(200);
});

test("stop ends sessions when the grace is over", async () => {
  const events: string[] = [];
  const it = await start(shouting(events));
  const client = await it.connect();
  await client.send(exec);
  await client.until((text) => text.endsWith("{}"));
  await it.stop(30);
  await client.all();
  await eventually(() => events.includes("close"));
});
