import { afterEach, expect, test } from "bun:test";
import { startThread, type ThreadEvents } from "../../../../src/base/words/thread.ts";
import { parseSearch } from "../../../../src/identity/core/search.ts";
import { searchColumns } from "../../../../src/identity/core/search-columns.ts";
import { createSearchThread, type StartSearchThread } from "../../../../src/identity/service/search-thread.ts";
import { systemClock } from "../../../../src/base/words/clock.ts";
import { createLog } from "../../../../src/base/words/log.ts";
import type { FromSearchThread, SearchSetup, ToSearchThread } from "../../../../src/identity/store/search/messages.ts";
import { thrownBy } from "../../../support/failure.ts";
import { createFakeClock } from "../../../support/fake-clock.ts";
import { silentLog } from "../../../support/silent-log.ts";

const setup: SearchSetup = {
  database: "",
  index: "",
  budgetMs: 100,
  searchesMax: 3,
  smallMax: 10,
  idleMs: 10,
  cacheKib: 1_024,
};
const request = {
  kind: "users" as const,
  instance: 1,
  search: parseSearch("name:*a*", searchColumns.users),
  rowsMax: 10,
  bytesMax: 1_000,
  before: undefined,
};
const answer = { body: "[]", next: undefined };

interface FakeThread {
  events: ThreadEvents<FromSearchThread>;
  said: ToSearchThread[];
  ended: boolean;
}

function fakeThreads() {
  const threads: FakeThread[] = [];
  const start: StartSearchThread = (events) => {
    const thread: FakeThread = { events, said: [], ended: false };
    threads.push(thread);
    return {
      post: (message) => void thread.said.push(message),
      end() {
        thread.ended = true;
      },
    };
  };
  const clock = createFakeClock();
  const indexed: number[] = [];
  const client = createSearchThread({
    start,
    setup,
    deadlineMs: 1_000,
    clock,
    log: silentLog,
    onIndexed: (changes) => void indexed.push(changes),
  });
  const thread = (index: number): FakeThread => {
    const found = threads[index];
    if (found === undefined) throw new Error(`no thread ${index}`);
    return found;
  };
  const searches = (index: number) => thread(index).said.flatMap((said) => (said.type === "search" ? [said.id] : []));
  return { client, clock, indexed, threads, thread, searches };
}

test("one thread serves all; answers find who asked, in any order", async () => {
  const { client, threads, thread, searches } = fakeThreads();
  const [first, second] = [client.run(request), client.run(request)];
  expect(threads).toHaveLength(1);
  const [a = 0, b = 0] = searches(0);
  thread(0).events.onMessage({ type: "found", id: b, body: "[2]", next: 7 });
  thread(0).events.onMessage({ type: "found", id: a, ...answer });
  expect(await second).toEqual({ body: "[2]", next: 7 });
  expect(await first).toEqual(answer);
});

test("too many at the same time, and one that takes too much, are told to come back", async () => {
  const { client, thread, searches } = fakeThreads();
  const running = [client.run(request), client.run(request), client.run(request)];
  expect(await thrownBy(() => client.run(request))).toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  const [a = 0] = searches(0);
  thread(0).events.onMessage({ type: "gave_up", id: a, why: "over_budget" });
  expect(await thrownBy(() => running[0])).toMatchObject({ code: "unavailable", retryAfterSeconds: 2 });
  client.close();
  await Promise.all(running.map((one) => one?.catch(() => undefined)));
});

test("a thread that says nothing for as long as a search may take is replaced", async () => {
  const { client, clock, threads, thread, searches } = fakeThreads();
  const hung = thrownBy(() => client.run(request));
  await Bun.sleep(0);
  clock.moveTo(clock.steady() + 1_000);
  expect(await hung).toMatchObject({ code: "unavailable" });
  expect(thread(0).ended).toBe(true);
  const next = client.run(request);
  expect(threads).toHaveLength(2);
  thread(0).events.onMessage({ type: "found", id: searches(1)[0] ?? 0, body: "[late]", next: undefined });
  thread(1).events.onMessage({ type: "found", id: searches(1)[0] ?? 0, ...answer });
  expect(await next).toEqual(answer);
});

test("a late answer of a thread that works costs that search alone", async () => {
  const { client, clock, threads, thread, searches } = fakeThreads();
  const late = thrownBy(() => client.run(request));
  const other = client.run(request);
  const [a = 0, b = 0] = searches(0);
  thread(0).events.onMessage({ type: "found", id: b, ...answer });
  await other;
  await Bun.sleep(0);
  clock.moveTo(clock.steady() + 1_000);
  expect(await late).toMatchObject({ code: "unavailable" });
  expect(thread(0).said.at(-1)).toEqual({ type: "cancel", id: a });
  expect(threads).toHaveLength(1);
});

test("a crash fails what was asked and nothing else", async () => {
  const { client, thread, threads, searches, indexed } = fakeThreads();
  const lost = thrownBy(() => client.run(request));
  thread(0).events.onMessage({ type: "indexed", changes: 5 });
  thread(0).events.onEnd("boom");
  expect(await lost).toMatchObject({ code: "unavailable" });
  const next = client.run(request);
  expect(threads).toHaveLength(2);
  thread(1).events.onMessage({ type: "found", id: searches(1)[0] ?? 0, ...answer });
  expect(await next).toEqual(answer);
  expect(indexed).toEqual([5]);
});

const files: (() => void)[] = [];
afterEach(() => {
  for (const close of files.splice(0)) close();
});

test("a real thread that throws away its loop is replaced by one that answers", async () => {
  const broken = "data:text/javascript,onmessage = ({ data }) => { if (data.type === 'search') for (;;); }";
  const { openTestIdentityStore, putInstance, putUser } = await import("../../../support/identity-store.ts");
  const at = openTestIdentityStore();
  files.push(at.remove);
  await at.store.write((nouns) => putUser(nouns, putInstance(nouns, "a"), { email: "ana@x.y", name: "Ana" }));
  const good = new URL("../../../../src/identity/store/search/worker.ts", import.meta.url).href;
  let starts = 0;
  const logged: string[] = [];
  const client = createSearchThread({
    start: (events) => startThread(starts++ === 0 ? broken : good)(events),
    setup: { ...setup, database: at.path, index: `${at.path}.search` },
    deadlineMs: 4_000,
    clock: systemClock,
    log: createLog((line) => logged.push(line)),
    onIndexed: () => undefined,
  });
  files.unshift(client.close);
  expect(await thrownBy(() => client.run(request))).toMatchObject({ code: "unavailable" });
  const found = await client.run(request);
  expect(JSON.parse(found.body)).toMatchObject([{ data: { email: "ana@x.y" } }]);
  expect(logged.join("")).toContain("search thread hangs and is replaced");
});
