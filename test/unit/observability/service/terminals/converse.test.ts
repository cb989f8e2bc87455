import { expect, test } from "bun:test";
import { createLog } from "../../../../../src/base/words/log.ts";
import { converse } from "../../../../../src/observability/service/terminals/converse.ts";
import { createFakeClock } from "../../../../support/fake-clock.ts";
import { fakeCommand } from "../../../../support/fake-command.ts";
import { waitFor } from "../../../../support/wait.ts";

const limits = { idleMs: 60_000, lifeMs: 600_000, inputBytesMax: 1_024 };

function start() {
  const command = fakeCommand();
  const clock = createFakeClock();
  const ends: string[] = [];
  const closes: (number | undefined)[] = [];
  const socket = { answer: 1, sent: 0 };
  const end = converse({
    ...{ limits, clock, tty: true, signal: new AbortController().signal, log: createLog(() => undefined, "error") },
    start: async () => command.session,
    ended: (outcome) => void ends.push(outcome),
  });
  end.opened({
    send() {
      socket.sent += 1;
      return socket.answer;
    },
    close: (code) => void closes.push(code),
  });
  return { command, clock, ends, closes, socket, end };
}

test("a client that does not read stops the reading of the output until it has drained", async () => {
  const { command, socket, end, ends } = start();
  socket.answer = -1;
  for (let count = 0; count < 10; count += 1) command.print("x".repeat(1_000));
  await waitFor("the first part", () => socket.sent === 1);
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  expect([socket.sent, command.taken()]).toEqual([1, 1]);
  socket.answer = 1;
  end.drained();
  await waitFor("the rest", () => command.taken() === 10);
  command.exit(0);
  await waitFor("the end", () => ends.length === 1);
});

test("a client that goes while the output waits for it ends the command, once", async () => {
  const { command, socket, end, ends } = start();
  socket.answer = -1;
  command.print("x");
  await waitFor("the first part", () => socket.sent === 1);
  end.closed();
  end.closed();
  await waitFor("the end", () => ends.length === 1);
  expect([ends, command.killed()]).toEqual([["the client left"], true]);
});

test("a terminal has a longest life, however much moves in it", async () => {
  const { command, clock, ends, closes } = start();
  const turns = async () => {
    for (let turn = 0; turn < 5; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  };
  for (let step = 0; step < 20; step += 1) {
    command.print("tick");
    await turns();
    expect([step, ends]).toEqual([step, []]);
    clock.moveTo(clock.steady() + limits.idleMs / 2);
    await turns();
  }
  await waitFor("the end", () => ends.length === 1);
  expect(ends[0]).toContain("a terminal ends after");
  expect(closes).toEqual([1008]);
  expect(command.killed()).toBe(true);
});

test.each([
  ["text", "hello", "text messages are not frames"],
  ["a frame that is too long", new Uint8Array([0, 0xff, 0xff, 0xff, 0xff]), "is too long"],
])("%s ends the terminal", async (_, data, text) => {
  const { command, end, ends } = start();
  await waitFor("the command", () => command.taken() === 0);
  end.received(data);
  await waitFor("the end", () => ends.length === 1);
  expect(ends[0]).toContain(text);
  expect(command.killed()).toBe(true);
});
