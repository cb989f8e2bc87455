import { expect, test } from "bun:test";
import { createBesideCopies } from "../../../src/backups/service/part-copies.ts";
import type { ServerPart } from "../../../src/backups/service/platform.ts";
import type { StoredRun, StoredTarget } from "../../../src/backups/service/records.ts";
import type { Repository } from "../../../src/backups/service/repository.ts";
import { Failure } from "../../../src/base/wire/failure.ts";
import { createLimit } from "../../../src/base/words/limit.ts";
import { backupLimits } from "../../../src/config/backup-limits.ts";
import { noImages } from "../../support/backup-parts.ts";
import { createFakeClock } from "../../support/fake-clock.ts";
import { silentLog } from "../../support/silent-log.ts";

const hour = 3_600_000;
const signal = new AbortController().signal;

/** One part of a server at one target, which holds what is copied to it. */
function make() {
  const clock = createFakeClock(100 * 24 * hour);
  const target = { name: "disk", everyMs: hour, keep: "7d" } as StoredTarget;
  const at = { clock, there: "one", isAway: false, open: 0, copies: [] as string[], runs: [] as readonly StoredRun[] };
  const part: ServerPart = {
    name: "repositories",
    isTaken: () => true,
    everyMs: ({ everyMs }) => everyMs,
    keep: ({ keep }) => keep,
    digest() {
      if (at.there === "vanishes") throw new Error("ENOENT");
      return at.there;
    },
    async stage() {
      at.open += 1;
      const close = async () => {
        at.open -= 1;
      };
      return { folder: at.there, close };
    },
  };
  const repository = {
    async backup({ folder, tags }: { folder: string; tags: string[] }) {
      if (at.isAway) throw new Failure("unavailable", "does not answer");
      at.copies.push(`${folder} ${tags.join(" ")}`);
      return { snapshot: "s", bytes: 10, added: 5 };
    },
    async forget(tags: string[], keep: string[]) {
      at.copies.push(`forget ${[...tags, ...keep].join(" ")}`);
      return [];
    },
  } as unknown as Repository;
  const parts = createBesideCopies({
    ...{
      parts: [part],
      images: noImages,
      closing: signal,
      clock,
      log: silentLog,
      limits: backupLimits,
      turn: createLimit(1),
    },
    records: {
      targets: () => [target],
      runs: (id) => (id === "disk repositories" ? [...at.runs] : []),
      async putRuns(_, rows) {
        at.runs = rows;
      },
    },
    repositoryOf: async () => repository,
    look: async () => [],
  });
  const due = async (ms = 0) => {
    clock.moveTo(clock.steady() + ms);
    await parts.copyDue(signal);
    return at.copies.splice(0);
  };
  return { at, parts, due, target, repository };
}

test("what is there is copied at once, then after each change, at most as often as the target says", async () => {
  const { at, due } = make();
  expect(await due()).toEqual(["one berth-repositories"]);
  expect(await due(2 * hour)).toEqual([]);
  at.there = "two";
  expect([await due(), await due()]).toEqual([["two berth-repositories"], []]);
  at.there = "three";
  expect([await due(hour / 2), await due(hour / 2)]).toEqual([[], ["three berth-repositories"]]);
  at.there = "vanishes";
  expect(await due(hour)).toEqual(["vanishes berth-repositories"]);
  at.there = "";
  expect([await due(hour), at.open, at.runs.length]).toEqual([[], 0, 4]);
});

test("a copy that fails is tried again, names its target and leaves nothing staged", async () => {
  const { at, due, parts } = make();
  at.isAway = true;
  expect(await due()).toEqual([]);
  expect(parts.failing()).toMatchObject([{ target: "disk", what: "repositories", error: "does not answer" }]);
  at.isAway = false;
  expect(await due(backupLimits.retryMs)).toEqual(["one berth-repositories"]);
  expect([parts.failing(), at.open]).toEqual([[], 0]);
});

test("by hand it is copied whether it changed or not; old copies leave by the word of the target", async () => {
  const { at, due, parts, target, repository } = make();
  await parts.expire(target, repository, signal);
  expect(at.copies).toEqual([]);
  await due();
  const [copy, ...more] = parts.copiesOf([target]);
  await copy?.start(signal);
  expect([copy?.what, more, at.copies.splice(0)]).toEqual(["repositories", [], ["one berth-repositories"]]);
  await parts.expire(target, repository, signal);
  expect(at.copies).toEqual(["forget berth-repositories --keep-last 1 --keep-daily 7"]);
  at.there = "";
  expect(parts.copiesOf([target])).toEqual([]);
});
