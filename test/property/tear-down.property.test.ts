import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import type { PruneSummary } from "../../src/orchestration/api/apply.ts";
import { Failure } from "../../src/base/wire/failure.ts";
import type { MemoryRuntime } from "../support/memory-runtime.ts";
import { deployment, statefulset } from "../support/manifests.ts";
import { keyOf, type World, world } from "../support/world.ts";

const bearable = {
  numRuns: Math.min(Number(process.env.BERTH_TEST_CASES ?? 12), 2_000),
  interruptAfterTimeLimit: 40_000,
};

test(
  "after deletes in any order the last word wins, and every answer to a prune is true",
  () => fc.assert(fc.asyncProperty(orders, check), bearable),
  180_000,
);

const names = ["db", "web"] as const;
type Name = (typeof names)[number];
const kindOf = (name: Name) => (name === "db" ? "statefulset" : "deployment");
const keyFor = (name: Name) => keyOf(kindOf(name), "shop", name);
const actor = "ana";
/** The volume of `db.0`. */
const ofOrdinal = "berth-shop-db-data-0";

function manifestOf(name: Name) {
  const spec = { replicas: 2, rollout: { min_ready: "1s" } };
  if (name === "web") return deployment("shop", "web", { ...spec, volumes: ["cache:/cache"] });
  return statefulset("shop", "db", { ...spec, volume_claims: [{ name: "data", mount_path: "/data" }] });
}

/** What is on the disk of the machine, each piece with the moment at which it was made. */
interface Disk {
  /** A number that grows with each thing that happens. */
  tick(): number;
  volumes: Map<string, number>;
  wrap(runtime: MemoryRuntime): MemoryRuntime;
}

function createDisk(): Disk {
  let ticks = 0;
  const volumes = new Map<string, number>();
  const tick = () => (ticks += 1);
  return {
    tick,
    volumes,
    wrap: (runtime) => ({
      ...runtime,
      async ensureVolume(name, labels) {
        const made = await runtime.ensureVolume(name, labels);
        if (!volumes.has(name)) volumes.set(name, tick());
        return made;
      },
      async removeVolume(name) {
        await runtime.removeVolume(name);
        volumes.delete(name);
      },
    }),
  };
}

interface Model {
  it: World;
  disk: Disk;
  /** When the last prune of each resource, and of each ordinal, was asked for. */
  prunedAt: Map<string, number>;
  /** What nobody has pruned since it was seen. */
  kept: Map<Name, Map<string, number>>;
  /** Prunes that have no answer yet, of each resource and of one ordinal. */
  underWay: (Name | "ordinal")[];
  answers: Promise<unknown>[];
  problems: string[];
}

/** Everything of one resource on the disk: volumes, and files of its folder that are named by their moment. */
function dataOf({ it, disk }: Model, name: Name): Map<string, number> {
  const mine = name === "db" ? /-db-data-/ : /_cache$/;
  const folder = join(it.layout.volumes, `shop-${name}`);
  const files = existsSync(folder) ? readdirSync(folder) : [];
  const volumes = [...disk.volumes].filter(([volume]) => mine.test(volume));
  return new Map([...volumes, ...files.map((file) => [`file ${file}`, Number(file)] as const)]);
}

function olderThan(data: Map<string, number>, moment: number): string[] {
  return [...data].filter(([, madeAt]) => madeAt < moment).map(([what]) => what);
}

interface Step {
  text: string;
  run(model: Model): unknown;
}

const step = (text: string, run: Step["run"]): Step =>
  Object.assign({ text, run }, { [fc.toStringMethod]: () => text });
const name = fc.constantFrom(...names);

/** A delete whose answer is checked when it comes; the steps go on meanwhile. */
function remove(
  model: Model,
  about: readonly Name[],
  prune: boolean,
  ask: () => Promise<readonly PruneSummary[]>,
): void {
  const askedAt = model.disk.tick();
  const pruned = prune ? about : [];
  for (const each of pruned) forgetKept(model, each, askedAt);
  model.underWay.push(...pruned);
  model.answers.push(
    ask()
      .then(
        (summaries) => {
          if (prune) for (const each of about) checkAnswer(model, { name: each, askedAt, summaries });
        },
        (error) => {
          if (!(error instanceof Failure)) throw error;
        },
      )
      .finally(() => endOf(model, pruned)),
  );
}

function endOf(model: Model, ended: readonly (Name | "ordinal")[]): void {
  for (const each of ended) model.underWay.splice(model.underWay.indexOf(each), 1);
}

function forgetKept(model: Model, each: Name, askedAt: number): void {
  model.prunedAt.set(each, askedAt);
  model.kept.delete(each);
}

interface Answer {
  name: Name;
  askedAt: number;
  summaries: readonly PruneSummary[];
}

function checkAnswer(model: Model, { name: each, askedAt, summaries }: Answer): void {
  for (const { errors, volume_removed, volumes_removed } of summaries) {
    if (volumes_removed.length > 0 && !volume_removed)
      model.problems.push("volumes were removed without volume_removed");
    if (errors.length === 0) continue;
    // It may say that it is not done yet, and nothing else.
    if (errors.some((text) => !/goes on|when it has started again/.test(text))) model.problems.push(...errors);
    return;
  }
  const left = olderThan(dataOf(model, each), askedAt);
  if (left.length > 0) model.problems.push(`answered as wiped, and left of ${each}: ${left.join(", ")}`);
}

