import { describe, expect, test } from "bun:test";
import { Failure } from "../../../../../src/base/wire/failure.ts";
import { createEngineLink } from "../../../../../src/orchestration/controller/state/engine-link.ts";
import type { PodTable } from "../../../../../src/orchestration/controller/state/pod-table.ts";
import type { Engine } from "../../../../../src/orchestration/engine/engine.ts";
import { createFakeClock } from "../../../../support/fake-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";
import { createTurns } from "../../../../support/turns.ts";

const never = () => new Promise<never>(() => undefined);
const nothing = () => undefined;

const pinged = (ping: () => unknown) => ({ ping: async () => ping() });

/** Events that never come, of a stream that is open or not even that. */
function silent(isOpen: boolean) {
  return (_: AbortSignal, onOpen: () => void): AsyncIterable<never> => {
    if (isOpen) onOpen();
    return { [Symbol.asyncIterator]: () => ({ next: never }) };
  };
}

test.each([
  ["the first ping", { ping: never }, never],
  ["info", { ping: nothing, info: never }, never],
  ["the opening of the event stream", { ping: nothing, info: async () => ({}), events: silent(false) }, never],
  ["the first listing", { ping: nothing, info: async () => ({}), events: silent(true) }, never],
])(
  "a server that stops does not wait for %s of an engine that hangs, and says nothing of it",
  async (_, engine, refreshAll) => {
    const said: string[] = [];
    const link = createEngineLink({
      engine: { resume: nothing, ...engine, ...pinged(engine.ping) } as unknown as Engine,
      pods: { forgetDetails: nothing, refreshAll } as unknown as PodTable,
      clock: createFakeClock(),
      limits: { enginePingMs: 5_000, engineSilenceMs: 10_000 },
      log: { ...silentLog, info: (line) => said.push(line), warn: (line) => said.push(line) },
      onEvent: nothing,
      onHeard: nothing,
      onStart: nothing,
      onUp: () => said.push("up"),
    });
    const stopping = new AbortController();
    const following = link.follow(stopping.signal);
    await Bun.sleep(0);
    stopping.abort();
    await following;
    expect(said).toEqual([]);
  },
);

/** A link to an engine whose pings can be held back, or fail. */
function followed() {
  const clock = createFakeClock();
  const said: string[] = [];
  const suspensions: (() => Failure)[] = [];
  let ping = async (_: AbortSignal): Promise<void> => undefined;
  let resumed = 0;
  const engine = {
    ping: (signal: AbortSignal) => ping(signal),
    info: async () => ({}),
    events: silent(true),
    suspend: (why: () => Failure) => suspensions.push(why),
    resume: () => resumed++,
  };
  const link = createEngineLink({
    engine: engine as unknown as Engine,
    pods: { forgetDetails: nothing, refreshAll: async () => [] } as unknown as PodTable,
    clock,
    limits: { enginePingMs: 5_000, engineSilenceMs: 10_000 },
    log: { ...silentLog, info: (line) => said.push(line), warn: (line) => said.push(line) },
    onEvent: nothing,
    onHeard: nothing,
    onStart: nothing,
    onUp: nothing,
  });
  const stopping = new AbortController();
  const following = link.follow(stopping.signal);
  return {
    link,
    said,
    suspensions,
    resumed: () => resumed,
    answer: (how: typeof ping) => {
      ping = how;
    },
    pass: createTurns(clock).advance,
    async stop() {
      stopping.abort();
      await following;
    },
  };
}

describe("an engine that hangs", () => {
  const hanging = (signal: AbortSignal) =>
    new Promise<void>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

  test("is down after the interval and the limit, in words that say for how long and where to look", async () => {
    const world = followed();
    await world.pass(60_000);
    expect(world.link.up()).toBe(true);
    world.answer(hanging);
    await world.pass(16_000);
    expect(world.link.up()).toBe(false);
    const words =
      "docker has not answered since 2026-01-01T00:01:00Z, it seems to hang; on the server, look at: systemctl status docker, journalctl -u docker";
    expect(world.link.error()).toBe(words);
    expect(() => world.link.require()).toThrow(`the container engine cannot be reached: ${words}`);
    const told = () => world.suspensions.at(-1)?.();
    expect(told()).toMatchObject({ code: "unavailable", reason: "EngineUnavailable" });
    expect(told()?.message).toContain("docker has not answered for 16 s, it seems to hang");
    await world.pass(600_000);
    expect(told()?.message).toContain("for 10 min");
    // Whoever shows it again and again shows the same words as long as it lasts.
    expect(world.link.error()).toBe(words);
    // One line for the turn, whatever the number of tries.
    expect(world.said).toEqual(["engine up", "engine down"]);
    await world.stop();
  });

  test("is up again as soon as it answers the ping that waits", async () => {
    const world = followed();
    await world.pass(1_000);
    const back = Promise.withResolvers<void>();
    world.answer(() => back.promise);
    await world.pass(60_000);
    expect(world.link.up()).toBe(false);
    const before = world.resumed();
    back.resolve();
    await world.pass(1_000);
    expect(world.link.up()).toBe(true);
    expect(world.resumed()).toBeGreaterThan(before);
    expect(world.link.error()).toBeUndefined();
    await world.stop();
  });

  test("and then is killed: what is said is what is true now", async () => {
    const world = followed();
    await world.pass(1_000);
    world.answer(hanging);
    await world.pass(60_000);
    world.answer(() => Promise.reject(new Failure("unavailable", "docker cannot be reached (no socket)")));
    await world.pass(15_000);
    expect(world.link.error()).toBe("docker cannot be reached (no socket)");
    await world.stop();
  });

  test("an engine that answers pings but lists nothing any more is doubted, and the link begins anew", async () => {
    const world = followed();
    await world.pass(1_000);
    world.link.doubt(new Failure("timeout", "docker did not list containers within 30 s"));
    await world.pass(100);
    expect(world.link.up()).toBe(false);
    expect(world.link.error()).toBe("docker did not list containers within 30 s");
    await world.pass(1_000);
    expect(world.link.up()).toBe(true);
    await world.stop();
  });

  test("whether it answers right now is asked apart, in two seconds", async () => {
    const world = followed();
    await world.pass(1_000);
    expect(await world.link.answers()).toBe(true);
    world.answer(hanging);
    const asked = world.link.answers();
    await world.pass(2_000);
    expect(await asked).toBe(false);
    await world.stop();
  });
});
