import { describe, expect, test } from "bun:test";
import { complete, settle } from "../../../../plugins/kit/complete.ts";
import { bringBack, confirmPrimary, type Handover, handOver } from "../../../../plugins/kit/handover.ts";
import { nobody, readNote } from "../../../../plugins/kit/note.ts";
import { chooseTarget, standingOf } from "../../../../plugins/kit/standing.ts";
import {
  dead,
  fakeKind,
  type FakePod,
  type FakeWorld,
  fakeWorld,
  primary,
  standby,
  stopped,
} from "../../../support/fake-cluster.ts";

const handover = (target: number, more: Partial<Handover> = {}): Handover => ({
  target,
  free: false,
  force: false,
  rejoin: true,
  run: "r1",
  stepsOf: () => ({ promoteMs: 1_000 }),
  ...more,
});

/** A whole promotion, as the command does it. */
async function promote(world: FakeWorld, target: number, more: Partial<Handover> = {}): Promise<void> {
  const cluster = world.load();
  const note = await handOver(cluster, handover(target, more));
  await complete(cluster, fakeKind, note);
}

test("the old primary is stopped before the config names the new one, and only then that takes writes", async () => {
  const world = fakeWorld([primary(), standby(), standby()]);
  await promote(world, 1);
  expect(world.done).toEqual([
    "config note",
    "freeze 0",
    "config 1@2 note",
    "promote 1 2 1",
    "follow 2 2 1",
    "start 0",
    "config no note",
  ]);
  expect(world.config).toEqual({ PRIMARY: "1", EPOCH: "2" });
});

test("a server that does not answer is no standby, whatever an older script says of it", async () => {
  const world = fakeWorld([{ ...standby(), position: undefined }]);
  expect(await standingOf(world.load())).toEqual({ intended: 0, primary: 0, answers: false, standbys: [] });
});

test("all pods are asked at the same time: one that hangs makes no other wait", async () => {
  const cluster = fakeWorld([standby(), primary(), standby()]).load();
  const { exec } = cluster.controller;
  const asked: string[] = [];
  const all = Promise.withResolvers<void>();
  cluster.controller.exec = async (request) => {
    asked.push(request.pod);
    if (asked.length === 3) all.resolve();
    await all.promise;
    return exec(request);
  };
  expect(await standingOf(cluster)).toMatchObject({
    primary: 1,
    answers: true,
    standbys: [{ ordinal: 0 }, { ordinal: 2 }],
  });
});

test("a promotion that fails puts the old primary back, with a newer word than the failed one", async () => {
  const world = fakeWorld([primary(), { ...standby(), broken: ["promote"] }]);
  await expect(promote(world, 1)).rejects.toThrow("promote in data-main.1: promote failed");
  expect(world.done.slice(3)).toEqual(["promote 1 2 1", "config 0@3 note", "start 0", "config no note"]);
  expect(world.pods[0]).toMatchObject({ running: true, role: "primary" });
});

test("a standby that may have become primary although its tool failed keeps the old one down, and the note stays", async () => {
  const world = fakeWorld([primary(), standby()]);
  const cluster = world.load();
  const { exec } = cluster.controller;
  cluster.controller.exec = async (request) => {
    const answer = await exec(request);
    return request.command[2] === "promote" ? { exitCode: 1, stdout: "", stderr: "promote failed" } : answer;
  };
  await expect(handOver(cluster, handover(1))).rejects.toThrow("promote failed");
  expect(world.pods[0]).toMatchObject({ running: false, frozen: true });
  const later = world.load();
  expect((await settle(later, fakeKind, () => ({ promoteMs: 1_000 })))?.message).toContain("it is primary");
  expect(world.config).toEqual({ PRIMARY: "1", EPOCH: "2" });
});

