import { expect, test } from "bun:test";
import { logLimits } from "../../../../../src/config/log-limits.ts";
import { createLogThread } from "../../../../../src/observability/service/logs/log-thread.ts";
import type { ToLogThread } from "../../../../../src/observability/service/logs/messages.ts";
import { createFakeClock } from "../../../../support/fake-clock.ts";
import { expectFailure } from "../../../../support/failure.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const { store, capture, search, room } = logLimits;

/** A thread that hears everything and answers nothing. */
function silentThread() {
  const clock = createFakeClock();
  const heard: ToLogThread["type"][] = [];
  const thread = createLogThread({
    start: () => ({ post: ({ type }) => heard.push(type), end: () => heard.push("close") }),
    setup: { folder: "", store, capture, search },
    limits: room,
    clock,
    log: silentLog,
  });
  return { clock, heard, thread };
}

test("a close refuses what waits for an answer, and leaves no timer", async () => {
  const { clock, thread } = silentThread();
  const asked = expectFailure(thread.ask("drain", { id: "a" }), "unavailable");
  const ended = new Promise((resolve) =>
    thread.follow({ terms: [] } as never, 0, { onLines: () => undefined, onEnd: resolve }),
  );
  const closing = thread.close();
  clock.moveTo(clock.steady() + room.closeMs);
  await closing;
  expect((await asked).message).toBe("the logs are closed: the server is stopping");
  expect(String(await ended)).toContain("the logs are closed");
  await Bun.sleep(0);
  expect(clock.sleepers).toBe(0);
});

test("what is asked after a close began is refused at once", async () => {
  const { clock, heard, thread } = silentThread();
  const closing = thread.close();
  await expectFailure(thread.ask("drain", { id: "a" }), "unavailable");
  expect(() => thread.follow({} as never, 0, { onLines: () => undefined, onEnd: () => undefined })).toThrow("closed");
  expect(heard).not.toContain("drain");
  clock.moveTo(clock.steady() + room.closeMs);
  await closing;
  expect(clock.sleepers).toBe(0);
});
