import { createOutbox, type CallState, type Outbox, type WaitingCall } from "../../base/deliver/outbox.ts";
import type { SendWebhook } from "../../base/deliver/webhook.ts";
import { secret } from "../../base/words/secret.ts";
import type { WebhookDelivery } from "../store/records.ts";
import { audit } from "./audit.ts";
import type { IdentityContext } from "./context.ts";

interface HookCall extends WaitingCall {
  delivery: WebhookDelivery;
}

/** The worker that sends what `emit` has put into the store; each call signed with the secret of its webhook. */
export function createHookOutbox(context: IdentityContext, send: SendWebhook): Outbox {
  const { store, clock, log, limits } = context;
  const outbox = createOutbox<HookCall>({
    waiting: (limit) => store.webhookDeliveries.waiting(limit, limits.webhookInFlightMax).flatMap(callOf),
    record: (call, state) => recordAttempt(context, call, state),
    send,
    clock,
    log,
    pausesMs: limits.webhookPausesMs,
    longestWaitMs: Math.max(...limits.webhookPausesMs),
    inFlightMax: limits.webhooksInFlightMax,
  });
  store.subscribeDeliveries(outbox.wake);
  return outbox;

  function callOf(delivery: WebhookDelivery): HookCall[] {
    const hook = store.webhooks.bySeq(delivery.hook);
    if (hook === undefined) return [];
    const { id, event, body, attempts, nextAt } = delivery;
    const headers = { "Content-Type": "application/json" };
    const signing = secret(hook.secret);
    return [{ id, event, url: hook.url, method: "POST", headers, body, attempts, nextAt, signing, delivery }];
  }
}

async function recordAttempt({ store, clock }: IdentityContext, call: HookCall, state: CallState): Promise<void> {
  const { delivery } = call;
  await store.write((nouns) => {
    nouns.webhookDeliveries.update({ id: delivery.id, ...state });
    if (state.status !== "dropped") return;
    const detail = { delivery: delivery.id, event: delivery.event, attempts: state.attempts, result: state.lastResult };
    const instance = { seq: delivery.instance };
    audit(nouns, { instance, actor: "service", action: "hook.dropped", detail, now: clock.now() });
  });
}
