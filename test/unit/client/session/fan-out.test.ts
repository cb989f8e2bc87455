import { expect, test } from "bun:test";
import { ApiError } from "../../../../src/base/wire/client.ts";
import type { Told } from "../../../../src/base/words/fresh-lines.ts";
import { CommandFailure } from "../../../../src/client/basics/failures.ts";
import type { PodRecord } from "../../../../src/orchestration/api/pods.ts";
import { type FanOutSetup, followAll, type LogStart, readAll } from "../../../../src/client/session/fan-out.ts";
import { pod } from "../../../support/cli.ts";

interface Open {
  name: string;
  start: LogStart;
  end(): void;
  fail(error: unknown): void;
  bytes(): void;
  told: Told;
}

/** Rounds are made by hand: `rounds[n]` says what happens before listing n; the last one stops. */
function scene(rounds: ((it: { opened: Open[]; show(...pods: PodRecord[]): void }) => void)[], change = {}) {
  const opened: Open[] = [];
  const notes: string[] = [];
  const stop = new AbortController();
  let pods: PodRecord[] = [];
  let round = -1;
  let broken: unknown;
  let now = 1_700_000_000_000;
  const show = (...shown: PodRecord[]) => {
    pods = shown;
  };
  const setup: FanOutSetup = {
    async list() {
      round += 1;
      rounds[round]?.({ opened, show });
      await Promise.resolve();
      if (round >= rounds.length) stop.abort();
      if (broken !== undefined) throw broken;
      return stop.signal.aborted ? [] : pods;
    },
    read: (name, start, { onBytes, told = { at: "", count: 0 } }) =>
      new Promise((resolve, reject) => {
        opened.push({ name, start, end: resolve, fail: reject, bytes: onBytes, told });
      }),
    serverNow: () => now,
    note: (text) => notes.push(text),
    passing: (error) => error instanceof ApiError || error instanceof CommandFailure,
    clock: {
      now: () => now,
      sleep: async () => {
        now += 2_000;
        await new Promise((resolve) => setImmediate(resolve));
      },
    },
    signal: stop.signal,
    pollMs: 2_000,
    streamsMax: 3,
    single: () => false,
    ...change,
  };
  return {
    opened,
    notes,
    setup,
    breakList: (error: unknown) => {
      broken = error;
    },
    starts: () => opened.map(({ name, start }) => [name, start]),
  };
}

const one = pod("shop-web.a1", { created_at: "c1", started_at: "2026-01-01T00:00:00.000Z" }) as PodRecord;
const two = pod("shop-web.b2", { created_at: "c2", started_at: "2026-01-01T00:00:00.000Z" }) as PodRecord;

test("all pods of the first listing begin where asked, those that join later at their beginning", async () => {
  const it = scene([({ show }) => show(one), ({ show }) => show(one, two), () => undefined]);
  await followAll(it.setup, { tail: "5" });
  expect(it.starts()).toEqual([
    [one.name, { tail: "5" }],
    [two.name, {}],
  ]);
  expect(it.notes).toEqual([`${two.name} joined`]);
});

test("without pods it waits; the first to come begin where asked", async () => {
  const it = scene([() => undefined, () => undefined, ({ show }) => show(one), ({ show }) => show(one)]);
  await followAll(it.setup, { since: "10m" });
  expect(it.starts()).toEqual([[one.name, { since: "10m" }]]);
  expect(it.notes[0]).toBe("no pods yet, waiting for them");
});

test("the next run of the same container goes on where the last one was left", async () => {
  const again = { ...one, started_at: "2026-01-01T00:00:20.000Z" };
  const it = scene([
    ({ show }) => show(one),
    ({ opened }) => opened[0]?.end(),
    ({ show }) => show(again),
    () => undefined,
  ]);
  it.setup.serverNow = () => Date.parse("2026-01-01T00:00:19.000Z");
  await followAll(it.setup, {});
  expect(it.starts().slice(1)).toEqual([[one.name, { since: "2026-01-01T00:00:19.000Z" }]]);
});

test("a run that began long after is read from shortly before its start", async () => {
  const again = { ...one, started_at: "2026-01-01T01:00:00.000Z" };
  const it = scene([
    ({ show }) => show(one),
    ({ opened }) => opened[0]?.end(),
    ({ show }) => show(again),
    () => undefined,
  ]);
  it.setup.serverNow = () => Date.parse("2026-01-01T00:00:19.000Z");
  await followAll(it.setup, {});
  expect(it.starts().slice(1)).toEqual([[one.name, { since: "2026-01-01T00:59:58.000Z" }]]);
});

test("a new container under the same name is read whole", async () => {
  const anew = { ...one, created_at: "c9" };
  const it = scene([
    ({ show }) => show(one),
    ({ opened }) => opened[0]?.end(),
    ({ show }) => show(anew),
    () => undefined,
  ]);
  await followAll(it.setup, { tail: "0" });
  expect(it.starts()).toEqual([
    [one.name, { tail: "0" }],
    [one.name, {}],
  ]);
});

