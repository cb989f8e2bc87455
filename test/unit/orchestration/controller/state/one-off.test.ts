import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import type { Context } from "../../../../../src/orchestration/controller/state/context.ts";
import { createLogReaders } from "../../../../../src/orchestration/controller/state/log-readers.ts";
import {
  type OneOffResult,
  type OneOffRun,
  outlive,
  runOneOff,
} from "../../../../../src/orchestration/controller/state/one-off.ts";
import { naming } from "../../../../../src/orchestration/core/naming.ts";
import { containerSpec } from "../../../../support/container-spec.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { fixtureImage } from "../../../../support/manifests.ts";
import { type World, world } from "../../../../support/world.ts";
import type { PodRef } from "../../../../../src/orchestration/engine/pod.ts";

const names = naming();
const { label } = names;
const labels = { [label.kind]: "job", [label.scope]: "shop", [label.name]: "tidy", [label.role]: "job" };
const spec = containerSpec({ name: "tidy.1", image: fixtureImage, labels });

let it: World;
let context: Context;
let never: AbortSignal;
beforeEach(async () => {
  it = await world();
  never = new AbortController().signal;
  const logReaders = createLogReaders();
  context = { engine: it.engine, clock: it.clock, names, closing: never, logReaders } as unknown as Context;
});
afterEach(() => it.close());

/** Begins a run in the background. */
function begin(change: Partial<OneOffRun> = {}) {
  const state: { result?: OneOffResult; error?: unknown; text: string } = { text: "" };
  const onOutput = (bytes: Uint8Array) => {
    state.text += Buffer.from(bytes).toString();
  };
  const done = runOneOff(context, { spec, timeoutMs: undefined, signal: never, onOutput, ...change });
  void done.then(
    (result) => {
      state.result = result;
    },
    (error) => {
      state.error = error;
    },
  );
  return { state, done };
}

async function* endless(): AsyncGenerator<Uint8Array> {
  for (;;) yield Uint8Array.of(1);
}

const container = () => it.runtime.containers().find(({ name }) => name === "tidy.1");

test("a container whose start an engine's end left half done makes way for another one, which runs the command", async () => {
  const half = await it.runtime.create(spec);
  it.runtime.fail(
    "start",
    new Failure("unavailable", "task already exists", { reason: "EngineUnavailable", anew: true }),
    1,
  );
  const { state } = begin();
  await it.advance(1_000);
  expect(it.runtime.containers().map(({ id, state: now }) => [id === half.id, now])).toEqual([[false, "running"]]);
  it.runtime.finish("tidy.1", 0);
  await it.quiet();
  expect(state.result).toMatchObject({ end: "exited", exitCode: 0 });
});