test("what does not come to its end before the stop leaves the old primary as it was", async () => {
  const world = fakeWorld([primary(), standby()]);
  const stepsOf = () => ({ promoteMs: 1_000, beforeStop: () => Promise.reject(new Error("too far behind")) });
  await expect(promote(world, 1, { stepsOf })).rejects.toThrow("too far behind");
  expect(world.done).toEqual(["config note", "config no note"]);
});

test("a standby that cannot be told to follow does not undo the promotion", async () => {
  const world = fakeWorld([primary(), standby(), { ...standby(), broken: ["follow"] }]);
  await promote(world, 1);
  expect(world.config).toEqual({ PRIMARY: "1", EPOCH: "2" });
});

describe("positions are compared once the primary is down", () => {
  test("a named standby that gets to the end in time is taken, however far behind it was before", async () => {
    const world = fakeWorld([primary(), standby(5), standby(9)]);
    world.before = (step) => {
      const [, behind] = world.pods;
      if (step === "freeze 0" && behind !== undefined) behind.position = 9;
    };
    await promote(world, 1);
    expect(world.config.PRIMARY).toBe("1");
  });

  test("a named standby that stays behind is refused, and the old primary is back", async () => {
    const world = fakeWorld([primary(), standby(5), standby(9)]);
    await expect(promote(world, 1)).rejects.toThrow("pod 2 has 4 bytes more than pod 1");
    expect(world.pods[0]).toMatchObject({ running: true, role: "primary" });
    expect(world.config).toEqual({ PRIMARY: "0", EPOCH: "1" });
    await promote(world, 1, { force: true });
    expect(world.config.PRIMARY).toBe("1");
  }, 30_000);

  test("where none was named, the one that is further is taken", async () => {
    const world = fakeWorld([primary(), standby(5), standby(9)]);
    await promote(world, 1, { free: true });
    expect(world.config.PRIMARY).toBe("2");
  }, 30_000);
});

const choice = async (pods: FakePod[], wanted?: number) => {
  const cluster = fakeWorld(pods).load();
  const standing = await standingOf(cluster);
  return [standing.primary, chooseTarget(cluster, standing, wanted)];
};

test("the standby that is furthest is chosen; any that answers where it is named", async () => {
  expect(await choice([primary(), standby(5), standby(9)])).toEqual([0, 2]);
  expect(await choice([primary(), standby(5), standby(9)], 1)).toEqual([0, 1]);
  expect(await choice([primary(), standby()], 0)).toEqual([0, 0]);
  await expect(choice([primary(), standby()], 7)).rejects.toThrow("data/main has no pod 7; it has 0, 1");
  await expect(choice([primary(), { ...standby(), running: false }])).rejects.toThrow("no standby answers");
  await expect(bringBack(fakeWorld([primary(), standby()]).load(), 0, 1_000)).rejects.toThrow(
    "pod 0 of data/main is the primary; it has no other pod to follow",
  );
});

class Killed extends Error {}

/** The server and with it the plugin die right before, or right after, step number `at`. */
async function killedAt(pods: FakePod[], at: number, when: "before" | "after"): Promise<FakeWorld | undefined> {
  const world = fakeWorld(pods);
  let count = 0;
  let isDead = false;
  world.before = () => {
    if (isDead || (count === at && when === "before")) {
      isDead = true;
      throw new Killed();
    }
    count += 1;
    if (count > at + 1) {
      isDead = true;
      throw new Killed();
    }
  };
  const outcome = await promote(world, 1).catch((error: unknown) => error);
  world.before = () => undefined;
  if (outcome === undefined) return undefined;
  if (!(outcome instanceof Killed)) throw outcome;
  return world;
}

async function killedTwice(count: number, again: number): Promise<void> {
  const world = await killedAt([primary(), standby(), standby()], count, "after");
  if (world === undefined) return;
  let steps = 0;
  world.before = () => {
    if (steps >= again) throw new Killed();
    steps += 1;
  };
  await settle(world.load(), fakeKind, () => ({ promoteMs: 1_000 })).catch(() => undefined);
  world.before = () => undefined;
  await settle(world.load(), fakeKind, () => ({ promoteMs: 1_000 }));
  const leading = world.pods.flatMap((pod, at) => (pod.running && pod.role === "primary" ? [at] : []));
  expect({ count, again, leading }).toEqual({ count, again, leading: [Number(world.config.PRIMARY)] });
}

