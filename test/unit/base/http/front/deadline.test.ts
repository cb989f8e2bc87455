import { expect, test } from "bun:test";
import { createDeadline } from "../../../../../src/base/http/front/deadline.ts";

/** The order in which things happen, never how long they take. */
function recorder() {
  const events: string[] = [];
  return { events, deadline: createDeadline(() => events.push("passed")) };
}

test("passes once", async () => {
  const { events, deadline } = recorder();
  deadline.set(1);
  await Bun.sleep(30);
  expect(events).toEqual(["passed"]);
});

test("moved later, it passes at the later time and once", async () => {
  const { events, deadline } = recorder();
  deadline.set(1);
  deadline.set(60_000);
  await Bun.sleep(30);
  expect(events).toEqual([]);
  deadline.set(1);
  await Bun.sleep(30);
  expect(events).toEqual(["passed"]);
  deadline.cancel();
});

test("moved earlier, it does not wait for the first time", async () => {
  const { events, deadline } = recorder();
  deadline.set(60_000);
  deadline.set(1);
  await Bun.sleep(30);
  expect(events).toEqual(["passed"]);
});

test("cleared or cancelled, it does not pass; set again after clear, it does", async () => {
  const { events, deadline } = recorder();
  deadline.set(1);
  deadline.clear();
  await Bun.sleep(30);
  expect(events).toEqual([]);
  deadline.set(1);
  await Bun.sleep(30);
  expect(events).toEqual(["passed"]);
  deadline.set(1);
  deadline.cancel();
  await Bun.sleep(30);
  expect(events).toEqual(["passed"]);
});
