import { afterAll, expect, test } from "bun:test";
import { idempotencyHeader } from "../../src/base/wire/client.ts";
import { createLog } from "../../src/base/words/log.ts";
import { limits } from "../../src/config/config.ts";
import { orchestrationEndpoints } from "../../src/orchestration/api/endpoints.ts";
import { createOnce } from "../../src/orchestration/controller/write/once.ts";
import { naming } from "../../src/orchestration/core/naming.ts";
import { createOrchestrationApp } from "../../src/orchestration/http/app.ts";
import { createFakeClock } from "../support/fake-clock.ts";
import { createRecordingController } from "../support/recording-controller.ts";
import { openTestStore, testRoot } from "../support/store-root.ts";

const at = testRoot();
const store = openTestStore(at);
afterAll(() => {
  store.close();
  at.remove();
});

test("of the endpoints that take a key", async () => {
  const log = createLog(() => undefined, "error");
  const { controller, calls } = createRecordingController();
  const app = createOrchestrationApp({
    controller,
    version: "1",
    names: naming(),
    log,
    limits,
    once: createOnce({ store, clock: createFakeClock(), log, limits }),
  });
  const ask = async (method: string, target: string, more: { key?: string; body?: string } = {}) => {
    const { key, body } = more;
    const headers: Record<string, string> = key === undefined ? {} : { [idempotencyHeader]: key };
    const init = { method, headers, ...(body === undefined ? {} : { body }) };
    const answer = await app.fetch(new Request(`http://localhost${target}`, init));
    return { status: answer.status, again: answer.headers.get("Idempotency-Replayed"), text: await answer.text() };
  };
  const body = '[{"kind":"deployment","scope":"s","name":"web","spec":{"image":"web:1"}}]';

  const first = await ask("POST", "/apply", { key: "a-1", body });
  expect([first.status, first.again]).toEqual([200, null]);
  expect(await ask("POST", "/apply", { key: '"a-1"', body })).toEqual({ ...first, again: "true" });
  expect(calls).toHaveLength(1);
  await ask("POST", "/apply", { body });
  await ask("POST", "/apply", { key: "a-2", body });
  expect(calls).toHaveLength(3);

  for (const target of ["/apply?force=true", "/scale?scope=s&name=web&replicas=1"]) {
    expect((await ask("POST", target, { key: "a-1", body })).status).toBe(422);
  }
  expect((await ask("POST", "/apply", { key: "a-1", body: "[]" })).status).toBe(422);
  expect((await ask("DELETE", "/scope?scope=s", { key: "a-3" })).status).toBe(200);
  expect((await ask("DELETE", "/scope?scope=s", { key: "a-3" })).again).toBe("true");
  expect(calls).toHaveLength(4);

  for (const key of ["a b", "x".repeat(129), ""]) {
    const refused = await ask("POST", "/apply", { key, body });
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("Idempotency-Key: use 1 to 128")]);
  }
  const stream = await ask("POST", "/plugins/install", { key: "a-4", body: "{}" });
  expect([stream.status, stream.text]).toEqual([400, expect.stringContaining("/plugins/install does not support it")]);
  expect((await ask("GET", "/pods", { key: "a-1" })).status).toBe(200);
  expect(calls).toHaveLength(5);

  const release = () => ask("POST", "/releases/run?scope=s&name=web", { key: "a-5" });
  expect((await release()).text).toBe((await release()).text);
  expect(calls.slice(5).map(({ args }) => args[1])).toMatchObject([{ follow: false }, { follow: true }]);
});

test("are those that change what is stored or runs, and none that reads", () => {
  const taking = orchestrationEndpoints.filter(({ once }) => once === true);
  expect(taking.length).toBeGreaterThan(10);
  for (const { method, path } of taking) expect([path, method]).not.toEqual([path, "GET"]);
});
