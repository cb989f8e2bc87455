import type { IdentityEventType } from "../api/events.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { Instance } from "../store/records.ts";

/** Something that happened in an instance and that its webhooks tell. */
interface IdentityEvent {
  instance: Pick<Instance, "seq" | "id">;
  type: IdentityEventType;
  /** The resource object as the API shows it, or its ids when it is gone. Never a token, code or password. */
  data: Record<string, unknown>;
  /** Epoch milliseconds. */
  now: number;
}

/** A session is one of its user: a ban and a deletion are newer than the sessions before. */
function subjectOf({ type, data }: IdentityEvent): string {
  const subject = type.startsWith("session.") ? data.user_id : type.startsWith("user.") ? data.id : undefined;
  return typeof subject === "string" ? subject : "";
}

/** Puts one call per interested webhook into the outbox, inside the write that the event is about. */
export function emit(nouns: Pick<IdentityNouns, "webhooks" | "webhookDeliveries">, event: IdentityEvent): void {
  const { instance, type, data, now } = event;
  for (const hook of nouns.webhooks.list(instance.seq)) {
    if (!hook.enabled || (hook.events.length > 0 && !hook.events.includes(type))) continue;
    const id = crypto.randomUUID();
    const body = { id, type, instance_id: instance.id, created_at: new Date(now).toISOString(), data };
    nouns.webhookDeliveries.add({
      id,
      hook: hook.seq,
      instance: instance.seq,
      event: type,
      subject: subjectOf(event),
      body: JSON.stringify(body),
      status: "waiting",
      attempts: 0,
      nextAt: now,
      lastResult: undefined,
      createdAt: now,
    });
  }
}
