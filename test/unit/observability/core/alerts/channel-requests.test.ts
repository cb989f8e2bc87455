import { describe, expect, test } from "bun:test";
import type { ChannelTarget } from "../../../../../src/observability/api/alert-channels.ts";
import { hintOf, requestOf } from "../../../../../src/observability/core/alerts/channel-requests.ts";
import type { Message } from "../../../../../src/observability/core/alerts/message.ts";
import { targetProblems, targetText } from "../../../../../src/observability/core/alerts/target-text.ts";

const alert = {
  ...{ id: "a1", rule: "down", severity: "critical" as const, state: "firing" as const },
  ...{ title: "shop/web is <down>", detail: "0 of 2", labels: {}, since: "2026-06-01T03:10:00.000Z" },
  why: { changes: [], lines: ["``` secret line"], next: [] },
};
const message: Message = {
  ...{ id: "m1", group: "down", server: "vps1", at: "2026-06-01T03:12:00.000Z" },
  ...{ fired: [alert], resolved: [], reminded: [], firing: 1 },
};
const ended: Message = { ...message, fired: [], resolved: [{ ...alert, state: "resolved" }], firing: 0 };

type HttpTarget = Exclude<ChannelTarget, { type: "mail" }>;
const sent = (target: HttpTarget, what = message, lines = true) => {
  const { url, headers, body } = requestOf(target, what, { lines, product: "berth" });
  return { url, headers, body: JSON.parse(body) };
};

describe("what each service gets", () => {
  test("slack: text with its three characters escaped", () => {
    const { url, body } = sent({ type: "slack", url: "https://hooks.slack.com/services/T/B/X" });
    expect(url).toBe("https://hooks.slack.com/services/T/B/X");
    expect(body.text).toStartWith("*shop/web is &lt;down&gt;*\n");
  });

  test("discord: a code block that nothing in it ends, and no mentions", () => {
    const { body } = sent({ type: "discord", url: "https://discord.com/api/webhooks/1/x" });
    expect(body.content.split("```")).toHaveLength(3);
    expect(body.allowed_mentions).toEqual({ parse: [] });
  });

  test("telegram: a message of the bot to the chat", () => {
    const { url, body } = sent({ type: "telegram", token: "1:abc", chat: "-100" });
    expect(url).toBe("https://api.telegram.org/bot1:abc/sendMessage");
    expect(body).toMatchObject({ chat_id: "-100", text: expect.stringContaining("shop/web is <down>\n\n0 of 2") });
  });

  test("ntfy: no more bytes than it takes for one message, in every script", () => {
    for (const sign of ["x", "é", "障", "🚢"]) {
      const why = { ...alert.why, lines: Array.from({ length: 10 }, () => sign.repeat(190)) };
      const detail = sign.repeat(2_500);
      const { body } = sent(
        { type: "ntfy", url: "https://push.example/a" },
        { ...message, fired: [{ ...alert, detail, why }] },
      );
      expect(Buffer.byteLength(body.message)).toBeLessThanOrEqual(3_900);
      expect(body.message).toEndWith(`${sign}…`);
      expect(body.message).not.toContain("\uFFFD");
    }
  });

  test("ntfy: a login in the address stays in it", () => {
    const { url } = sent({ type: "ntfy", url: "https://ana:p%40ss@push.example/sub/alerts" });
    expect(url).toBe("https://ana:p%40ss@push.example/sub");
  });

  test("ntfy: the topic of the address, urgent while it is critical, calm at the end", () => {
    const target: HttpTarget = { type: "ntfy", url: "https://push.example/sub/alerts-x7", token: "tk" };
    const { url, headers, body } = sent(target);
    expect(url).toBe("https://push.example/sub");
    expect(headers.Authorization).toBe("Bearer tk");
    expect(body).toMatchObject({
      topic: "alerts-x7",
      title: "shop/web is <down>",
      priority: 5,
      tags: ["rotating_light"],
    });
    expect(sent(target, ended).body).toMatchObject({ priority: 3, tags: ["white_check_mark"] });
  });

  test("pagerduty: one incident for the group, resolved with the last of it", () => {
    const target: HttpTarget = { type: "pagerduty", key: "k" };
    expect(sent(target).body).toMatchObject({
      ...{ routing_key: "k", event_action: "trigger", dedup_key: "berth/vps1/down" },
      payload: { summary: "shop/web is <down>", source: "vps1", severity: "critical" },
    });
    expect(sent(target, { ...ended, firing: 1 }).body.event_action).toBe("trigger");
    expect(sent(target, ended).body.event_action).toBe("resolve");
  });

  test("webhook: all as data, without lines where the channel wants none", () => {
    const target: HttpTarget = { type: "webhook", url: "https://x.example/hook" };
    expect(sent(target).body).toMatchObject({ status: "firing", severity: "critical", fired: [{ id: "a1" }] });
    expect(JSON.stringify(sent(target, message, false).body)).not.toContain("secret line");
  });
});

test("what is shown of a target holds no secret", () => {
  const secret = "s3cr3t-t0ken";
  const targets: ChannelTarget[] = [
    { type: "slack", url: `https://hooks.slack.com/${secret}` },
    { type: "telegram", token: secret, chat: "-100" },
    { type: "ntfy", url: `https://ntfy.sh/${secret}`, token: secret },
    { type: "pagerduty", key: secret },
    { type: "webhook", url: `https://a:${secret}@x.example/?k=${secret}`, secret },
  ];
  const shown = targets.map(targetText);
  expect(shown).toEqual([
    "hooks.slack.com",
    "chat -100",
    "ntfy.sh/s3c…",
    "events.pagerduty.com, key s3c…",
    "x.example",
  ]);
});

test.each([
  [{ type: "ntfy", url: "https://ntfy.sh/" }, "no topic"],
  [{ type: "slack", url: "ftp://x" }, "https://HOST/PATH"],
  [{ type: "mail", to: ["ana@example.com", "ana"] }, '"ana" is not a mail address'],
] as [ChannelTarget, string][])("%j is refused", (target, text) => {
  expect(targetProblems(target)[0]?.message).toContain(text);
});

test("a status is explained where the service is known for it", () => {
  expect(hintOf("telegram", "status 401")).toBe("status 401: Telegram refuses the token of the bot");
  expect(hintOf("telegram", "connection refused")).toBe("connection refused");
});
