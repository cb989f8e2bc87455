import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { createMailSender } from "../../../../src/base/deliver/mail.ts";
import { mailServer } from "../../../../src/base/deliver/mail-server.ts";
import type { Attempt } from "../../../../src/base/deliver/webhook.ts";
import { secret } from "../../../../src/base/words/secret.ts";
import { startSmtpServer } from "../../../support/smtp-server.ts";

const smtp = startSmtpServer();
afterAll(() => smtp.stop());
beforeEach(() => {
  smtp.answer = "accept";
  smtp.received.length = 0;
});

const mail = { id: "mail_a", to: "ana@example.com", subject: "Grüße", text: "Hello,\nlink", html: "<p>Hello</p>" };
const sender = (timeoutMs: number) =>
  createMailSender({ url: secret(`smtp://127.0.0.1:${smtp.port}`), from: "Shop <no-reply@shop.example>", timeoutMs });
const attempt = (timeoutMs = 20_000) => sender(timeoutMs)(mail, new AbortController().signal);

describe("mail over SMTP", () => {
  test("plain text and HTML, with an id that stays the same", async () => {
    expect(await attempt()).toEqual({ outcome: "delivered", result: "accepted" });
    const [raw = ""] = smtp.received;
    expect(raw).toContain("From: Shop <no-reply@shop.example>");
    expect(raw).toContain("To: ana@example.com");
    expect(raw).toContain("Message-ID: <mail_a@shop.example>");
    expect(raw).toContain("Subject: =?UTF-8?");
    expect(raw).toContain("multipart/alternative");
  });

  test("later, never, and no word at all; nothing of what was said is kept", async () => {
    smtp.answer = "later";
    const said = (outcome: Attempt["outcome"], status: number): Attempt => ({
      ...{ outcome, result: `not sent (EENVELOPE, the server said ${status})`, unheard: true },
    });
    expect(await attempt()).toEqual(said("failed", 450));
    smtp.answer = "never";
    expect(await attempt()).toEqual(said("refused", 550));
    smtp.answer = "hang";
    const lost = await attempt(300);
    expect([lost.outcome, lost.unheard]).toEqual(["failed", undefined]);
  });

  test("domains of other scripts are written as every mail server takes them", async () => {
    const url = secret(`smtp://127.0.0.1:${smtp.port}`);
    const send = createMailSender({ url, from: "Büro <no-reply@münchen.example>", timeoutMs: 20_000 });
    for (const to of ["ana@münchen.example", "ana@xn--mnchen-3ya.example"]) {
      expect((await send({ ...mail, to }, new AbortController().signal)).outcome).toBe("delivered");
      const raw = smtp.received.at(-1) ?? "";
      expect(raw).toContain("To: ana@xn--mnchen-3ya.example");
      expect(raw).toContain("<no-reply@xn--mnchen-3ya.example>");
      expect(raw).toContain("Message-ID: <mail_a@xn--mnchen-3ya.example>");
      expect(raw).not.toContain("ü");
    }
  });

  test("a server that is not there", async () => {
    const nowhere = createMailSender({ url: secret("smtp://127.0.0.1:1"), from: "a@b.io", timeoutMs: 300 });
    expect((await nowhere(mail, new AbortController().signal)).outcome).toBe("failed");
  });
});

describe("address of the server", () => {
  test("TLS is a must beyond this machine", () => {
    expect(mailServer("smtp://mail.example:587")).toMatchObject({ requireTLS: true, secure: false, port: 587 });
    expect(mailServer("smtps://mail.example")).toMatchObject({ secure: true, port: 465 });
    expect(mailServer("smtp://127.0.0.1:25")).toMatchObject({ requireTLS: false, ignoreTLS: true });
    expect(mailServer("smtp://a%40b.io:p%3Aw@mail.example").auth).toEqual({ user: "a@b.io", pass: "p:w" });
    expect(mailServer("smtp://u:100%@mail.example").auth).toEqual({ user: "u", pass: "100%" });
    expect(() => mailServer("smtp://AKIA:BLk+/=x@mail.example:587")).toThrow("write / as %2F");
  });
  test("a host of another script is looked up as DNS knows it", () => {
    expect(mailServer("smtps://mail.münchen.example").host).toBe("mail.xn--mnchen-3ya.example");
    for (const odd of ["smtps://mail.m%FCnchen.example", "smtps://mün%20chen.example"]) {
      expect(() => mailServer(odd)).toThrow(/not a host name/);
    }
  });
  test("a wrong one is not repeated: it holds a password", () => {
    for (const odd of ["", "mail.example", "http://u:hidden@mail.example", "smtp://"]) {
      expect(() => mailServer(odd)).toThrow(/not smtp:\/\/USER/);
    }
  });
});
