import { beforeEach, expect, test } from "bun:test";
import { type Generation, generationTags, newestGeneration } from "../../../src/backups/core/generation.ts";
import type { Snapshot } from "../../../src/backups/core/restic-words.ts";
import type { StoredLife } from "../../../src/backups/service/life.ts";
import type { Repository } from "../../../src/backups/service/repository.ts";
import { createTwins } from "../../../src/backups/service/twins.ts";
import { createGate } from "../../../src/base/deliver/gate.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { actsAlone } from "../../support/acts-alone.ts";
import { createFakeClock, type FakeClock } from "../../support/fake-clock.ts";
import { silentLog } from "../../support/silent-log.ts";
import { createTurns } from "../../support/turns.ts";

/** Targets that several servers of one installation share. */
let clock: FakeClock;
let advance: (ms: number) => Promise<void>;
let held: Map<string, Snapshot[]>;
let away: Set<string>;
let locked = false;
let hung: Promise<void> | undefined;

beforeEach(() => {
  clock = createFakeClock();
  advance = createTurns(clock).advance;
  [held, away, hung, locked] = [new Map([["disk", []]]), new Set(), undefined, false];
});

const mark = (target: string, generation: Generation) =>
  held.get(target)?.push({ id: String(clock.now()), at: clock.now(), tags: generationTags(generation) });

function repositoryOf(target: string): Repository {
  const reach = () => {
    if (away.has(target)) throw new Failure("unavailable", "no route to host");
  };
  return {
    snapshots: async () => {
      await hung;
      reach();
      return [...(held.get(target) ?? [])];
    },
    async mark(generation: Generation) {
      reach();
      if (locked) throw new Failure("unavailable", "already locked exclusively", { reason: "Locked" });
      mark(target, generation);
    },
  } as Repository;
}

/** One server; `life` is what its root holds. */
function server(life: StoredLife | null, { isUnconfirmed = false, newLife = (): string => "0a" } = {}) {
  const own = actsAlone(clock, life);
  const seen = { replaced: 0, events: [] as string[] };
  const twins = createTwins({
    ...{ life: own.life, clock, log: silentLog, limits: backupLimits },
    isUnconfirmed: () => isUnconfirmed,
    targets: () => [...held.keys()],
    open: async (target) => repositoryOf(target),
    newLife,
    onReplaced: async () => void seen.replaced++,
    onEvent: async ({ action }) => void seen.events.push(action),
  });
  const gate = createGate({ ...own.life, clock, lookMs: 1_000 });
  return { twins, gate, seen, life: own.life, look: (target = "disk") => twins.look(target, repositoryOf(target)) };
}

const newest = (target = "disk") => newestGeneration(held.get(target) ?? []);

test("a new server writes the first generation, once, and acts", async () => {
  const { look, gate, life } = server(null);
  expect(gate.heldBy()).toContain("are asked whether another server");
  life.expectLook(false);
  await look();
  await look();
  expect([gate.isOpen(), held.get("disk")?.length, newest()]).toMatchObject([true, 1, { number: 1, life: "0a" }]);
});

test("a new server that looks twice at one time does not take itself for another one", async () => {
  let lives = 0;
  const { look, gate, life } = server(null, { newLife: () => String.fromCharCode(122 - lives++) });
  life.expectLook(false);
  await Promise.all([look(), look()]);
  await look();
  expect([gate.isOpen(), new Set(held.get("disk")?.flatMap(({ tags }) => tags.slice(2))).size]).toEqual([true, 1]);
});

