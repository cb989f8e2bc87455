import { pathOf } from "./target-text.ts";
import type { ChannelTarget } from "../../api/alert-channels.ts";
import type { Severity } from "../../api/alerts.ts";
import { bodyText, clip, clipBytes, isEnd, type Message, severityOf, titleText } from "./message.ts";

/** What is to be sent over HTTP. */
interface ChannelRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

type HttpTarget = Exclude<ChannelTarget, { type: "mail" }>;

interface RequestOptions {
  /** With the last lines of output of apps. */
  lines: boolean;
  /** `berth` */
  product: string;
}

/** The longest texts that the services take, with room for what we add. */
const charactersMax = { slack: 2_900, discord: 1_900, telegram: 3_900, ntfy: 3_500, webhook: 20_000, pagerduty: 4_000 };

/** ntfy counts bytes: more is an attachment, and twice as much is refused. */
const ntfyBytesMax = 3_900;

export function requestOf(target: HttpTarget, message: Message, options: RequestOptions): ChannelRequest {
  const title = titleText(message);
  const body = bodyText(message, { lines: options.lines, charactersMax: charactersMax[target.type] });
  const json = (url: string, value: unknown, headers: Record<string, string> = {}) => ({
    url,
    headers: { "Content-Type": "application/json", ...headers },
    body: JSON.stringify(value),
  });
  switch (target.type) {
    case "webhook":
      return json(target.url, webhookPayload(message, { title, body, lines: options.lines }));
    case "slack":
      return json(target.url, { text: `*${slackText(title)}*\n${slackText(body)}`, unfurl_links: false });
    case "discord":
      return json(target.url, {
        content: `**${title}**\n\`\`\`\n${fenced(body)}\n\`\`\``,
        allowed_mentions: { parse: [] },
      });
    case "telegram": {
      const base = target.url ?? "https://api.telegram.org";
      const text = `${title}\n\n${body}`;
      const url = `${base.replace(/\/+$/, "")}/bot${target.token}/sendMessage`;
      return json(url, { chat_id: target.chat, text, link_preview_options: { is_disabled: true } });
    }
    case "ntfy": {
      const { base, topic } = ntfyPlace(target.url);
      const auth: Record<string, string> =
        target.token === undefined ? {} : { Authorization: `Bearer ${target.token}` };
      const text = clipBytes(body, ntfyBytesMax);
      return json(base, { topic, title, message: text, priority: priorityOf(message), tags: [tagOf(message)] }, auth);
    }
    case "pagerduty":
      return json(
        target.url ?? "https://events.pagerduty.com/v2/enqueue",
        pagerEvent(target.key, message, { title, body, ...options }),
      );
  }
}

/** The topic is the last part of the address. */
function ntfyPlace(text: string): { base: string; topic: string } {
  const url = new URL(text);
  const parts = pathOf(url);
  const topic = parts.pop() ?? "";
  const login = url.username === "" ? "" : `${url.username}:${url.password}@`;
  return { base: `${url.protocol}//${login}${url.host}/${parts.join("/")}`, topic };
}

/** ntfy counts from 1 (min) to 5 (urgent, which rings through quiet hours). */
function priorityOf(message: Message): number {
  if (message.test === true || isEnd(message)) return 3;
  return { critical: 5, warning: 4, info: 3 }[severityOf(message)];
}

function tagOf(message: Message): string {
  if (message.test === true) return "wave";
  if (isEnd(message)) return "white_check_mark";
  return { critical: "rotating_light", warning: "warning", info: "information_source" }[severityOf(message)];
}

interface Texts {
  title: string;
  body: string;
}

function webhookPayload(message: Message, { title, body, lines }: Texts & { lines: boolean }) {
  const without = <A extends Message["fired"][number]>(alert: A) =>
    lines || alert.why === undefined ? alert : { ...alert, why: { ...alert.why, lines: [] } };
  return {
    id: message.id,
    status: isEnd(message) ? "resolved" : "firing",
    severity: severityOf(message),
    title,
    text: body,
    server: message.server,
    group: message.group,
    at: message.at,
    firing: message.firing,
    fired: message.fired.map(without),
    resolved: message.resolved.map(without),
    reminded: message.reminded.map(without),
    ...(message.test === true ? { test: true } : {}),
  };
}

const pagerTitleMax = 1_024;

/** Events v2: one incident there for each group of alerts here, which ends with the last of them. */
function pagerEvent(key: string, message: Message, { title, body, product }: Texts & { product: string }) {
  const isOver = isEnd(message) && message.firing === 0 && message.test !== true;
  const severities: Record<Severity, string> = { critical: "critical", warning: "warning", info: "info" };
  return {
    routing_key: key,
    event_action: isOver ? "resolve" : "trigger",
    dedup_key: clip(`${product}/${message.server}/${message.test === true ? message.id : message.group}`, 255),
    payload: {
      summary: clip(title, pagerTitleMax),
      source: message.server,
      severity: message.test === true ? "info" : severities[severityOf(message)],
      timestamp: message.at,
      component: product,
      custom_details: { text: body },
    },
  };
}

/** The three characters that mean something to Slack. */
function slackText(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Nothing in a code block may end it. */
function fenced(text: string): string {
  return text.replaceAll("```", "'''");
}

/** What a status of a service means to somebody who sets a channel up. */
export function hintOf(type: ChannelTarget["type"], result: string): string {
  const status = /^status (\d{3})$/.exec(result)?.[1] ?? "";
  const hint = hints[`${type} ${status}`] ?? "";
  return hint === "" ? result : `${result}: ${hint}`;
}

const hints: Readonly<Record<string, string>> = {
  "slack 403": "Slack refuses this webhook; make a new one",
  "slack 404": "Slack does not know this webhook; it may have been removed",
  "discord 401": "Discord refuses the token in the address",
  "discord 404": "Discord does not know this webhook; it may have been deleted",
  "telegram 400": "Telegram does not know the chat; write to the bot first, or add it to the group",
  "telegram 401": "Telegram refuses the token of the bot",
  "telegram 403": "the bot was blocked or removed from the chat",
  "telegram 404": "Telegram does not know a bot with this token",
  "ntfy 401": "ntfy refuses the token",
  "ntfy 403": "this topic needs a token, or the token may not publish to it",
  "ntfy 429": "ntfy has had too many messages from this address",
  "pagerduty 400": "PagerDuty does not know the routing key",
};
