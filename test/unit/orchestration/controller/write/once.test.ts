import { afterEach, beforeEach, expect, test } from "bun:test";
import { createLog } from "../../../../../src/base/words/log.ts";
import { createOnce } from "../../../../../src/orchestration/controller/write/once.ts";
import type { Store } from "../../../../../src/orchestration/store/store.ts";
import { createFakeClock, testEpoch } from "../../../../support/fake-clock.ts";
import { openTestStore, type TestRoot, testRoot } from "../../../../support/store-root.ts";

const limits = { keyedRequestsKeptMs: 24 * 3_600_000, keyedAnswerBytesMax: 100 };
let at: TestRoot;
let store: Store;
let clock = createFakeClock();
let once: ReturnType<typeof createOnce>;
let done: number;

function open(): void {
  store = openTestStore(at);
  once = createOnce({ store, clock, log: createLog(() => undefined, "error"), limits });
}

beforeEach(() => {
  at = testRoot();
  clock = createFakeClock();
  done = 0;
  open();
});
afterEach(() => {
  store.close();
  at.remove();
});

const asked = (key = "k1", digest = "d1") => ({ key, digest });
const work =
  (status = 200, body = "done") =>
  async () => {
    done += 1;
    return { status, headers: { "content-type": "application/json" }, body: `${body} ${done}` };
  };

test("a request that comes again gets the answer of the first, also from the next server", async () => {
  const first = await once(asked(), work());
  expect(first).toMatchObject({ body: "done 1", again: false });
  expect(await once(asked(), work())).toEqual({ ...first, again: true });
  store.close();
  open();
  expect(await once(asked(), work())).toEqual({ ...first, again: true });
  expect(await once(asked("k2"), work())).toMatchObject({ body: "done 2", again: false });
});

test("while the first is under way the second waits for it", async () => {
  const gate = Promise.withResolvers<void>();
  const slow = async () => {
    await gate.promise;
    return work()();
  };
  const both = [once(asked(), slow), once(asked(), work())];
  await expect(once(asked("k1", "other"), work())).rejects.toMatchObject({ code: "unprocessable" });
  gate.resolve();
  expect((await Promise.all(both)).map(({ body, again }) => [body, again])).toEqual([
    ["done 1", false],
    ["done 1", true],
  ]);
});

test("a key belongs to one request", async () => {
  await once(asked(), work());
  await expect(once(asked("k1", "d2"), work())).rejects.toMatchObject({ code: "unprocessable" });
  expect(done).toBe(1);
});

test("what was refused changed nothing, and is carried out when it comes again", async () => {
  expect(await once(asked(), work(409))).toMatchObject({ status: 409 });
  expect(await once(asked("k1", "d2"), work())).toMatchObject({ status: 200, body: "done 2", again: false });
});

test("work that fails is forgotten too", async () => {
  await expect(once(asked(), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await once(asked(), work())).toMatchObject({ body: "done 1", again: false });
});

test("after a day it is another request", async () => {
  await once(asked(), work());
  clock.moveTo(testEpoch + limits.keyedRequestsKeptMs + 1);
  expect(await once(asked("k1", "d2"), work())).toMatchObject({ body: "done 2", again: false });
});

test("an answer that is too large is not kept, and the request is not carried out again", async () => {
  await once(asked(), work(200, "x".repeat(200)));
  await expect(once(asked(), work())).rejects.toThrow("was carried out already");
  expect(done).toBe(1);
});

test("a request that a killed server had begun is not carried out by the next one", async () => {
  await store.write((tx) => tx.keyedRequests.put({ ...asked(), at: clock.now(), done: false, answer: undefined }, 0));
  await expect(once(asked(), work())).rejects.toMatchObject({ code: "conflict" });
  await expect(once(asked(), work())).rejects.toThrow("the server ended while it worked on this request");
  expect(done).toBe(0);
});
