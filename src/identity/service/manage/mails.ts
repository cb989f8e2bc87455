import { isoTime } from "../../../base/pure/iso-time.ts";
import { Failure } from "../../../base/wire/failure.ts";
import type { DataOf } from "../../../base/wire/endpoint.ts";
import type { getIdentityMail, IdentityMail, listIdentityMails } from "../../api/manage/mails.ts";
import type { Mail } from "../../store/records.ts";
import { audit } from "../audit.ts";
import { type By, type ManageContext, requireInstance } from "./context.ts";

/** Mails of the service, for servers without a mail server of their own. */
export interface ManagedMails {
  list(instance: string | undefined, limit: number): DataOf<typeof listIdentityMails>;
  /** With its content; the audit trail remembers who has read it. */
  get(instance: string | undefined, id: string, by: By): Promise<DataOf<typeof getIdentityMail>>;
}

export function createManagedMails(context: ManageContext): ManagedMails {
  const { store, clock } = context;
  return {
    list: (id, limit) => ({
      mails: store.mails.list({ instance: requireInstance(context, id).seq, limit }).map(wire),
    }),
    get: (id, mailId, { actor }) =>
      store.write((nouns) => {
        const instance = requireInstance(context, id);
        const mail = nouns.mails.get(mailId);
        if (mail === undefined || mail.instance !== instance.seq) {
          throw new Failure("not_found", `no mail "${mailId.slice(0, 80)}": berth identity mail list shows them`);
        }
        const detail = { mail: mailId, purpose: mail.purpose };
        audit(nouns, { instance, actor, action: "mail.read", detail, now: clock.now() });
        return { ...wire(mail), subject: mail.message.subject, text: mail.message.text };
      }),
  };
}

function wire({ id, purpose, state, message, attempts, createdAt, lastError }: Mail): IdentityMail {
  return {
    id,
    purpose,
    state,
    to: message.to,
    attempts,
    created_at: isoTime(createdAt),
    last_error: lastError,
  };
}
