import { expect, test } from "bun:test";
import { createEngineLink } from "../../../../../src/orchestration/controller/state/engine-link.ts";
import type { PodTable } from "../../../../../src/orchestration/controller/state/pod-table.ts";
import type { Engine } from "../../../../../src/orchestration/engine/engine.ts";
import { createFakeClock } from "../../../../support/fake-clock.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const never = () => new Promise<never>(() => undefined);
const nothing = () => undefined;

/** Events that never come, of a stream that is open or not even that. */
function silent(isOpen: boolean) {
  return (_: AbortSignal, onOpen: () => void): AsyncIterable<never> => {
    if (isOpen) onOpen();
    return { [Symbol.asyncIterator]: () => ({ next: never }) };
  };
}

test.each([
  ["info", { info: never }, never],
  ["the opening of the event stream", { info: async () => ({}), events: silent(false) }, never],
  ["the first listing", { info: async () => ({}), events: silent(true) }, never],
])(
  "a server that stops does not wait for %s of an engine that hangs, and says nothing of it",
  async (_, engine, refreshAll) => {
    const said: string[] = [];
    const link = createEngineLink({
      engine: engine as unknown as Engine,
      pods: { forgetDetails: nothing, refreshAll } as unknown as PodTable,
      clock: createFakeClock(),
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
