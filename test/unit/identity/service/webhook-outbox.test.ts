import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { createWebhookSender, type WebhookOptions } from "../../../../src/base/deliver/webhook.ts";
import { emit } from "../../../../src/identity/service/events.ts";
import { createHookOutbox } from "../../../../src/identity/service/webhook-outbox.ts";
import { secret } from "../../../../src/base/words/secret.ts";
import type { Webhook } from "../../../../src/identity/store/records.ts";
import { type HookReceiver, startReceiver } from "../../../support/webhook-receiver.ts";
import { type IdentityWorld, identityWorld, type Tenant } from "../../../support/identity.ts";
import { waitFor } from "../../../support/wait.ts";

let it: IdentityWorld;
let shop: Tenant;
let stopping: AbortController;
let receiver: HookReceiver | undefined;

beforeEach(async () => {
  it = identityWorld();
  shop = await it.tenant();
  stopping = new AbortController();
});
afterEach(async () => {
  stopping.abort();
  await receiver?.stop();
  receiver = undefined;
  it.close();
});

function start(overrides: Partial<WebhookOptions> = {}): void {
  const send = createWebhookSender({
    fetch: (url, init) => fetch(url, init),
    resolve: () => Promise.resolve(["127.0.0.1"]),
    allowPrivate: true,
    signing: secret("of the installation"),
    headerPrefix: "X-Berth",
    userAgent: "test",
    now: it.clock.now,
    timeoutMs: 2_000,
    responseBytesMax: 1_000,
    ...overrides,
  });
  void createHookOutbox(it.context, send).run(stopping.signal);
}

const addHook = (url: string, id = "hook_1"): Promise<Webhook> =>
  it.context.store.write(({ webhooks: hooks }) =>
    hooks.add({
      id,
      instance: shop.entry().instance.seq,
      url,
      secret: `of ${id}`,
      events: [],
      enabled: true,
      createdAt: 1,
    }),
  );

const tell = (data: Record<string, unknown> = { id: "u1" }) =>
  it.context.store.write((nouns) =>
    emit(nouns, { instance: shop.entry().instance, type: "user.created", data, now: it.clock.now() }),
  );

const stateOf = (hook: Webhook) => it.context.store.webhookDeliveries.list(hook.seq, 10);

test("an event arrives once, signed with the secret of its webhook, and is on record", async () => {
  receiver = startReceiver();
  const hook = await addHook(`${receiver.url}/in?a=1`);
  start();
  await tell();
  await waitFor("the outbox", () => stateOf(hook)[0]?.status === "delivered");
  const [call] = receiver.received;
  const timestamp = call?.headers["x-berth-timestamp"] ?? "";
  const wanted = createHmac("sha256", "of hook_1").update(`${timestamp}.${call?.body}`).digest("hex");
  expect(call?.headers["x-berth-signature"]).toBe(`sha256=${wanted}`);
  expect(call?.headers).toMatchObject({ "x-berth-event": "user.created", "content-type": "application/json" });
  expect(JSON.parse(call?.body ?? "")).toMatchObject({
    type: "user.created",
    instance_id: shop.id,
    data: { id: "u1" },
  });
  expect(stateOf(hook)).toMatchObject([{ attempts: 1, lastResult: "status 204" }]);
  expect(receiver.received).toHaveLength(1);
});

test("a failure is tried again with growing pauses, then dropped and audited", async () => {
  receiver = startReceiver(() => new Response("no", { status: 500 }));
  const hook = await addHook(receiver.url);
  start();
  await tell();
  const pauses = it.context.limits.webhookPausesMs;
  for (const [index, pauseMs] of pauses.entries()) {
    await waitFor("the outbox", () => stateOf(hook)[0]?.attempts === index + 1);
    expect(stateOf(hook)[0]).toMatchObject({ status: "waiting", nextAt: it.clock.now() + pauseMs });
    await waitFor("the outbox", () => it.clock.nextDue() !== undefined);
    it.clock.moveTo(it.clock.steady() + pauseMs);
  }
  await waitFor("the outbox", () => stateOf(hook)[0]?.status === "dropped");
  expect(receiver.received).toHaveLength(pauses.length + 1);
  expect(new Set(receiver.received.map(({ headers }) => headers["x-berth-delivery"])).size).toBe(1);
  const [entry] = it.context.store.audit.list(shop.entry().instance.seq, { limit: 1 });
  expect(entry).toMatchObject({ action: "hook.dropped", detail: { event: "user.created", result: "status 500" } });
});

test("one that hangs does not hold up the others", async () => {
  const hanging = startReceiver(() => new Promise<Response>(() => undefined));
  receiver = startReceiver();
  const [slow, quick] = [await addHook(hanging.url), await addHook(receiver.url, "hook_2")];
  start({ timeoutMs: 60_000 });
  for (let n = 0; n < 30; n++) await tell({ n });
  await waitFor(
    "the quick one",
    () => stateOf(quick).every(({ status }) => status === "delivered") && receiver?.received.length === 30,
  );
  expect(stateOf(slow).every(({ status }) => status === "waiting")).toBe(true);
  stopping.abort();
  await hanging.stop();
});

test("an address inside the machine is refused unless it is allowed, and the way out is named", async () => {
  receiver = startReceiver();
  const hook = await addHook(receiver.url);
  start({ allowPrivate: false, allowFlag: "--identity-allow-private-endpoints" });
  await tell();
  await waitFor("the outbox", () => stateOf(hook)[0]?.status === "dropped");
  expect(stateOf(hook)[0]?.lastResult).toContain("--identity-allow-private-endpoints");
  expect(receiver.received).toEqual([]);
});

test("a webhook that is turned off gets what waits for it once it is on again", async () => {
  receiver = startReceiver();
  const hook = await addHook(receiver.url);
  await tell();
  await it.context.store.write(({ webhooks: hooks }) => hooks.update({ ...hook, enabled: false }));
  start();
  await tell();
  expect(stateOf(hook).map(({ status }) => status)).toEqual(["waiting"]);
  await it.context.store.write(({ webhooks: hooks }) => hooks.update({ ...hook, enabled: true }));
  await tell();
  await waitFor("the outbox", () => stateOf(hook).every(({ status }) => status === "delivered"));
  expect(receiver.received).toHaveLength(2);
});
