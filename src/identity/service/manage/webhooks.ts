import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import { bodyReader } from "../../../base/wire/read-body.ts";
import { identityEventTypes, isIdentityEventType } from "../../api/events.ts";
import {
  createIdentityWebhook,
  type deleteIdentityWebhook,
  type IdentityWebhook,
  type listIdentityDeliveries,
  type listIdentityWebhooks,
  updateIdentityWebhook,
} from "../../api/manage/webhooks.ts";
import { maskedUrl, unmaskedUrl } from "../../../base/pure/shown-url.ts";
import { idBytes, opaqueId } from "../../core/keys.ts";
import { didYouMean } from "../../../base/pure/suggest.ts";
import { isClosedHost } from "../../../base/deliver/address-guard.ts";
import type { Webhook, WebhookDelivery } from "../../store/records.ts";
import { audit } from "../audit.ts";
import { type By, type ManageContext, requireInstance } from "./context.ts";

const readBody = bodyReader(createIdentityWebhook);
const readChange = bodyReader(updateIdentityWebhook);
const signingBytes = 32;

/** The webhooks that hear what happens in an instance. */
export interface ManagedWebhooks {
  list(instance: string | undefined): DataOf<typeof listIdentityWebhooks>;
  create(instance: string | undefined, body: unknown, by: By): Promise<DataOf<typeof createIdentityWebhook>>;
  update(
    instance: string | undefined,
    change: { hook: string; body: unknown },
    by: By,
  ): Promise<DataOf<typeof updateIdentityWebhook>>;
  remove(instance: string | undefined, hook: string, by: By): Promise<DataOf<typeof deleteIdentityWebhook>>;
  deliveries(instance: string | undefined, hook: string, limit: number): DataOf<typeof listIdentityDeliveries>;
}

export function createManagedWebhooks(context: ManageContext): ManagedWebhooks {
  const { store, clock, limits, randomBytes, allowPrivate } = context;
  return {
    list: (id) => ({ hooks: store.webhooks.list(requireInstance(context, id).seq).map(wireWebhook) }),
    async create(id, body, { actor }) {
      const { url, events = [] } = readBody(body);
      checkUrl(url, allowPrivate);
      unmasked(url, url);
      checkEvents(events);
      return store.write((nouns) => {
        const instance = requireInstance(context, id);
        if (nouns.webhooks.list(instance.seq).length >= limits.webhooksMax) {
          throw new Failure("conflict", `the instance has ${limits.webhooksMax} webhooks: delete one first`);
        }
        const hook = nouns.webhooks.add({
          id: opaqueId("hook", randomBytes(idBytes)),
          instance: instance.seq,
          url,
          secret: Buffer.from(randomBytes(signingBytes)).toString("hex"),
          events: [...new Set(events)],
          enabled: true,
          createdAt: clock.now(),
        });
        const detail = { hook: hook.id, events: hook.events };
        audit(nouns, { instance, actor, action: "hook.create", detail, now: hook.createdAt });
        return { ...wireWebhook(hook), secret: hook.secret };
      });
    },
    async update(id, { hook: hookId, body }, { actor }) {
      const { url, events, enabled } = readChange(body);
      if (url !== undefined) checkUrl(url, allowPrivate);
      if (events !== undefined) checkEvents(events);
      return store.write((nouns) => {
        const instance = requireInstance(context, id);
        const before = requireHook(nouns.webhooks.get(instance.seq, hookId), hookId);
        const hook = {
          ...before,
          url: url === undefined ? before.url : unmasked(url, before.url),
          events: [...new Set(events ?? before.events)],
          enabled: enabled ?? before.enabled,
        };
        nouns.webhooks.update(hook);
        const detail = { hook: hookId, url: hook.url !== before.url, events: hook.events, enabled: hook.enabled };
        audit(nouns, { instance, actor, action: "hook.update", detail, now: clock.now() });
        return wireWebhook(hook);
      });
    },
    remove: (id, hookId, { actor }) =>
      store.write((nouns) => {
        const instance = requireInstance(context, id);
        const hook = requireHook(nouns.webhooks.get(instance.seq, hookId), hookId);
        nouns.webhooks.remove(hook.seq);
        audit(nouns, { instance, actor, action: "hook.delete", detail: { hook: hookId }, now: clock.now() });
        return { id: hookId, deleted: true as const };
      }),
    deliveries(id, hookId, limit) {
      const hook = requireHook(store.webhooks.get(requireInstance(context, id).seq, hookId), hookId);
      return { deliveries: store.webhookDeliveries.list(hook.seq, limit).map(wireDelivery) };
    },
  };
}

function requireHook(hook: Webhook | undefined, id: string): Webhook {
  if (hook !== undefined) return hook;
  throw new Failure("not_found", `the instance has no webhook "${id.slice(0, 80)}"`);
}

function checkUrl(text: string, allowPrivate: boolean): void {
  const url = /^https?:\/\/[^\s\\]+$/.test(text) && URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw new Failure("invalid", 'url: is not an address such as "https://host/path"');
  if (allowPrivate) return;
  const way = "or serve with --identity-allow-private-endpoints";
  if (url.protocol !== "https:") throw new Failure("invalid", `url: must be https, ${way}`);
  if (isClosedHost(url.hostname)) {
    throw new Failure("invalid", `url: is inside this machine or its networks: name a public host, ${way}`);
  }
}

function unmasked(text: string, before: string): string {
  const url = unmaskedUrl(text, before);
  if (url !== undefined) return url;
  throw new Failure(
    "invalid",
    "url: *** stands for stored credentials, and none are stored for this host: write them out",
  );
}

function checkEvents(events: readonly string[]): void {
  const wrong = events.find((event) => !isIdentityEventType(event));
  if (wrong === undefined) return;
  const hint = didYouMean(wrong, identityEventTypes) || `; there are ${identityEventTypes.join(", ")}`;
  throw new Failure("invalid", `events: no event ${JSON.stringify(wrong.slice(0, 80))}${hint}`);
}

function wireWebhook({ id, url, events, enabled, createdAt }: Webhook): IdentityWebhook {
  return { id, url: maskedUrl(url), events, enabled, created_at: isoTime(createdAt) };
}

function wireDelivery({ id, event, status, attempts, createdAt, nextAt, lastResult }: WebhookDelivery) {
  return {
    id,
    event,
    status,
    attempts,
    created_at: isoTime(createdAt),
    ...(status === "waiting" ? { next_at: isoTime(nextAt) } : {}),
    ...(lastResult === undefined ? {} : { last_result: lastResult }),
  };
}
