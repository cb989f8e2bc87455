import type { Language } from "../core/languages.ts";
import { type MailPurpose, mailText } from "../core/mail-text.ts";
import { opaqueId } from "../core/keys.ts";
import type { SendMail } from "../../base/deliver/mail.ts";
import { createOutbox } from "../../base/deliver/outbox.ts";
import type { IdentityNouns } from "../store/open-store.ts";
import type { Mail } from "../store/records.ts";
import { audit } from "./audit.ts";
import type { IdentityContext } from "./context.ts";
import type { InstanceEntry } from "./directory.ts";
import { emit } from "./events.ts";

interface Post {
  entry: InstanceEntry;
  purpose: MailPurpose;
  language: Language;
  to: string;
  link: string;
  now: number;
}

/** Mails of the hosted pages: rows of the write that they belong to, sent afterwards. */
export interface Mailing {
  /** Inside a write. Without a mail server the mail is kept for an operator to look at. */
  post(nouns: MailNouns, post: Post): void;
  /** Something may be new: call it after the write. */
  wake(): void;
  /** Sends what waits until `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
}

type MailNouns = Pick<IdentityNouns, "mails" | "apps" | "audit" | "webhooks" | "webhookDeliveries">;

interface MailingParts {
  context: IdentityContext;
  /** Undefined: no mail server is known. */
  send: SendMail | undefined;
}

const idBytes = 20;

export function createMailing({ context, send }: MailingParts): Mailing {
  const { store, clock, log, limits, randomBytes } = context;
  const outbox = createOutbox<Mail>({
    noun: "mail",
    waiting: (limit) => store.mails.waiting(limit),
    record: (mail, { status, attempts, nextAt, lastResult }) =>
      store.write(({ mails }) => {
        const state = status === "delivered" ? "sent" : status === "dropped" ? "failed" : "waiting";
        mails.update({ ...mail, state, attempts, nextAt, lastError: state === "sent" ? undefined : lastResult });
      }),
    send: ({ id, message }, signal) =>
      send?.({ id, ...message }, signal) ?? Promise.resolve({ outcome: "failed", result: "no mail server is set up" }),
    clock,
    log,
    pausesMs: limits.signIn.mailPausesMs,
    longestWaitMs: Math.max(...limits.signIn.mailPausesMs),
    inFlightMax: limits.signIn.mailsInFlightMax,
  });
  return {
    post(nouns, { entry, purpose, language, to, link, now }) {
      const { instance } = entry;
      const title = titleOf(nouns, entry);
      const id = opaqueId("mail", randomBytes(idBytes));
      const message = { to, ...mailText({ purpose, language, title, link }) };
      const state = send === undefined ? "kept" : "waiting";
      const times = { attempts: 0, nextAt: now, lastError: undefined, createdAt: now };
      nouns.mails.add({ id, instance: instance.seq, purpose, message, state, ...times }, limits.signIn.mailsKept);
      const detail = { mail: id, purpose };
      audit(nouns, { instance, actor: "service", action: `mail.${state}`, email: to, detail, now });
      if (state === "kept") emit(nouns, { instance, type: "mail.kept", data: { id, purpose }, now });
    },
    wake: outbox.wake,
    async run(signal) {
      if (send !== undefined) await outbox.run(signal);
    },
  };
}

/** How the app is called on hosted pages and in mails. */
export function titleOf({ apps }: Pick<IdentityNouns, "apps">, { instance, settings }: InstanceEntry): string {
  return settings.title || (apps.get(instance.appId)?.name ?? instance.name);
}
