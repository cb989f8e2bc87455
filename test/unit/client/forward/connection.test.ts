import { endpointRoute } from "../../../../src/client/basics/endpoint.ts";
import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { targetOf } from "../../../../src/base/wire/client.ts";
import { type Duplex, duplexHandlers } from "../../../../src/base/words/duplex.ts";
import { carry } from "../../../../src/client/forward/connection.ts";
import { listenLocally, type LocalListener } from "../../../../src/client/forward/listener.ts";
import { forwardPort } from "../../../../src/orchestration/api/forward.ts";
import { connectRaw, type RawClient } from "../../../support/raw-client.ts";
import { type Plane, startPlane } from "../../../support/socket-plane.ts";

const pod = "s-db.0";
const highBytes = 64 * 1024;
let plane: Plane;
let program: (connection: Duplex) => Promise<void>;
let inPod: Bun.TCPSocketListener<never>;
let here: LocalListener | undefined;
let outcomes: string[] = [];
let stop: AbortController;

beforeAll(async () => {
  plane = await startPlane();
  // It shares the machine's network.
  await plane.pod(pod, {}, { networkMode: "host", networks: [] });
  const socket = duplexHandlers(highBytes, (connection) => void program(connection));
  inPod = Bun.listen({ hostname: "127.0.0.1", port: 0, allowHalfOpen: true, socket }) as never;
});
afterAll(async () => {
  inPod.stop(true);
  await plane.close();
});
afterEach(() => here?.close());

/** A connection of a program on this machine. */
async function connect(port = inPod.port): Promise<RawClient> {
  outcomes = [];
  stop = new AbortController();
  const target = targetOf(forwardPort.path, { params: { name: pod }, query: { port: String(port) } });
  const call = { route: endpointRoute(plane.front.url), target, headers: {}, signal: stop.signal, answerMs: 5_000 };
  const onConnection = (connection: Duplex) => {
    carry(connection, call).then(
      () => outcomes.push("done"),
      (error: Error) => outcomes.push(error.message),
    );
  };
  here = listenLocally({ address: "127.0.0.1", port: 0, highBytes, onConnection });
  return connectRaw({ hostname: "127.0.0.1", port: here.port });
}

async function textOf(connection: Duplex): Promise<string> {
  let text = "";
  for await (const bytes of connection.incoming) text += Buffer.from(bytes).toString("latin1");
  return text;
}

test("a megabyte each way, with the end of the client's side in between", async () => {
  program = async (connection) => {
    const got = await textOf(connection);
    await connection.write(Buffer.from(got.toUpperCase(), "latin1"));
    connection.finish();
  };
  const client = await connect();
  await client.send("abcdefgh".repeat(128 * 1024));
  client.finish();
  expect(await client.all()).toBe("ABCDEFGH".repeat(128 * 1024));
  client.abort();
});

test("the pod may finish first: what is sent after that still arrives", async () => {
  const got = Promise.withResolvers<string>();
  program = async (connection) => {
    await connection.write(Buffer.from("welcome"));
    connection.finish();
    got.resolve(await textOf(connection));
  };
  const client = await connect();
  expect(await client.all()).toBe("welcome");
  await client.send("late");
  client.finish();
  expect(await got.promise).toBe("late");
});

test("a pod that breaks off breaks the connection here, with the reason", async () => {
  program = async (connection) => {
    for await (const _ of connection.incoming) connection.terminate();
  };
  const client = await connect();
  await client.send("x");
  await client.all();
  expect(outcomes).toEqual([expect.stringContaining(`the connection to port ${inPod.port} of ${pod} broke off`)]);
});

test("a program here that breaks off breaks the connection to the pod, and is no fault", async () => {
  const broken = Promise.withResolvers<boolean>();
  program = async (connection) => {
    await connection.write(Buffer.from("hello"));
    await textOf(connection);
    broken.resolve(connection.broken);
  };
  const client = await connect();
  await client.until((text) => text === "hello");
  client.abort();
  expect(await broken.promise).toBe(true);
  expect(outcomes.filter((text) => text !== "done")).toEqual([]);
});

test("a port where nothing listens breaks the connection here, with what the server says", async () => {
  const client = await connect(1);
  await client.all();
  expect(outcomes).toEqual([expect.stringContaining("nothing listens on port 1 of s-db.0")]);
});

test("Ctrl-C breaks both sides", async () => {
  const broken = Promise.withResolvers<boolean>();
  program = async (connection) => {
    await connection.write(Buffer.from("hello"));
    await textOf(connection);
    broken.resolve(connection.broken);
  };
  const client = await connect();
  await client.until((text) => text === "hello");
  stop.abort();
  expect(await broken.promise).toBe(true);
  await client.all();
});

test("a port that is in use here is named", () => {
  const onConnection = () => undefined;
  expect(() => listenLocally({ address: "127.0.0.1", port: inPod.port, highBytes, onConnection })).toThrow(
    `127.0.0.1:${inPod.port} is in use here: choose another, LOCAL:REMOTE or :REMOTE`,
  );
});
