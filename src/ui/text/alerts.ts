import type { Alert, Severity } from "../../observability/api/alerts.ts";
import type { ChannelBody } from "../../observability/api/alert-channels.ts";
import type { Rule, RuleBody, Watch } from "../../observability/api/alert-rules.ts";
import { many } from "./figures.ts";
import type { Tone } from "./states.ts";

/** How an alert looks. Only one that is over is green. */
export function alertTone({ state, severity }: Pick<Alert, "state" | "severity">): Tone {
  if (state === "resolved") return "good";
  return state === "pending" ? "warn" : severityTone(severity);
}

/** A severity is never green: it tells how bad something is. */
export function severityTone(severity: Severity): Tone {
  return severity === "critical" ? "bad" : severity === "warning" ? "warn" : "work";
}

export function deliveryTone(status: string): Tone {
  return status === "delivered" ? "good" : status === "dropped" ? "bad" : "work";
}

export function heartbeatTone(state: string): Tone {
  return state === "ok" ? "good" : state === "failing" ? "bad" : state === "off" ? "idle" : "warn";
}

type RequestWatch = Extract<Watch, { type: "requests" }>;

/** What a rule looks at, in a few words. */
export function watchText(watch: Watch): string {
  switch (watch.type) {
    case "platform":
      return platformText(watch.condition, watch.limit);
    case "requests":
      return requestsText(watch);
    case "metric": {
      const limit = watch.above === undefined ? `below ${watch.below ?? 0}` : `above ${watch.above}`;
      return `${watch.agg ?? "avg"} of ${watch.metric} over ${watch.over ?? "5m"} ${limit}`;
    }
    case "log":
      return `more than ${watch.more_than ?? 0} lines with "${watch.pattern}" within ${watch.within ?? "5m"}`;
  }
}

function requestsText({ failed_percent: failed, failed_percent_of: own = {}, p99_ms: p99 }: RequestWatch): string {
  const others = Object.entries(own).map(([app, percent]) => `${app} ${percent} %`);
  const usual = failed === undefined ? [] : [`more than ${failed} % of the requests fail`];
  const slow = p99 === undefined ? [] : [`requests slower than ${p99} ms (p99)`];
  const text = [...usual, ...slow].join(", or ");
  return others.length === 0 ? text : `${text} (${others.join(", ")})`;
}

/** What the server itself sees, without a metric. */
const platformTexts: Record<string, string> = {
  down: "an app of which no replica is ready",
  not_ready: "an app with fewer ready replicas than it wants",
  crash_loop: "a replica that dies again and again (crash loop)",
  out_of_memory: "a replica that was killed because it needed more memory than it may have",
  deploy_failed: "a deploy that failed",
  run_failed: "a run of a job that failed",
  run_missed: "a cron job whose time passed without a run",
  engine: "Docker, when the server cannot reach it",
  ingress: "the ingress, when it does not serve what is stored",
};

/** A condition as the overview knows it; the limit with its unit. */
function platformText(condition: string, limit: number | undefined): string {
  const what = platformTexts[condition] ?? condition.replaceAll("_", " ");
  if (limit === undefined) return what;
  if (condition === "certificate") return `a certificate that ends within ${many(limit, "day")}`;
  if (condition === "backup") return `no backup for ${many(limit, "day")}`;
  if (condition === "drain") return `a log drain that is ${many(limit, "minute")} behind`;
  return condition === "disk_full" ? `a disk that is ${limit} % full` : `${what}, limit ${limit}`;
}

type ChannelType = ChannelBody["target"]["type"];

/** What each type of channel is asked for; the first is where it leads to. A field in brackets may stay empty. */
export const channelFields: Record<ChannelType, readonly [name: string, label: string, example: string][]> = {
  ntfy: [
    ["url", "Server and topic", "https://ntfy.sh/YOUR-TOPIC"],
    ["token", "Access token (may stay empty)", ""],
  ],
  mail: [["to", "Addresses, with commas between", "ops@example.com"]],
  slack: [["url", "Address of the incoming webhook", "https://hooks.slack.com/services/…"]],
  discord: [["url", "Address of the webhook", "https://discord.com/api/webhooks/…"]],
  telegram: [
    ["token", "Token of the bot", ""],
    ["chat", "Id of the chat, or @channel", "@ops"],
  ],
  pagerduty: [["key", "Routing key of the integration", ""]],
  webhook: [
    ["url", "Address that gets a POST", "https://example.com/alerts"],
    ["secret", "Secret that signs the calls (may stay empty)", ""],
  ],
};

/** Where a channel leads to, from what was typed; empty fields are left out. */
export function channelTarget(type: ChannelType, typed: Readonly<Record<string, string>>): ChannelBody["target"] {
  const given = channelFields[type].flatMap(([name]) => {
    const text = (typed[name] ?? "").trim();
    return text === "" ? [] : [[name, name === "to" ? text.split(/\s*,\s*/) : text] as const];
  });
  // The server checks what is missing, and says so.
  return { type, ...Object.fromEntries(given) } as ChannelBody["target"];
}

/** What is written of a rule, from what is read of it. */
export function ruleBody(rule: Rule): RuleBody {
  const { name: _, origin: __, firing: ___, problem: ____, ...body } = rule;
  return body;
}
