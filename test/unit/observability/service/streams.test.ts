import { expect, test } from "bun:test";
import { observabilityLimits } from "../../../../src/config/observability-limits.ts";
import { createStreams } from "../../../../src/observability/service/streams.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { waitFor } from "../../../support/wait.ts";

const grant = (id: string, more: { expiresAt?: number; session?: string } = {}) => ({
  ...{ id, name: undefined, scopes: ["read" as const], apps: [], expiresAt: undefined },
  ...more,
});

function start(limits: { streamsPerTokenMax?: number; streamsMax?: number } = {}) {
  const clock = createFakeClock();
  const streams = createStreams({ clock, limits: { ...observabilityLimits, ...limits } });
  return { clock, streams };
}

test("a cut ends the streams of one token and of no other", () => {
  const { streams } = start();
  const [one, two, other] = [streams.open(grant("a")), streams.open(grant("a")), streams.open(grant("b"))];
  streams.cut("a");
  expect([one, two, other].map(({ signal }) => signal.aborted)).toEqual([true, true, false]);
  expect(streams.count()).toBe(1);
});

test("a session that ends leaves those of its token alone", () => {
  const { streams } = start();
  const [browser, program] = [streams.open(grant("a", { session: "s" })), streams.open(grant("a"))];
  streams.cutSession("s");
  expect([browser.signal.aborted, program.signal.aborted]).toEqual([true, false]);
});

test("a client that leaves and a stream that is over make room", () => {
  const { streams } = start({ streamsPerTokenMax: 2 });
  const left = new AbortController();
  const gone = streams.open(grant("a"), left.signal);
  streams.open(grant("a")).close();
  left.abort();
  expect([gone.signal.aborted, streams.count()]).toEqual([true, 0]);
  const late = streams.open(grant("a"), left.signal);
  expect([late.signal.aborted, streams.count()]).toEqual([true, 0]);
});

test("one token cannot take all, and all together have a limit", () => {
  const { streams } = start({ streamsPerTokenMax: 2, streamsMax: 3 });
  streams.open(grant("a"));
  streams.open(grant("a"));
  expect(() => streams.open(grant("a"))).toThrow("this token has 2 streams open");
  streams.open(grant("b"));
  expect(() => streams.open(grant("c"))).toThrow("there are 3 streams open");
});

test("streams end with the time of their token, and with the server", async () => {
  const { clock, streams } = start();
  const stop = new AbortController();
  const running = streams.run(stop.signal);
  await Bun.sleep(0);
  // While none is open, nothing is looked at.
  expect(clock.sleepers).toBe(0);
  const short = streams.open(grant("a", { expiresAt: clock.now() + 5_000 }));
  const long = streams.open(grant("b"));
  await waitFor("a look", () => clock.sleepers === 1);
  clock.moveTo(clock.steady() + 5_000);
  await waitFor("the end of the short one", () => short.signal.aborted);
  expect(long.signal.aborted).toBe(false);
  streams.shut();
  expect([long.signal.aborted, streams.count()]).toEqual([true, 0]);
  stop.abort();
  await running;
});
