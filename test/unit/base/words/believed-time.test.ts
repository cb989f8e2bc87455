import { expect, test } from "bun:test";
import { createBelievedTime } from "../../../../src/base/words/believed-time.ts";
import { createFakeClock, testEpoch } from "../../../support/fake-clock.ts";

const hour = 3_600_000;
const year = 366 * 24 * hour;

function place() {
  const clock = createFakeClock();
  const believed = createBelievedTime(clock, { jumpMs: 600_000, holdMs: 24 * hour });
  /** How far it is from the start, after so much more time. */
  const after = (ms: number) => {
    clock.moveTo(clock.steady() + ms);
    return believed() - testEpoch;
  };
  return { clock, after };
}

test("time passes as the clock says, also where it is adjusted by minutes", () => {
  const { clock, after } = place();
  expect(after(hour)).toBe(hour);
  clock.jump(300_000);
  expect(after(0)).toBe(hour + 300_000);
});

test("a clock that was set ahead is believed after a day; until then time goes on as before", () => {
  const { clock, after } = place();
  clock.jump(year);
  expect([after(hour), after(22 * hour), after(2 * hour)]).toEqual([hour, 23 * hour, year + 25 * hour]);
});

test("one that is right again is believed at once, and so is one that was set back", () => {
  const { clock, after } = place();
  clock.jump(year);
  expect(after(hour)).toBe(hour);
  clock.jump(-year);
  expect(after(hour)).toBe(2 * hour);
  clock.jump(-year);
  expect(after(hour)).toBe(3 * hour - year);
});

test("each time that it is set ahead, the day begins again", () => {
  const { clock, after } = place();
  clock.jump(year);
  after(12 * hour);
  clock.jump(year);
  expect(after(13 * hour)).toBe(25 * hour);
});
