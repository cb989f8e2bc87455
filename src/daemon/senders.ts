import { createMailSender, type SendMail } from "../base/deliver/mail.ts";
import type { Gate } from "../base/deliver/gate.ts";
import { createPinned } from "../base/deliver/pinned.ts";
import { resolveHost } from "../base/deliver/resolve-host.ts";
import { signingSecret } from "../base/deliver/signature.ts";
import { createWebhookSender, type SendWebhook } from "../base/deliver/webhook.ts";
import type { Key } from "../base/disk/key-file.ts";
import { systemClock } from "../base/words/clock.ts";
import { secret } from "../base/words/secret.ts";
import { identityLimits, limits, proxyVariables, type ServeOptions } from "../config/config.ts";
import type { Naming } from "../orchestration/core/naming.ts";
import { versionText } from "../version.ts";

export interface Senders {
  sendWebhooks(guard: { allowPrivate: boolean; allowFlag?: string }): SendWebhook;
  /** Undefined without a mail server: mails are kept. */
  sendMail: SendMail | undefined;
}

/** What makes single attempts at webhooks and mails. Nothing leaves while the gate is closed. */
export function createSenders({
  options,
  key,
  names,
  gate,
}: {
  options: ServeOptions;
  key: Key;
  names: Naming;
  gate: Gate;
}): Senders {
  const send = gate.guard("no webhook is sent", createPinned(proxyVariables()));
  return {
    sendWebhooks: (guard) =>
      createWebhookSender({
        ...guard,
        fetch: send,
        resolve: resolveHost,
        signing: signingSecret(key),
        headerPrefix: names.headerPrefix,
        userAgent: `${names.prefix}/${versionText()}`,
        now: systemClock.now,
        timeoutMs: limits.webhookTimeoutMs,
        responseBytesMax: limits.webhookResponseBytesMax,
      }),
    sendMail: mailSender(options, gate),
  };
}

function mailSender({ smtpUrl, mailFrom }: ServeOptions, gate: Gate): SendMail | undefined {
  if (smtpUrl === "") return undefined;
  const { mailTimeoutMs: timeoutMs } = identityLimits.signIn;
  return gate.guard("no mail is sent", createMailSender({ url: secret(smtpUrl), from: mailFrom, timeoutMs }));
}
