import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { OutgoingMail } from "../../../../src/base/deliver/mail.ts";
import type { Attempt } from "../../../../src/base/deliver/webhook.ts";
import { createMailing, type Mailing } from "../../../../src/identity/service/mails.ts";
import { type IdentityWorld, identityWorld, type Tenant } from "../../../support/identity.ts";
import { waitFor } from "../../../support/wait.ts";

let world: IdentityWorld;
let shop: Tenant;
let sent: OutgoingMail[];
let answers: Attempt[];
let stopping: AbortController;
let running: Promise<void>;

beforeEach(async () => {
  world = identityWorld();
  shop = await world.tenant();
  sent = [];
  answers = [];
  stopping = new AbortController();
  running = Promise.resolve();
});
afterEach(async () => {
  stopping.abort();
  await running;
  world.close();
});

const link = "https://id.test/verify?token=value-that-must-not-show";

function start(withServer: boolean): Mailing {
  const send = (mail: OutgoingMail) => {
    sent.push(mail);
    return Promise.resolve(answers.shift() ?? { outcome: "delivered" as const, result: "accepted" });
  };
  const mailing = createMailing({ context: world.context, send: withServer ? send : undefined });
  running = mailing.run(stopping.signal);
  return mailing;
}

async function post(mailing: Mailing): Promise<void> {
  const entry = shop.entry();
  const now = world.clock.now();
  await world.context.store.write((nouns) =>
    mailing.post(nouns, { entry, purpose: "verify_email", language: "en", to: "ana@example.com", link, now }),
  );
  mailing.wake();
}

const mail = () => world.context.store.mails.list({ limit: 1 })[0];

describe("mails", () => {
  test("are sent once, and marked so", async () => {
    await post(start(true));
    await waitFor("the mail to be sent", () => mail()?.state === "sent");
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ id: mail()?.id, to: "ana@example.com" });
    expect(sent[0]?.text).toContain(link);
  });

  test("are tried again, with pauses, and then given up", async () => {
    const failed: Attempt = { outcome: "failed", result: "not sent (ESOCKET)" };
    answers = Array.from({ length: 10 }, () => failed);
    await post(start(true));
    const pauses = world.context.limits.signIn.mailPausesMs;
    for (const [index, pauseMs] of pauses.entries()) {
      await waitFor(`attempt ${index + 1}`, () => mail()?.attempts === index + 1);
      expect(mail()).toMatchObject({ state: "waiting", lastError: "not sent (ESOCKET)" });
      await waitFor("the next to be waited for", () => world.clock.sleepers > 0);
      world.clock.moveTo(world.clock.steady() + pauseMs);
    }
    await waitFor("the end", () => mail()?.state === "failed");
    expect(sent).toHaveLength(pauses.length + 1);
  });

  test("that nobody will ever take are not tried again", async () => {
    answers = [{ outcome: "refused", result: "not sent (EENVELOPE, the server said 550)" }];
    await post(start(true));
    await waitFor("the end", () => mail()?.state === "failed");
    expect(sent).toHaveLength(1);
  });

  test("without a mail server are kept; audit and webhooks get the id, never the content", async () => {
    await world.context.store.write((nouns) =>
      nouns.webhooks.add({
        id: "hook_a",
        instance: shop.entry().instance.seq,
        url: "https://hooks.test/",
        secret: "s",
        events: [],
        enabled: true,
        createdAt: 1,
      }),
    );
    await post(start(false));
    expect(mail()).toMatchObject({ state: "kept", purpose: "verify_email" });
    const entry = shop.entry().instance.seq;
    const told = JSON.stringify([
      world.context.store.audit.list(entry, { limit: 10 }),
      world.context.store.webhookDeliveries.waiting(10, 10),
    ]);
    expect(told).toContain(mail()?.id ?? "?");
    expect(told).not.toContain("value-that-must-not-show");
  });
});
