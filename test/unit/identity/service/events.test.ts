import { afterEach, beforeEach, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { emit } from "../../../../src/identity/service/events.ts";
import type { IdentityNouns } from "../../../../src/identity/store/open-store.ts";
import type { Instance } from "../../../../src/identity/store/records.ts";
import { openTestIdentityStore, putInstance, type TestIdentityStore } from "../../../support/identity-store.ts";

let at: TestIdentityStore;

beforeEach(() => {
  at = openTestIdentityStore();
});
afterEach(() => at.remove());

function putHook(
  nouns: IdentityNouns,
  instance: Instance,
  fields: { id: string; events?: string[]; enabled?: boolean },
) {
  const { id, events = [], enabled = true } = fields;
  const url = `https://hooks.test/${id}`;
  return nouns.webhooks.add({ id, instance: instance.seq, url, secret: `whsec_${id}`, events, enabled, createdAt: 1 });
}

test("each interested webhook of the instance gets one call, in the same write", async () => {
  const { store } = at;
  let told = 0;
  store.subscribeDeliveries(() => told++);
  const hooks = await store.write((nouns) => {
    const [a, b] = [putInstance(nouns, "a"), putInstance(nouns, "b")];
    const made = {
      all: putHook(nouns, a, { id: "all" }),
      some: putHook(nouns, a, { id: "some", events: ["user.created", "user.deleted"] }),
      other: putHook(nouns, a, { id: "other", events: ["session.revoked"] }),
      off: putHook(nouns, a, { id: "off", enabled: false }),
      foreign: putHook(nouns, b, { id: "foreign" }),
    };
    emit(nouns, { instance: a, type: "user.created", data: { id: "u1" }, now: 1_000 });
    return made;
  });
  const calls = (hook: { seq: number }) => store.webhookDeliveries.list(hook.seq, 10);
  expect(calls(hooks.all)).toMatchObject([{ event: "user.created", status: "waiting", attempts: 0, nextAt: 1_000 }]);
  expect(calls(hooks.some)).toHaveLength(1);
  expect([hooks.other, hooks.off, hooks.foreign].flatMap(calls)).toEqual([]);
  const [call] = calls(hooks.all);
  expect(JSON.parse(call?.body ?? "")).toEqual({
    id: call?.id,
    type: "user.created",
    instance_id: "inst_a",
    created_at: "1970-01-01T00:00:01.000Z",
    data: { id: "u1" },
  });
  expect(told).toBe(1);
});

test("a write that fails leaves no call", async () => {
  const { store } = at;
  const hook = await store.write((nouns) => putHook(nouns, putInstance(nouns, "a"), { id: "h" }));
  const failing = store.write((nouns) => {
    emit(nouns, { instance: { seq: hook.instance, id: "inst_a" }, type: "user.deleted", data: {}, now: 1 });
    throw new Error("no");
  });
  await expect(failing).rejects.toThrow("no");
  expect(store.webhookDeliveries.list(hook.seq, 10)).toEqual([]);
});

test("secrets of webhooks are sealed in the file", async () => {
  const { store, path } = at;
  await store.write((nouns) => putHook(nouns, putInstance(nouns, "a"), { id: "sealed" }));
  store.check();
  const written = [path, `${path}-wal`].map((file) => readFileSync(file).includes("whsec_sealed"));
  expect(written).toEqual([false, false]);
});