describe("a promotion that a kill cut off at any step is finished or undone by the next server", () => {
  for (const when of ["before", "after"] as const) {
    test(`killed ${when} the step`, async () => {
      let count = 0;
      for (; ; count++) {
        const world = await killedAt([primary(), standby(), standby()], count, when);
        if (world === undefined) break;
        const settled = await settle(world.load(), fakeKind, () => ({ promoteMs: 1_000 }));
        const leading = world.pods.flatMap((pod, at) => (pod.running && pod.role === "primary" ? [at] : []));
        expect({ count, leading }).toEqual({ count, leading: [Number(world.config.PRIMARY)] });
        expect(world.pods.filter(({ running }) => running)).toHaveLength(3);
        expect(readNote(world.load())).toBeUndefined();
        if (settled === undefined)
          expect(world.config).toEqual({ PRIMARY: leading[0] === 0 ? "0" : "1", EPOCH: expect.any(String) });
      }
      expect(count).toBe(when === "before" ? 7 : 6);
    });
  }

  test("and when that is killed again, by the one after", async () => {
    const cases = Array.from({ length: 36 }, (_, at) => [Math.floor(at / 6), at % 6] as const);
    await Promise.all(cases.map(([count, again]) => killedTwice(count, again)));
  });

  test("a target that does not answer leaves the old primary stopped, for it may have taken writes", async () => {
    const world = fakeWorld([stopped(), { ...standby(), running: false }], {
      PRIMARY: "1",
      EPOCH: "2",
      NOTE: JSON.stringify({ from: 0, to: 1, epoch: 2, rejoin: true, undo: false, at: "", run: "" }),
    });
    await expect(settle(world.load(), fakeKind, () => ({ promoteMs: 1_000 }))).rejects.toThrow(
      "pod 1 is to be primary and does not answer",
    );
    expect(world.done).toEqual([]);
  });
});

describe("what a version without notes left behind", () => {
  test("the config named another pod than the one that takes writes", async () => {
    const world = fakeWorld([primary(), standby()], { PRIMARY: "1", EPOCH: "2" });
    const cluster = world.load();
    const standing = await standingOf(cluster);
    expect([standing.intended, standing.primary, standing.answers]).toEqual([1, 0, true]);
    cluster.primary = 0;
    await confirmPrimary(cluster);
    expect(world.done).toEqual(["config 0@3", "follow 1 3 0"]);
  });

  test("where all follow and nobody leads, one leads", async () => {
    const world = fakeWorld([standby(), standby()], { PRIMARY: "1", EPOCH: "2" });
    const cluster = world.load();
    expect((await standingOf(cluster)).primary).toBe(nobody);
    cluster.primary = nobody;
    await complete(cluster, fakeKind, await handOver(cluster, handover(1)));
    expect(world.done).toEqual(["config note", "config 1@3 note", "promote 1 3 1", "follow 0 3 1", "config no note"]);
  });

  test("two that take writes are told, and nobody is chosen", async () => {
    const cluster = fakeWorld([primary(), standby()]).load();
    cluster.controller.exec = async () => ({ exitCode: 0, stdout: "role=primary\n", stderr: "" });
    await expect(standingOf(cluster)).rejects.toThrow("pods 0 and 1 both take writes");
  });
});

test("a dead primary that comes back by itself before the other takes over keeps its place", async () => {
  const world = fakeWorld([dead(), standby()]);
  world.before = (step) => {
    const [old] = world.pods;
    if (step.startsWith("config 1@2") && old !== undefined) old.running = true;
  };
  await expect(promote(world, 1)).rejects.toThrow("pod 0 runs again, although it was stopped");
  expect(world.config.PRIMARY).toBe("0");
});
