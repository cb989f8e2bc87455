import type { Attempt } from "../../../base/deliver/webhook.ts";
import { secret } from "../../../base/words/secret.ts";
import { hintOf, requestOf } from "../../core/alerts/channel-requests.ts";
import { bodyText, isEnd, type Message, severityOf, titleText } from "../../core/alerts/message.ts";
import type { ChannelRecord, DeliveryRecord } from "../../store/alerts/records.ts";
import type { AlertParts } from "../alert-parts.ts";

interface Sending {
  channel: ChannelRecord;
  message: Message;
  delivery: DeliveryRecord;
}

/** Makes one attempt. */
export type SendDelivery = (sending: Sending, signal: AbortSignal) => Promise<Attempt>;

const mailCharactersMax = 20_000;

export function createSendDelivery({ sendWebhook, sendMail, product }: AlertParts): SendDelivery {
  return async function sendDelivery({ channel, message, delivery }, signal) {
    const { target, lines } = channel;
    const { id, attempts } = delivery;
    if (target.type === "mail") {
      if (sendMail === undefined)
        return { outcome: "failed", result: "the server has no mail server to send with", unheard: true };
      return sendMail({ id, to: target.to.join(", "), ...mailOf(message, lines) }, signal);
    }
    const { url, headers, body } = requestOf(target, message, { lines, product });
    const event = isEnd(message) ? "alert.resolved" : "alert.firing";
    const isSigned = target.type === "webhook" && target.secret !== undefined;
    const signing = isSigned ? { signing: secret(target.secret ?? "") } : {};
    const made = await sendWebhook({ id, event, url, method: "POST", headers, body, attempts, ...signing }, signal);
    return { ...made, result: hintOf(target.type, made.result) };
  };
}

function mailOf(message: Message, lines: boolean): { subject: string; text: string; html: string } {
  const title = titleText(message);
  const text = bodyText(message, { lines, charactersMax: mailCharactersMax });
  const severity = isEnd(message) ? "" : `[${severityOf(message)}] `;
  return { subject: `${severity}${title}`, text, html: `<h2>${escaped(title)}</h2><pre>${escaped(text)}</pre>` };
}

function escaped(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** A message as far as it reports some alerts: what a channel with a filter gets. */
export function withOnly(message: Message, ids: readonly string[]): Message {
  const wanted = new Set(ids);
  const only = (alerts: Message["fired"]) => alerts.filter(({ id }) => wanted.has(id));
  const { fired, resolved, reminded } = message;
  return { ...message, fired: only(fired), resolved: only(resolved), reminded: only(reminded) };
}