const ways = {
  apply: async ({ controller }: World, each: Name, prune: boolean) => [
    (await controller.deleteManifest(keyFor(each), { prune, actor })).pruned,
  ],
  async resource({ controller }: World, each: Name, prune: boolean) {
    const target = { scope: "shop", name: each, ordinal: undefined };
    const { resources_wiped = [] } = await controller.deleteResource(target, { prune, actor });
    return resources_wiped.map(({ pruned }) => pruned);
  },
  async scope({ controller }: World, _: Name, prune: boolean) {
    const { resources_wiped } = await controller.deleteScope("shop", { prune, actor });
    return resources_wiped.map(({ pruned }) => pruned);
  },
};

const deleting = fc.record({ name, prune: fc.boolean(), by: fc.constantFrom("apply", "resource", "scope") });

const steps = fc.oneof(
  {
    weight: 4,
    arbitrary: name.map((each) => step(`apply ${each}`, ({ it }) => it.apply(manifestOf(each)))),
  },
  {
    weight: 6,
    arbitrary: deleting.map(({ name: each, prune, by }) =>
      step(`delete ${by === "scope" ? "the scope" : each} by ${by}${prune ? " with prune" : ""}`, (model) => {
        remove(model, by === "scope" ? names : [each], prune, () => ways[by](model.it, each, prune));
      }),
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constant(
      step("delete db.0 with prune", (model) => {
        const askedAt = model.disk.tick();
        model.underWay.push("ordinal");
        model.kept.get("db")?.delete(ofOrdinal);
        const about = { scope: "shop", name: "db", ordinal: "0" };
        model.answers.push(
          model.it.controller
            .deleteResource(about, { prune: true, actor })
            .then(
              (answer) => {
                const volume = model.disk.volumes.get(ofOrdinal) ?? askedAt;
                const isWhole = "summary" in answer && answer.summary?.errors.length === 0;
                if (isWhole && volume < askedAt) model.problems.push("db.0 answered as wiped, and its volume is there");
              },
              (error) => {
                if (!(error instanceof Failure)) throw error;
              },
            )
            .finally(() => endOf(model, ["ordinal"])),
        );
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: name.map((each) =>
      step(`${each} writes a file`, ({ it, disk }) => {
        if (!it.containers().some((container) => container.startsWith(`shop-${each}.`))) return;
        const folder = join(it.layout.volumes, `shop-${each}`);
        mkdirSync(folder, { recursive: true });
        writeFileSync(join(folder, String(disk.tick())), "");
      }),
    ),
  },
  {
    weight: 5,
    arbitrary: fc
      .constantFrom(1, 100, 700, 2_500, 6_000)
      .map((ms) => step(`${ms} ms pass`, ({ it }) => it.advance(ms))),
  },
  { weight: 1, arbitrary: fc.constant(step("a minute passes", ({ it }) => it.advance(60_000))) },
  { weight: 1, arbitrary: fc.constant(step("the server restarts", ({ it }) => it.restart())) },
);
const orders = fc.array(steps, { minLength: 4, maxLength: 16 });

/** What is there now stays, as long as no prune is under way and none comes. */
function noteKept(model: Model): void {
  for (const each of names) {
    if (model.underWay.includes(each) || model.it.store.deletions.get(keyFor(each))?.prune === true) continue;
    const kept = dataOf(model, each);
    if (model.underWay.includes("ordinal")) kept.delete(ofOrdinal);
    model.kept.set(each, kept);
  }
}

/** Lets time pass until every answer is there: a prune reads folders, and no fake clock knows how long that takes. */
async function finished({ it, answers }: Model): Promise<void> {
  let isOver = false;
  const all = Promise.all(answers).finally(() => (isOver = true));
  while (!isOver || it.store.deletions.list().length > 0) await it.advance(1_000);
  await all;
}

async function check(order: Step[]): Promise<void> {
  const disk = createDisk();
  const it = await world({ wrapRuntime: disk.wrap });
  const model: Model = { it, disk, prunedAt: new Map(), kept: new Map(), underWay: [], answers: [], problems: [] };
  it.runtime.delay("stop", 2_000);
  it.runtime.delay("removeVolume", 300);
  try {
    await it.apply(names.map(manifestOf));
    await it.settle();
    for (const each of order) {
      await each.run(model);
      await it.quiet();
      noteKept(model);
    }
    await finished(model);
    await it.settle(30 * 60_000);
    expect(model.problems).toEqual([]);
    for (const each of names) {
      const data = dataOf(model, each);
      expect([each, olderThan(data, model.prunedAt.get(each) ?? 0)]).toEqual([each, []]);
      expect(Object.fromEntries(data)).toMatchObject(Object.fromEntries(model.kept.get(each) ?? []));
    }
    expect(it.store.deletions.list()).toEqual([]);
  } finally {
    await it.close();
  }
}
