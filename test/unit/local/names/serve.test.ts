import { afterEach, expect, test } from "bun:test";
import { connect } from "node:net";
import { dnsTypes, query, readAnswer } from "../../../../src/base/pure/dns-message.ts";
import { answerTo, type NameServer, serveNames } from "../../../../src/local/names/serve.ts";
import { waitFor } from "../../../support/wait.ts";

const zone = { suffix: "berth", short: new Set<string>(), search: [], subnets: ["127.0.0.0/8"] };
const limits = { connectionsMax: 2, clientConnectionsMax: 2, connectionSeconds: 5, queryBytesMax: 1_232 };
let server: NameServer | undefined;
afterEach(() => server?.close());

/** Another program may have the TCP port of a free UDP port: then another one is taken. */
const open = async (subnets = zone.subnets, more = {}) => {
  const options = {
    hostname: "127.0.0.1",
    port: 0,
    zone: () => ({ ...zone, subnets }),
    limits: { ...limits, ...more },
  };
  const opened = await waitFor("a free port", () => serveNames(options));
  server = opened;
  return opened;
};

/** Sends datagrams, and resolves with all that came back until the last one was answered. */
async function exchange(port: number, ...messages: Uint8Array[]): Promise<Uint8Array[]> {
  const answers: Uint8Array[] = [];
  const socket = await Bun.udpSocket({ socket: { data: (_, message) => void answers.push(Uint8Array.from(message)) } });
  for (const message of messages) socket.send(message, port, "127.0.0.1");
  socket.send(query(99, "last.berth", dnsTypes.a), port, "127.0.0.1");
  await waitFor("the last answer", () => answers.some((answer) => readAnswer(answer, 99) !== undefined));
  socket.close();
  return answers.slice(0, -1);
}

async function overTcp(port: number, bytes: Uint8Array): Promise<{ got: Buffer; isOver: boolean }> {
  const state = { got: Buffer.alloc(0), isOver: false };
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data(_, part) {
        state.got = Buffer.concat([state.got, part]);
      },
      close() {
        state.isOver = true;
      },
      error() {},
    },
  });
  for (const byte of bytes) socket.write(Uint8Array.of(byte));
  await waitFor("an answer or the end", () => state.isOver || state.got.length > 2);
  socket.terminate();
  return state;
}

const framed = (message: Uint8Array) =>
  Buffer.concat([Uint8Array.of(message.length >> 8, message.length & 255), message]);

test("names below the suffix do not exist, and others are refused", async () => {
  const { port } = await open();
  const [own, other] = await exchange(port, query(1, "db.dev.berth", 1), query(2, "example.com", 1));
  expect(readAnswer(own ?? new Uint8Array(), 1)).toEqual({ code: 3, isOwn: true });
  expect(readAnswer(other ?? new Uint8Array(), 2)).toEqual({ code: 5, isOwn: false });
});

test("responses and long queries are not answered", async () => {
  const { port } = await open();
  const response = query(1, "db.berth", 1);
  response[2] = 0x80;
  const long = Buffer.concat([query(2, "db.berth", 1), new Uint8Array(limits.queryBytesMax)]);
  expect(await exchange(port, response, long, new Uint8Array(3), new Uint8Array(0))).toEqual([]);
});

test("only addresses of the network are answered", () => {
  const asked = query(1, "db.berth", 1);
  expect(answerTo({ ...zone, subnets: ["172.18.0.0/16"] }, "172.19.0.2", asked)).toBeUndefined();
  expect(answerTo({ ...zone, subnets: ["172.18.0.0/16"] }, "172.18.0.2", asked)).toBeDefined();
});

test("over TCP a query may come in pieces, and several in one connection", async () => {
  const { port } = await open();
  const { got } = await overTcp(
    port,
    Buffer.concat([framed(query(1, "db.berth", 1)), framed(query(2, "example.com", 1))]),
  );
  expect(got.readUInt16BE(0)).toBeGreaterThan(12);
  expect(readAnswer(got.subarray(2), 1)).toEqual({ code: 3, isOwn: true });
});

test("over TCP what is too long, or comes from elsewhere, ends the connection", async () => {
  const { port } = await open();
  expect(await overTcp(port, Uint8Array.of(0xff, 0xff))).toMatchObject({ isOver: true });
  server?.close();
  const other = await open(["10.0.0.0/8"]);
  expect(await overTcp(other.port, framed(query(1, "db.berth", 1)))).toMatchObject({ isOver: true });
});

test("connections beyond the limit are refused until others end, and a silent one ends", async () => {
  const { port } = await open(zone.subnets, { connectionSeconds: 0.3 });
  const over = [false, false, false];
  const silent = over.map((_, index) =>
    Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: {
        data() {},
        error() {},
        close() {
          over[index] = true;
        },
      },
    }),
  );
  await Promise.all(silent);
  await waitFor("all to end", () => over.every(Boolean));
  expect(readAnswer((await overTcp(port, framed(query(1, "x.berth", 1)))).got.subarray(2), 1)).toBeDefined();
});

test("one client cannot hold all connections, and one from elsewhere holds none", async () => {
  const hold = async (port: number, localAddress: string) => {
    const held = connect({ host: "127.0.0.1", port, localAddress });
    held.on("error", () => undefined);
    const isServed = await new Promise<boolean>((done) => {
      held.on("close", () => done(false));
      held.on("data", () => done(true));
      held.on("connect", () => held.write(framed(query(1, "db.berth", 1))));
    });
    return { held, isServed };
  };
  const { port } = await open(["127.0.0.0/30"], { connectionsMax: 3 });
  const served = [];
  for (const address of ["127.0.0.9", "127.0.0.2", "127.0.0.2", "127.0.0.2", "127.0.0.3"])
    served.push(await hold(port, address));
  for (const { held } of served) held.destroy();
  expect(served.map(({ isServed }) => isServed)).toEqual([false, true, true, false, true]);
});