describe("a container that runs to its end", () => {
  test("gives its exit code, its times and its last lines, and is gone", async () => {
    const { state } = begin();
    await it.advance(3_000);
    it.runtime.writeLog("tidy.1", "one\ntwo\n");
    it.runtime.finish("tidy.1", 4);
    await it.quiet();
    expect(state).toMatchObject({
      text: "one\ntwo\n",
      result: { end: "exited", exitCode: 4, oomKilled: false, tail: ["one", "two"] },
    });
    expect((state.result?.endedAt ?? 0) - (state.result?.startedAt ?? 0)).toBe(3_000);
    expect(container()).toBeUndefined();
  });

  test("stays for those who read its output, for ten seconds at most", async () => {
    const stop = new AbortController();
    const read = () => context.logReaders.reading("tidy.1", stop.signal, async () => endless());
    const first = (await read())[Symbol.asyncIterator]();
    await first.next();
    const { state } = begin();
    await it.advance(10);
    it.runtime.finish("tidy.1", 0);
    await it.advance(9_000);
    expect([container()?.state, state.result]).toEqual(["exited", undefined]);
    await first.return?.();
    await it.quiet();
    expect([container(), state.result?.exitCode]).toEqual([undefined, 0]);

    await read();
    const late = begin();
    await it.advance(10);
    it.runtime.finish("tidy.1", 0);
    await it.advance(10_100);
    expect([container(), late.state.result?.exitCode]).toEqual([undefined, 0]);

    const third = begin();
    await it.advance(10);
    it.runtime.finish("tidy.1", 0);
    await it.quiet();
    expect(container()).toBeDefined();
    // A client that has left before it read anything.
    stop.abort();
    await it.quiet();
    expect([container(), third.state.result?.exitCode]).toEqual([undefined, 0]);
  });

  test("tells its id when it is there, and its end before it is gone", async () => {
    const told: string[] = [];
    begin({
      onStarted: async ({ id }) => void told.push(`started ${id === container()?.id}`),
      onEnded: async ({ exitCode }) => void told.push(`ended ${exitCode} ${container()?.state}`),
    });
    await it.quiet();
    it.runtime.finish("tidy.1", 0);
    await it.quiet();
    expect(told).toEqual(["started true", "ended 0 exited"]);
  });

  test("stays when its end could not be written down: the next one finds it", async () => {
    const { done } = begin({ onEnded: () => Promise.reject(new Error("disk full")) });
    const failed = done.catch((error: Error) => error.message);
    await it.quiet();
    it.runtime.finish("tidy.1", 0);
    await it.quiet();
    expect(await failed).toBe("disk full");
    expect(container()?.state).toBe("exited");
  });

  test("says when memory ran out", async () => {
    const { state } = begin();
    await it.quiet();
    it.runtime.crash("tidy.1", 137, { oomKilled: true });
    await it.quiet();
    expect(state.result).toMatchObject({ exitCode: 137, oomKilled: true });
  });

  test("keeps a hundred lines of many", async () => {
    const { state } = begin();
    await it.quiet();
    it.runtime.writeLog("tidy.1", Array.from({ length: 5_000 }, (_, line) => `${line}\n`).join(""));
    it.runtime.finish("tidy.1", 0);
    await it.quiet();
    expect([state.result?.tail.length, state.result?.tail.at(-1)]).toEqual([100, "4999"]);
  });
});

describe("an end that is brought about", () => {
  test("by its limit", async () => {
    const { state } = begin({ timeoutMs: 5_000 });
    await it.advance(4_999);
    expect(container()?.state).toBe("running");
    await it.advance(2);
    expect(state.result).toMatchObject({ end: "timed_out", exitCode: 143 });
    expect(container()).toBeUndefined();
  });

  test.each([-3_600_000, 3_600_000])("by its limit, though the clock is set by %d ms meanwhile", async (jump) => {
    const { state } = begin({ timeoutMs: 5_000 });
    await it.advance(1_000);
    it.clock.jump(jump);
    await it.advance(3_000);
    expect(container()?.state).toBe("running");
    await it.advance(2_000);
    expect(state.result?.end).toBe("timed_out");
  });

  test("by who asked for it", async () => {
    const cancel = new AbortController();
    const { state } = begin({ signal: cancel.signal });
    await it.advance(1_000);
    cancel.abort();
    await it.quiet();
    expect([state.result?.end, container()]).toEqual(["cancelled", undefined]);
  });
});

