import { afterEach, beforeEach, expect, test } from "bun:test";
import { join } from "node:path";
import type { Store } from "../../src/orchestration/store/store.ts";
import { openTestStore, type TestRoot, testLimits, testRoot } from "../support/store-root.ts";

const kills = Number(process.env.BERTH_TEST_KILLS ?? "5");
const acksPerRound = 40;

let at: TestRoot;
beforeEach(() => {
  at = testRoot();
});
afterEach(() => at.remove());

const open = () => openTestStore(at, { limits: { ...testLimits, eventsKept: 1_000_000 } });

function spawnWriter(round: number) {
  const command = [process.execPath, join(import.meta.dir, "store-writer.ts"), at.root, `${round}`];
  return Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
}

/** Whole lines of a process, up to its end; one that was cut off is not a line. */
async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

interface Ack {
  lane: string;
  id: string;
  revision: number;
}

/** Lets a writer work, kills it in the middle, and returns everything it acknowledged. */
async function killedWriter(round: number): Promise<Ack[]> {
  const writer = spawnWriter(round);
  const acks: Ack[] = [];
  for await (const line of linesOf(writer.stdout)) {
    const [word, lane = "", id = "", revision = ""] = line.split(" ");
    if (word !== "ack") continue;
    acks.push({ lane, id, revision: Number(revision) });
    if (acks.length === acksPerRound + round) writer.kill("SIGKILL");
  }
  await writer.exited;
  expect(writer.signalCode).toBe("SIGKILL");
  return acks;
}

function expectWhole(store: Store, acks: Ack[]): void {
  expect(store.check()).toBe("ok");
  const events = store.events.list({ limit: 10_000_000 });
  const known = new Map(events.map(({ name, revision }) => [name, revision]));
  for (const { id, revision } of acks) expect(known.get(id)).toBe(revision);
  for (const lane of new Set(acks.map((ack) => ack.lane))) {
    const half = (scope: string) => store.manifests.get({ kind: "job", scope, name: `lane-${lane}` });
    const [first, second] = [half("first"), half("second")];
    expect(first?.spec).toEqual(second?.spec ?? {});
    expect((second?.revision ?? 0) - (first?.revision ?? 0)).toBe(1);
    expect(store.config.bucket("first", `lane-${lane}`)).toEqual({ ID: String(first?.spec.id) });
  }
  const revisions = events.map(({ revision = 0 }) => revision);
  expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
  expect(new Set(revisions).size).toBe(revisions.length);
}

test(
  `nothing acknowledged is lost and nothing is half there, over ${kills} kills`,
  async () => {
    const acks: Ack[] = [];
    for (let round = 0; round < kills; round++) {
      acks.push(...(await killedWriter(round)));
      const store = open();
      expectWhole(store, acks);
      store.close();
    }
    expect(acks.length).toBeGreaterThanOrEqual(kills * acksPerRound);
  },
  30_000 + kills * 5_000,
);

test("a second process is refused with the pid of the first, and let in once that is killed", async () => {
  const writer = spawnWriter(0);
  for await (const line of linesOf(writer.stdout)) {
    if (line !== `ready ${writer.pid}`) continue;
    expect(open).toThrow(`root "${at.root}" is in use by pid ${writer.pid}`);
    writer.kill("SIGKILL");
    await writer.exited;
    break;
  }
  const store = open();
  expect(store.check()).toBe("ok");
  store.close();
});

test("no secret and no config value is in the bytes on the disk", async () => {
  const store = open();
  await store.write((tx) => {
    tx.manifests.put({ kind: "registry", scope: "", name: "hub", spec: { url: "u.test", token: "hunter2token" } }, 1);
    tx.config.patch("shop", "web", { PASSWORD: "correct horse" }, { now: 1 });
  });
  const files = await Promise.all([at.path, `${at.path}-wal`].map((file) => Bun.file(file).bytes()));
  store.close();
  files.push(await Bun.file(at.path).bytes());
  const found = (text: string) => files.some((bytes) => Buffer.from(bytes).includes(text));
  expect([found("u.test"), found("PASSWORD")]).toEqual([true, true]);
  expect([found("hunter2token"), found("correct horse")]).toEqual([false, false]);
});
