import { connect } from "node:net";
import { afterEach, describe, expect, test } from "bun:test";
import { type Pipe, pipeOf } from "../../../../../src/orchestration/engine/docker/pipe.ts";
import { waitFor } from "../../../../support/wait.ts";

type Peer = Bun.Socket<undefined>;
const open: { stop(): void }[] = [];
afterEach(() => {
  for (const { stop } of open.splice(0)) stop();
});

/** A pipe with the other end in hand. `received` is what that end got; it reads unless paused. */
async function pair(onOpen: (peer: Peer) => void = () => undefined) {
  const state = { received: "", finished: false, drained: () => undefined as unknown };
  const opened = Promise.withResolvers<Peer>();
  const server = Bun.listen<undefined>({
    hostname: "127.0.0.1",
    port: 0,
    allowHalfOpen: true,
    socket: {
      open: (peer) => {
        onOpen(peer);
        opened.resolve(peer);
      },
      data: (_peer, bytes) => {
        state.received += bytes.toString("latin1");
      },
      drain: () => void state.drained(),
      end: () => {
        state.finished = true;
      },
    },
  });
  const socket = connect({ host: "127.0.0.1", port: server.port, allowHalfOpen: true });
  const pipe = pipeOf(socket);
  open.push({ stop: () => server.stop(true) }, { stop: pipe.close });
  return { pipe, peer: await opened.promise, state };
}

async function readAll(pipe: Pipe): Promise<string> {
  let text = "";
  for (;;) {
    const bytes = await pipe.read();
    if (bytes === undefined) return text;
    text += Buffer.from(bytes).toString("latin1");
  }
}

describe("pipeOf", () => {
  test("reads to the end", async () => {
    const { pipe, peer } = await pair();
    peer.write("hello");
    const bytes = await pipe.read();
    expect(Buffer.from(bytes ?? []).toString()).toBe("hello");
    peer.write("world");
    peer.shutdown();
    expect(await readAll(pipe)).toBe("world");
    expect(await pipe.read()).toBeUndefined();
    expect(pipe.ended()).toBe(true);
    await pipe.end;
  });

  test("a reader that does not read makes the other side wait, and loses nothing", async () => {
    const { pipe, peer, state } = await pair();
    const total = 16 * 1024 * 1024;
    let left = total;
    const send = () => {
      left -= Math.max(peer.write(Buffer.alloc(left)), 0);
      if (left === 0) peer.shutdown();
    };
    state.drained = send;
    send();
    await Bun.sleep(200);
    expect(left).toBeGreaterThan(0);
    expect((await readAll(pipe)).length).toBe(total);
  });

  test("writes whole and in order to a peer that is slow, and then finishes", async () => {
    const { pipe, state } = await pair((peer) => {
      peer.pause();
      setTimeout(() => peer.resume(), 200);
    });
    const blocks = ["a", "b", "c"].map((letter) => letter.repeat(2_000_000));
    const taken = Promise.all(blocks.map((block) => pipe.write(Buffer.from(block))));
    pipe.finish();
    expect(await taken).toEqual([true, true, true]);
    await waitFor("the end", () => state.finished);
    expect(state.received).toBe(blocks.join(""));
  });

  test("after finish it still reads", async () => {
    const { pipe, peer, state } = await pair();
    pipe.finish();
    await waitFor("the end", () => state.finished);
    peer.write("late");
    peer.shutdown();
    expect(await readAll(pipe)).toBe("late");
  });

  test("a write that cannot be done any more says so, and nobody waits for ever", async () => {
    const { pipe } = await pair((peer) => peer.pause());
    const stuck = pipe.write(Buffer.alloc(32 * 1024 * 1024));
    const reading = pipe.read();
    pipe.close();
    expect(await stuck).toBe(false);
    expect(await reading).toBeUndefined();
    expect(await pipe.write(Buffer.from("x"))).toBe(false);
    pipe.finish();
    pipe.close();
  });

  test("an arrival is what can be read, or the end", async () => {
    const { pipe, peer } = await pair();
    let isHeard = false;
    const heard = pipe.arrival().then(() => (isHeard = true));
    await Bun.sleep(20);
    expect(isHeard).toBe(false);
    peer.write("x");
    await heard;
    // It is there until it is read.
    await pipe.arrival();
    expect(Buffer.from((await pipe.read()) ?? []).toString()).toBe("x");
    const end = pipe.arrival();
    peer.shutdown();
    await end;
    await pipe.arrival();
    expect(await pipe.read()).toBeUndefined();
  });

  test("what has arrived is read after a close too", async () => {
    const { pipe, peer } = await pair();
    peer.write("kept");
    await pipe.arrival();
    pipe.close();
    expect(await readAll(pipe)).toBe("kept");
  });

  test("an abandoned one reads nothing, and holds nobody up", async () => {
    const { pipe, peer, state } = await pair();
    const total = 16 * 1024 * 1024;
    let left = total;
    const send = () => {
      left -= Math.max(peer.write(Buffer.alloc(left)), 0);
      if (left === 0) peer.shutdown();
    };
    state.drained = send;
    send();
    await Bun.sleep(50);
    pipe.abandon();
    expect(await pipe.read()).toBeUndefined();
    await pipe.end;
    expect(left).toBe(0);
  });
});