describe("a container of that name", () => {
  test("that runs already is taken up, with all it has said", async () => {
    const leave = new AbortController();
    const first = begin({ leave: leave.signal });
    await it.quiet();
    const id = container()?.id;
    it.runtime.writeLog("tidy.1", "before\n");
    leave.abort();
    await expectFailure(first.done, "unavailable");
    expect(container()).toMatchObject({ id: id ?? "", state: "running" });
    const second = begin();
    await it.quiet();
    it.runtime.writeLog("tidy.1", "after\n");
    it.runtime.finish("tidy.1", 0);
    await it.quiet();
    expect(second.state).toMatchObject({ text: "before\nafter\n", result: { exitCode: 0 } });
    expect(it.runtime.calls.filter((call) => call.startsWith("create"))).toHaveLength(1);
  });

  test("that was made and never started is started", async () => {
    const id = await it.runtime.create(spec);
    const { state } = begin();
    await it.quiet();
    expect(container()).toMatchObject({ ...id, state: "running" });
    it.runtime.finish("tidy.1", 0);
    await it.quiet();
    expect(state.result?.end).toBe("exited");
  });

  test("that the engine made a moment after it was asked for by a server that died is taken up", async () => {
    const id = await it.runtime.create(spec);
    let asked = 0;
    const inspect: typeof it.runtime.inspect = async (name) => (asked++ === 0 ? undefined : it.runtime.inspect(name));
    context = { ...context, engine: { ...it.runtime, inspect } };
    const { state } = begin();
    await it.quiet();
    expect(container()).toMatchObject({ ...id, state: "running" });
    it.runtime.finish("tidy.1", 0);
    await it.quiet();
    expect(state.result?.end).toBe("exited");
  });

  test("that is somebody else's is left alone", async () => {
    await it.runtime.create({ ...spec, labels: { ...labels, [label.name]: "other" } });
    const failure = await expectFailure(begin().done, "conflict");
    expect(failure.message).toBe('the container name "tidy.1" is in use by somebody else');
    expect(container()?.state).toBe("created");
  });

  test("has only the rest of its time", async () => {
    const leave = new AbortController();
    const first = begin({ timeoutMs: 10_000, leave: leave.signal });
    await it.advance(8_000);
    leave.abort();
    await expectFailure(first.done, "unavailable");
    const { state } = begin({ timeoutMs: 10_000 });
    await it.advance(2_500);
    expect(state.result?.end).toBe("timed_out");
  });
});

describe("an engine that goes away", () => {
  test("in the middle costs neither the end nor a word, and nothing is told twice", async () => {
    const { state } = begin();
    await it.quiet();
    it.runtime.writeLog("tidy.1", "one\n");
    await it.quiet();
    it.runtime.engineDown();
    await it.advance(5_000);
    it.runtime.engineUp();
    await it.advance(2_000);
    it.runtime.writeLog("tidy.1", "two\n");
    await it.quiet();
    it.runtime.finish("tidy.1", 0);
    await it.quiet();
    expect(state).toMatchObject({ text: "one\ntwo\n", result: { exitCode: 0, tail: ["one", "two"] } });
  });
});

describe("an engine that is slow to say that it has started a container", () => {
  test("does not get it removed: the next try takes it up", async () => {
    const { runtime } = it;
    const slow = async (pod: PodRef) => {
      await runtime.start(pod);
      throw new Failure("timeout", "docker did not start it in time");
    };
    await expectFailure(
      runOneOff(
        { ...context, engine: { ...runtime, start: slow } },
        { spec, timeoutMs: undefined, signal: never, onOutput: () => undefined },
      ),
      "timeout",
    );
    const first = container();
    expect(first?.state).toBe("running");
    const { state } = begin();
    await it.quiet();
    expect(container()?.id).toBe(first?.id ?? "");
    it.runtime.finish("tidy.1", 0);
    await it.quiet();
    expect(state.result?.exitCode).toBe(0);
  });
});

describe("what an earlier server left", () => {
  const run = (timeoutMs: number) => outlive(context, it.engine.named("tidy.1"), { timeoutMs, leave: never });

  test("is waited for and removed", async () => {
    await it.runtime.start(await it.runtime.create(spec));
    const over = run(60_000);
    await it.advance(30_000);
    expect(container()?.state).toBe("running");
    it.runtime.finish("tidy.1", 0);
    await over;
    expect(container()).toBeUndefined();
  });

  test("is ended when its time is up", async () => {
    await it.runtime.start(await it.runtime.create(spec));
    const over = run(60_000);
    await it.advance(61_000);
    await over;
    expect(container()).toBeUndefined();
  });

  test("is removed where it never ran", async () => {
    await it.runtime.create(spec);
    await run(60_000);
    expect(container()).toBeUndefined();
  });
});
