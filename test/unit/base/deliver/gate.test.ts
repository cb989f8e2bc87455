import { expect, test } from "bun:test";
import { createGate } from "../../../../src/base/deliver/gate.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { thrownBy } from "../../../support/failure.ts";

function gateWorld() {
  const clock = createFakeClock();
  const state = { held: true, begun: 0 };
  const gate = createGate({ heldBy: () => (state.held ? "wait; first: berth x" : undefined), clock, lookMs: 1_000 });
  const loop = gate.whenOpen(async () => {
    state.begun += 1;
  });
  const pass = async (ms: number) => {
    clock.moveTo(clock.steady() + ms);
    await Bun.sleep(0);
  };
  return { clock, state, gate, loop, pass };
}

test("a loop begins when the gate opens, and the gate closes again when another server acts", async () => {
  const { state, gate, loop, pass } = gateWorld();
  const running = loop(new AbortController().signal);
  await pass(1_000);
  expect([state.begun, gate.isOpen()]).toEqual([0, false]);
  state.held = false;
  await pass(1_000);
  await running;
  state.held = true;
  expect([state.begun, gate.isOpen()]).toEqual([1, false]);
});

test("a loop that is aborted before never begins, and leaves no timer", async () => {
  const { clock, state, loop } = gateWorld();
  const stopping = new AbortController();
  const running = loop(stopping.signal);
  stopping.abort();
  await running;
  expect([state.begun, clock.sleepers]).toEqual([0, 0]);
});

test("what is asked for while it is closed is refused, and the text says what to do", async () => {
  const { state, gate } = gateWorld();
  const refused = await thrownBy(async () => gate.mustBeOpen("jobs do not run"));
  expect(String(refused)).toContain("jobs do not run: wait; first: berth x");
  state.held = false;
  gate.mustBeOpen("jobs do not run");
});
