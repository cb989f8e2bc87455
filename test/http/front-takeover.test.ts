import { afterEach, expect, test } from "bun:test";
import type { TakeoverHandler } from "../../src/base/http/front/takeover.ts";
import { echo, eventually, startTestFront, type TestFront } from "../support/front.ts";

let front: TestFront | undefined;
afterEach(async () => {
  await front?.close();
  front = undefined;
});

/** Takes the connection over, says what it was asked, and sends every byte back in upper case; "bye" after FIN. */
function shouting(events: string[]): TakeoverHandler {
  return ({ request, body, socket, finish }) => {
    const shout = (bytes: Uint8Array) => socket.write(Buffer.from(Buffer.from(bytes).toString().toUpperCase()));
    socket.write(Buffer.from(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n[${request.path}]<${Buffer.from(body)}>`));
    return {
      data: (chunk) => void shout(chunk),
      drain: () => events.push("drain"),
      end() {
        socket.write(Buffer.from("bye"));
        events.push("end");
        finish();
      },
      close: () => events.push("close"),
      retire: () => events.push("retire"),
    };
  };
}

async function start(handler: TakeoverHandler): Promise<TestFront> {
  front = await startTestFront({
    app: echo,
    takeover: ({ method, path }) => (method === "POST" && path.endsWith("/exec") ? handler : undefined),
  });
  return front;
}

const exec = "POST /pods/a/exec?tty=true HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n{}";

test("the handler gets the body, and the raw connection from the byte after it, half-close included", async () => {
  const events: string[] = [];
  const it = await start(shouting(events));
  const client = await it.connect();
  await client.send(`${exec}early`);
  await client.until((text) => text.endsWith("[/pods/a/exec]<{}>EARLY"));
  await client.send("later");
  await client.until((text) => text.endsWith("LATER"));
  client.finish();
  expect(await client.all()).toEndWith("LATERbye");
  expect(events).toEqual(["end"]);
});

test("it also claims the second request of a connection, and other requests go to the app", async () => {
  const it = await start(shouting([]));
  const client = await it.connect();
  await client.send(`GET /first HTTP/1.1\r\nHost: localhost\r\n\r\n${exec}x`);
  const text = await client.until((answers) => answers.endsWith("[/pods/a/exec]<{}>X"));
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
    app: echo,
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
  const it = await start(({ socket, finish }) => {
    const block = Buffer.alloc(total, "o");
    expect(socket.write(block)).toBe(false);
    expect(socket.unsentBytes).toBeGreaterThan(0);
    return {
      data() {},
      drain() {
        events.push(`drain ${socket.unsentBytes}`);
        socket.write(Buffer.from("end"));
        finish();
      },
      end() {},
      close() {},
      retire() {},
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
  expect(events).toEqual(["drain 0"]);
});

test("a throw in the handler or in its session closes that connection and no other", async () => {
  const it = await start(({ socket }) => {
    socket.write(Buffer.from("ready"));
    return {
      data() {
        throw new Error("bug in the session");
      },
      drain() {},
      end() {},
      close() {},
      retire() {},
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
  await client.until((text) => text.endsWith("<{}>"));
  await it.stop(30);
  await client.all();
  await eventually(() => events.includes("close"));
  expect(events).toEqual(["retire", "close"]);
});

test("the body may be chunked and come in pieces; what follows it belongs to the session", async () => {
  const it = await start(shouting([]));
  const client = await it.connect();
  await client.send("POST /pods/a/exec HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab");
  await client.send("c\r\n0\r\n\r\nnext");
  await client.until((text) => text.endsWith("<abc>NEXT"));
  client.abort();
});

test("the body of a session keeps the limits of every body", async () => {
  front = await startTestFront({ app: echo, takeover: () => shouting([]), limits: { bodyBytesMax: 10 } });
  const declared = await front.connect();
  await declared.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 11\r\n\r\n");
  expect(await declared.all()).toStartWith("HTTP/1.1 413 ");
  const chunked = await front.connect();
  await chunked.send("POST /a HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nb\r\n01234567890");
  expect(await chunked.all()).toStartWith("HTTP/1.1 413 ");
  const unfinished = await front.connect();
  await unfinished.send("POST /a HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nab");
  unfinished.finish();
  expect(await unfinished.all()).toStartWith("HTTP/1.1 400 ");
});

test("a handler may refuse, and then hears nothing more", async () => {
  const heard: string[] = [];
  const it = await start(({ refuse }) => {
    refuse({ status: 404, message: "no such pod" });
    return {
      data: () => void heard.push("data"),
      drain: () => void heard.push("drain"),
      end: () => void heard.push("end"),
      close: () => void heard.push("close"),
      retire: () => void heard.push("retire"),
    };
  });
  const client = await it.connect();
  await client.send(`${exec}GET / HTTP/1.1\r\nHost: localhost\r\n\r\n`);
  client.finish();
  const text = await client.all();
  expect(text).toStartWith("HTTP/1.1 404 Not Found\r\n");
  expect(text).toEndWith('{"status":"error","error":"no such pod","code":"not_found"}\n');
  expect(heard).toEqual([]);
});

test("a session that finishes late lets a paused reader have everything", async () => {
  front = await startTestFront({
    app: echo,
    takeover: () => (taken) => {
      taken.socket.write(Buffer.alloc(8 * 1024 * 1024, "o"));
      taken.finish();
      return shouting([])(taken);
    },
    limits: { idleMs: 30, drainMs: 30 },
  });
  const client = await front.connect();
  client.pause();
  await client.send(exec);
  await Bun.sleep(150);
  client.resume();
  expect((await client.all()).length).toBeGreaterThanOrEqual(8 * 1024 * 1024);
});

test("a FIN that came with a pipelined session request is told after its bytes", async () => {
  const events: string[] = [];
  const it = await start(shouting(events));
  const client = await it.connect();
  await client.send(`GET /first HTTP/1.1\r\nHost: localhost\r\n\r\n${exec}x`);
  client.finish();
  expect(await client.all()).toEndWith("[/pods/a/exec]<{}>Xbye");
});
