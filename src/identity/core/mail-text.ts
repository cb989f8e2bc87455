import { type Html, markup } from "./html.ts";
import type { Language } from "./languages.ts";
import type { MessageKey } from "./messages-en.ts";
import { sayIn } from "./messages.ts";

export type MailPurpose = "verify_email" | "account_exists" | "reset_password";

interface MailInput {
  purpose: MailPurpose;
  language: Language;
  /** Name of the app, as people know it. */
  title: string;
  link: string;
}

interface MailText {
  subject: string;
  text: string;
  html: string;
}

interface Texts {
  subject: MessageKey;
  text: MessageKey;
  button: MessageKey;
  lifetime: MessageKey | undefined;
}

const texts: Record<MailPurpose, Texts> = {
  verify_email: {
    subject: "mail_verify_subject",
    text: "mail_verify_text",
    button: "mail_verify_button",
    lifetime: "mail_lifetime_day",
  },
  account_exists: {
    subject: "mail_exists_subject",
    text: "mail_exists_text",
    button: "mail_exists_button",
    lifetime: undefined,
  },
  reset_password: {
    subject: "mail_reset_subject",
    text: "mail_reset_text",
    button: "mail_reset_button",
    lifetime: "mail_lifetime_hour",
  },
};

/** A mail of the hosted pages. It names no person: a user who typed a stranger's address cannot put a text into it. */
export function mailText({ purpose, language, title, link }: MailInput): MailText {
  const say = sayIn(language);
  const keys = texts[purpose];
  const hello = say("mail_hello");
  const body = say(keys.text, { title });
  const lifetime = keys.lifetime === undefined ? undefined : say(keys.lifetime);
  const closing = [...(lifetime === undefined ? [] : [lifetime]), say("mail_ignore")];
  return {
    // A line break here would begin another header.
    subject: say(keys.subject, { title }).replace(/\p{Cc}/gu, " "),
    text: [hello, "", body, "", link, "", ...closing, ""].join("\n"),
    html: page({ language, hello, body, link, button: say(keys.button), closing }).html,
  };
}

interface PageInput {
  language: Language;
  hello: string;
  body: string;
  link: string;
  button: string;
  closing: string[];
}

/** Mail programs know little more than the HTML of long ago. */
function page({ language, hello, body, link, button, closing }: PageInput): Html {
  const font = "font:16px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif";
  return markup`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
</head>
<body style="margin:0;padding:32px 16px;${font}">
<div style="max-width:30em;margin:0 auto">
<p>${hello}</p>
<p>${body}</p>
<p style="margin:28px 0">
<a
href="${link}"
style="background:#1f2937;color:#ffffff;padding:12px 20px;border-radius:8px;text-decoration:none">${button}</a>
</p>
<p style="font-size:13px;word-break:break-all">${link}</p>
${closing.map((line) => markup`<p style="font-size:13px;color:#6b7280">${line}</p>`)}
</div>
</body>
</html>`;
}
