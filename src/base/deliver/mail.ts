import { asciiDomain } from "../pure/domain-names.ts";
import { unlessAborted } from "../words/abort.ts";
import type { Secret } from "../words/secret.ts";
import { mailServer } from "./mail-server.ts";
import type { Attempt } from "./webhook.ts";

/** One mail to be sent. */
export interface OutgoingMail {
  /** The same for every attempt: receivers know a repetition by it. */
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
}

interface MailOptions {
  /** `smtp://user:password@host:587` or `smtps://…:465`. */
  url: Secret<string>;
  /** `Shop <no-reply@shop.example>` */
  from: string;
  /** Time limit of one attempt. */
  timeoutMs: number;
}

export type SendMail = (mail: OutgoingMail, signal: AbortSignal) => Promise<Attempt>;

/** Makes single attempts over SMTP. Beyond this machine the connection is encrypted, or nothing is sent. */
export function createMailSender({ url, from, timeoutMs }: MailOptions): SendMail {
  const server = mailServer(url.reveal());
  const sender = withAsciiDomain(from);
  const domain = sender.slice(sender.lastIndexOf("@") + 1).replace(/>\s*$/, "");
  return async function sendMail(mail, signal) {
    const { id, ...content } = { ...mail, to: withAsciiDomain(mail.to) };
    // Loaded with the first mail: it takes megabytes of memory, and many servers send none.
    const { createTransport } = await import("nodemailer");
    const transport = createTransport({
      ...server,
      connectionTimeout: timeoutMs,
      greetingTimeout: timeoutMs,
      socketTimeout: timeoutMs,
      // A mail is text of ours: nothing in it may make the library read files or addresses.
      disableFileAccess: true,
      disableUrlAccess: true,
    });
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
      const sending = transport.sendMail({ ...content, from: sender, messageId: `<${id}@${domain}>` });
      const sent = await unlessAborted(sending, limit);
      return sent === undefined
        ? { outcome: "failed", result: `not sent within ${timeoutMs / 1_000} s` }
        : { outcome: "delivered", result: "accepted" };
    } catch (error) {
      return refusal(error);
    } finally {
      transport.close();
    }
  };
}

/** `Shop <a@münchen.de>` as every mail server takes it; a domain that is none stays for the server to refuse. */
function withAsciiDomain(address: string): string {
  return address.replace(/@([^@>\s]+)(?=>?\s*$)/, (all, domain: string) => {
    const ascii = asciiDomain(domain);
    return ascii === undefined ? all : `@${ascii}`;
  });
}

/** What the server said may repeat the address, or more: only its number is kept. */
function refusal(error: unknown): Attempt {
  const fields = typeof error === "object" && error !== null ? error : {};
  const status = "responseCode" in fields && typeof fields.responseCode === "number" ? fields.responseCode : undefined;
  const code = "code" in fields && typeof fields.code === "string" && /^\w+$/.test(fields.code) ? fields.code : "ERROR";
  const isFinal = status !== undefined && status >= 500 && code !== "EAUTH";
  const result = status === undefined ? `not sent (${code})` : `not sent (${code}, the server said ${status})`;
  // The server answers with a number instead of taking the mail; without one the answer may have been lost.
  return { outcome: isFinal ? "refused" : "failed", result, ...(status === undefined ? {} : { unheard: true }) };
}
