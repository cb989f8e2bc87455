import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createFrameReader, encodeFrame, type Frame, frameTypes } from "../../src/orchestration/api/exec-frames.ts";
import { type Duplex, duplexHandlers } from "../../src/base/words/duplex.ts";
import { limits } from "../../src/config/config.ts";
import { eventually } from "../support/front.ts";
import type { RawClient } from "../support/raw-client.ts";
import { type Plane, startPlane } from "../support/socket-plane.ts";
import { waitFor } from "../support/wait.ts";

const pod = "s-db.0";
let plane: Plane;
/** What listens in the pod, which shares the machine's network. */
let program: (connection: Duplex) => Promise<void>;
let listener: Bun.TCPSocketListener<never>;

beforeAll(async () => {
  plane = await startPlane({ limits: { ...limits, forwardsMax: 2, forwardBytesMax: 64 * 1024 } });
  await plane.pod(pod, {}, { networkMode: "host", networks: [] });
  const socket = duplexHandlers(64 * 1024, (connection) => void program(connection));
  listener = Bun.listen({ hostname: "127.0.0.1", port: 0, allowHalfOpen: true, socket }) as never;
});
afterAll(async () => {
  listener.stop(true);
  await plane.close();
});

async function open(name = pod, query = `?port=${listener.port}`): Promise<RawClient> {
  const client = await plane.front.connect();
  await client.send(`POST /pods/${name}/forward${query} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n`);
  return client;
}

function framesOf(text: string): { kind: string; text: string }[] {
  const { frames } = createFrameReader().push(Buffer.from(text.slice(text.indexOf("\r\n\r\n") + 4), "latin1"));
  return frames.map(({ type, payload }: Frame) => ({
    kind: Object.entries(frameTypes).find(([, value]) => value === type)?.[0] ?? "?",
    text: Buffer.from(payload).toString(),
  }));
}

const stdin = (text: string) => encodeFrame(frameTypes.stdin, Buffer.from(text));
const finished = { kind: "stdout", text: "" };
const exit = { kind: "exit", text: '{"exit_code":0}' };

async function textOf(connection: Duplex): Promise<string> {
  let text = "";
  for await (const bytes of connection.incoming) text += Buffer.from(bytes).toString();
  return text;
}

describe("bytes", () => {
  test("go both ways, and each side finishes by itself: the client first", async () => {
    program = async (connection) => {
      await connection.write(Buffer.from("hello"));
      await connection.write(Buffer.from(`got ${await textOf(connection)}`));
      connection.finish();
    };
    const client = await open();
    await client.until((text) => framesOf(text).length === 1);
    await client.send(Buffer.concat([stdin("a"), stdin("b"), stdin("")]));
    const text = await client.all();
    expect(text).toStartWith("HTTP/1.1 200 OK\r\n");
    expect(framesOf(text)).toEqual([
      { kind: "stdout", text: "hello" },
      { kind: "stdout", text: "got ab" },
      finished,
      exit,
    ]);
    client.abort();
  });

  test("go on to a pod that has finished before", async () => {
    const got = Promise.withResolvers<string>();
    program = async (connection) => {
      connection.finish();
      got.resolve(await textOf(connection));
    };
    const client = await open();
    await client.until((text) => framesOf(text).length === 1);
    await client.send(Buffer.concat([stdin("late"), stdin("")]));
    expect(await got.promise).toBe("late");
    expect(framesOf(await client.all())).toEqual([finished, exit]);
    client.abort();
  });

  test("wait for a client that does not read", async () => {
    let taken = 0;
    const over = Promise.withResolvers<void>();
    program = async (connection) => {
      const part = Buffer.alloc(256 * 1024);
      for (; taken < 64 && (await connection.write(part)); taken += 1);
      over.resolve();
    };
    const client = await open();
    await client.until((text) => text.includes("\r\n\r\n"));
    client.pause();
    let before = -1;
    // Standing still: nothing was taken between two looks.
    await eventually(() => {
      const still = taken === before && taken > 0;
      before = taken;
      return still;
    });
    expect(taken).toBeLessThan(64);
    client.abort();
    await over.promise;
  });
});

describe("ends", () => {
  test("a client that leaves without a word breaks the connection to the pod", async () => {
    const broken = Promise.withResolvers<boolean>();
    program = async (connection) => {
      await textOf(connection);
      broken.resolve(connection.broken);
    };
    const client = await open();
    await client.until((text) => text.includes("\r\n\r\n"));
    client.finish();
    expect(await broken.promise).toBe(true);
    client.abort();
  });

  test("a connection that the pod breaks off ends with the reason", async () => {
    program = async (connection) => {
      await connection.write(Buffer.from("half"));
      for await (const _ of connection.incoming) connection.terminate();
    };
    const client = await open();
    await client.send(stdin("x"));
    const frames = framesOf(await client.all());
    expect(frames.at(-1)).toEqual({ kind: "error", text: expect.stringContaining("broke off") });
    client.abort();
  });
});

describe("refused in the envelope", () => {
  test.each([
    ["no port", pod, "", 400, "query port: is required"],
    ["a bad port", pod, "?port=70000", 400, '70000\\" is not 1 to 65535'],
    ["an unknown parameter", pod, "?port=1&x=1", 400, "x"],
    ["a bad name", "..%2fetc", "?port=1", 400, "pod name"],
    ["an unknown pod", "s-db.9", "?port=1", 404, 'no container \\"s-db.9\\"'],
    ["a port where nothing listens", pod, "?port=1", 409, "nothing listens on port 1 of s-db.0"],
  ])("%s", async (_, name, query, status, words) => {
    const text = await (await open(name, query)).all();
    expect(text).toStartWith(`HTTP/1.1 ${status} `);
    expect(text).toContain(words);
  });

  test("one more than the limit, until one has ended", async () => {
    program = async (connection) => {
      await textOf(connection);
      connection.finish();
    };
    const [first, second] = [await open(), await open()];
    for (const client of [first, second]) await client.until((text) => text.includes("200 OK"));
    expect(await (await open()).all()).toStartWith("HTTP/1.1 429 ");
    first.abort();
    await waitFor("a free connection", async () => {
      const client = await open();
      const isOpen = (await client.until((text) => text.includes("\r\n"))).includes("200 OK");
      client.abort();
      return isOpen;
    });
    second.abort();
  });

  test("connections that are open together are one event", async () => {
    const { events } = plane.controller.events({ limit: 100 });
    const forwards = events.filter(({ action }) => action === "pod.forward");
    expect(forwards.length).toBeGreaterThan(0);
    expect(forwards[0]).toMatchObject({ detail: { pod, port: listener.port } });
  });
});