test("one that ended and does not run is left alone; one that is gone and comes back is new", async () => {
  const stopped = { ...one, running: false, state: "exited" };
  const it = scene([
    ({ show }) => show(one),
    ({ opened, show }) => {
      opened[0]?.end();
      show(stopped);
    },
    () => undefined,
    ({ show }) => show(),
    ({ show }) => show(one),
    () => undefined,
  ]);
  await followAll(it.setup, {});
  expect(it.starts()).toEqual([
    [one.name, {}],
    [one.name, {}],
  ]);
});

test("a stream that breaks is taken up at its last piece", async () => {
  const it = scene([
    ({ show }) => show(one),
    () => undefined,
    ({ opened }) => {
      opened[0]?.bytes();
      opened[0]?.fail(new ApiError(503, "restarting"));
    },
    () => undefined,
  ]);
  await followAll(it.setup, { tail: "1" });
  expect(it.starts()).toEqual([
    [one.name, { tail: "1" }],
    [one.name, { since: new Date(1_700_000_000_000 + 4_000).toISOString() }],
  ]);
});

test("a stream that breaks is taken up at its last line, whose time the server gave", async () => {
  const it = scene([
    ({ show }) => show(one),
    ({ opened }) => {
      Object.assign(opened[0]?.told ?? {}, { at: "2026-01-01T00:00:07.123456789", count: 2 });
      opened[0]?.fail(new ApiError(503, "restarting"));
    },
    () => undefined,
  ]);
  await followAll(it.setup, {});
  expect(it.starts()[1]).toEqual([one.name, { since: "2026-01-01T00:00:07.123Z" }]);
  expect(it.opened[1]?.told).toBe(it.opened[0]?.told as Told);
});

test("a fault that will not pass ends it", async () => {
  const it = scene([({ show }) => show(one), ({ opened }) => opened[0]?.fail(new Error("bad since")), () => undefined]);
  await expect(followAll(it.setup, {})).rejects.toThrow("bad since");
});

test("a server that does not answer is told once, and its return", async () => {
  const it = scene([
    ({ show }) => show(one),
    () => it.breakList(new CommandFailure("cannot reach the server", 4)),
    () => undefined,
    () => it.breakList(undefined),
  ]);
  await followAll(it.setup, {});
  expect(it.notes).toEqual(["the server does not answer, still trying", "the server is back"]);
});

test("a server that answers what is wrong is quoted", async () => {
  const it = scene([
    ({ show }) => show(one),
    () => it.breakList(new ApiError(503, "docker has not answered for 15 s")),
    () => undefined,
    () => it.breakList(undefined),
  ]);
  await followAll(it.setup, {});
  expect(it.notes).toEqual(["docker has not answered for 15 s, still trying", "that is over"]);
});

test("no more streams than allowed; another joins when one ends", async () => {
  const pods = ["a", "b", "c", "d"].map((id) => pod(`shop-web.${id}`) as PodRecord);
  const it = scene([({ show }) => show(...pods), () => undefined, ({ opened }) => opened[0]?.end(), () => undefined]);
  await followAll(it.setup, {});
  expect(it.opened.map(({ name }) => name)).toEqual(["shop-web.a", "shop-web.b", "shop-web.c", "shop-web.d"]);
});

test("runs of a job that have ended end it", async () => {
  const run = pod("shop-job.r1", { kind: "job", role: "job" }) as PodRecord;
  const it = scene([
    ({ show }) => show(run),
    ({ opened, show }) => {
      opened[0]?.end();
      show({ ...run, running: false });
    },
    ...Array.from({ length: 20 }, () => () => undefined),
  ]);
  await followAll(it.setup, {});
  expect(it.setup.signal.aborted).toBe(false);
});

test("one replica that is gone for good ends it; one with an ordinal is waited for", async () => {
  const rounds = (record: PodRecord) => [
    ({ show }: { show(...pods: PodRecord[]): void }) => show(record),
    ({ opened, show }: { opened: Open[]; show(...pods: PodRecord[]): void }) => {
      opened[0]?.end();
      show();
    },
    ...Array.from({ length: 5 }, () => () => undefined),
  ];
  const replica = scene(rounds(one), { single: () => true });
  await followAll(replica.setup, {});
  expect(replica.setup.signal.aborted).toBe(false);
  const ordinal = scene(rounds({ ...one, kind: "statefulset" }), { single: () => true });
  await followAll(ordinal.setup, {});
  expect(ordinal.setup.signal.aborted).toBe(true);
});

test("reading what there is goes one after the other and stops at a fault", async () => {
  const read: string[] = [];
  const it = scene([({ show }) => show(one, two)], {
    read: async (name: string) => {
      read.push(name);
      if (name === two.name) throw new Error("gone");
    },
  });
  await expect(readAll(it.setup, [one.name, two.name], {})).rejects.toThrow("gone");
  expect(read).toEqual([one.name, two.name]);
});