test("the old server stops acting within a minute of the restore of a new one, and says what to do", async () => {
  const old = server({ number: 1, life: "aa" });
  mark("disk", { number: 1, life: "aa" });
  const stopping = new AbortController();
  const running = old.twins.run(stopping.signal);
  await advance(1_000);
  expect(old.gate.isOpen()).toBe(true);
  mark("disk", { number: 2, life: "bb" });
  await advance(backupLimits.twinLookMs);
  expect([old.gate.isOpen(), old.seen.replaced]).toEqual([false, 1]);
  expect(old.gate.heldBy()).toMatch(/took this one's place at 2026-.*the target disk; .*: berth backup take-over$/);
  expect(old.look()).rejects.toMatchObject({ code: "conflict" });
  await old.look().catch(() => undefined);
  // Its next life knows it before it looks, and it asks the target no more.
  const again = server(old.life.stored() ?? null);
  expect([again.gate.isOpen(), again.life.heldBy()]).toEqual([false, old.gate.heldBy()]);
  expect(held.get("disk")).toHaveLength(2);
  stopping.abort();
  await running;
});

test("a server that starts waits for its first look, and for a target that is away only so long", async () => {
  mark("disk", { number: 2, life: "bb" });
  const old = server({ number: 1, life: "aa" });
  expect(old.gate.isOpen()).toBe(false);
  const stopping = new AbortController();
  const running = old.twins.run(stopping.signal);
  await advance(0);
  expect(old.gate.heldBy()).toContain("took this one's place");
  stopping.abort();
  await running;

  const { promise, resolve } = Promise.withResolvers<void>();
  hung = promise;
  const lonely = server({ number: 1, life: "aa" });
  const ending = new AbortController();
  const waiting = lonely.twins.run(ending.signal);
  await advance(backupLimits.firstLookMs - 1);
  expect(lonely.gate.isOpen()).toBe(false);
  await advance(1);
  expect(lonely.gate.isOpen()).toBe(true);
  ending.abort();
  resolve();
  await waiting;
});

test("no cron job runs on the old server once a target answers again: it is asked before the first instant", async () => {
  mark("disk", { number: 1, life: "aa" });
  const old = server({ number: 1, life: "aa" });
  const stopping = new AbortController();
  const running = old.twins.run(stopping.signal);
  await advance(0);
  away.add("disk");
  await advance(10 * backupLimits.twinLookMs + 1);
  mark("disk", { number: 2, life: "bb" });
  // While it is away, jobs run: a target that fails stops no server.
  expect(await old.gate.isSurelyOpen()).toBe(true);
  away.clear();
  expect(await old.gate.isSurelyOpen()).toBe(false);
  stopping.abort();
  await running;
});

test("a restored server writes its generation at the other targets too", async () => {
  held.set("vault", []);
  for (const target of ["disk", "vault"]) mark(target, { number: 1, life: "aa" });
  mark("disk", { number: 2, life: "bb" });
  const { look } = server({ number: 2, life: "bb" });
  await look("vault");
  expect(newest("vault")).toMatchObject({ number: 2, life: "bb" });
});

test("a restored server acts a moment after it could write its generation past the lock of the other one", async () => {
  mark("disk", { number: 1, life: "aa" });
  locked = true;
  const { look, gate, life } = server({ number: 2, life: "bb", takenOverAt: clock.now(), unseen: true });
  life.expectLook(false);
  await expect(look()).rejects.toMatchObject({ reason: "Locked" });
  clock.moveTo(clock.steady() + 60 * backupLimits.handoverMs);
  expect([gate.isOpen(), gate.heldBy()]).toEqual([false, expect.stringContaining("has locked the target")]);
  locked = false;
  await look();
  expect([gate.isOpen(), newest()]).toMatchObject([false, { number: 2, life: "bb" }]);
  clock.moveTo(clock.steady() + backupLimits.handoverMs);
  expect(gate.isOpen()).toBe(true);
});

test("a state that was restored from a file on a new machine neither acts nor writes before it is told to", async () => {
  const fresh = server(null, { isUnconfirmed: true });
  await fresh.look();
  expect(held.get("disk")).toEqual([]);
  mark("disk", { number: 3, life: "aa" });
  await fresh.look().catch(() => undefined);
  expect([fresh.gate.isOpen(), newest()?.life]).toEqual([false, "aa"]);

  fresh.life.expectLook(false);
  const done = await fresh.twins.takeOver("ann");
  expect(done).toMatchObject({ number: 4, targets: ["disk"] });
  expect(fresh.gate.heldBy()).toContain("needs a moment to stop");
  await fresh.look();
  clock.moveTo(clock.steady() + backupLimits.handoverMs);
  expect([fresh.gate.isOpen(), fresh.seen.events]).toEqual([true, ["backup.take-over"]]);
});

test("of two that took the same number at one moment, both find the same one to act", async () => {
  const [one, two] = [server({ number: 2, life: "aa" }), server({ number: 2, life: "bb" })];
  for (const life of ["aa", "bb"]) mark("disk", { number: 2, life });
  await one.look().catch(() => undefined);
  await two.look();
  for (const { life } of [one, two]) life.expectLook(false);
  expect([one.gate.isOpen(), two.gate.isOpen()]).toEqual([false, true]);
});

test("what was restored to practise never acts and writes nothing", async () => {
  mark("disk", { number: 1, life: "aa" });
  const { look, gate, life } = server({ number: 0, life: "bb", practice: true });
  await look().catch(() => undefined);
  life.expectLook(false);
  expect([gate.isOpen(), held.get("disk")?.length]).toEqual([false, 1]);
});

test("a clock that was set back holds no server that took over for longer than the handover", () => {
  const { gate, life } = server({ number: 2, life: "bb", takenOverAt: clock.now() });
  life.expectLook(false);
  expect(gate.isOpen()).toBe(false);
  clock.jump(-3_600_000);
  expect(gate.isOpen()).toBe(true);
});

test("a look is good for a minute, that of its own target, and not once it found another server or none", async () => {
  held.set("other", []);
  const { look, twins } = server(null);
  const looked = () => [twins.looked("disk"), twins.looked("other")];
  expect(looked()).toEqual([false, false]);
  await look();
  expect(looked()).toEqual([true, false]);
  await advance(backupLimits.twinLookMs);
  expect(looked()).toEqual([true, false]);
  await advance(1);
  expect(looked()).toEqual([false, false]);
  await look();
  away.add("disk");
  await expect(look()).rejects.toThrow("no route to host");
  expect(looked()).toEqual([false, false]);
  away.clear();
  mark("disk", { number: 9, life: "ff" });
  await expect(look()).rejects.toThrow();
  expect(looked()).toEqual([false, false]);
});
