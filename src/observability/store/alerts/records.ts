import type { ChannelTarget } from "../../api/alert-channels.ts";
import type { RuleBody } from "../../api/alert-rules.ts";
import type { Matcher } from "../../api/alert-silences.ts";
import type { AlertWhy, Severity } from "../../api/alerts.ts";
import type { Labels } from "../../core/alerts/labels.ts";
import type { Message } from "../../core/alerts/message.ts";

/** Times are epoch milliseconds. */
export interface AlertRecord {
  seq: number;
  id: string;
  fingerprint: string;
  rule: string;
  severity: Severity;
  labels: Labels;
  state: "pending" | "firing" | "resolved";
  title: string;
  detail: string;
  value: number | undefined;
  since: number;
  firedAt: number | undefined;
  wellSince: number | undefined;
  resolvedAt: number | undefined;
  group: string;
  firstSentAt: number | undefined;
  sentAt: number | undefined;
  endSent: boolean;
  acknowledged: { by: string; at: number; note: string | undefined } | undefined;
  why: AlertWhy | undefined;
}

export interface StoredRule {
  name: string;
  body: RuleBody;
  updatedAt: number;
  updatedBy: string;
}

export interface SilenceRecord {
  id: string;
  matcher: Matcher;
  by: string;
  reason: string | undefined;
  createdAt: number;
  until: number;
}

export interface ChannelRecord {
  name: string;
  target: ChannelTarget;
  minSeverity: Severity;
  apps: readonly string[];
  lines: boolean;
  createdAt: number;
}

export interface DeliveryRecord {
  id: string;
  message: string;
  channel: string;
  title: string;
  /** Ids of the alerts that it reports. */
  alerts: readonly string[];
  /** Those of them that it reports as resolved. */
  ends: readonly string[];
  /** The groups of all of them: messages of one group and channel keep their order. */
  groups: readonly string[];
  status: "waiting" | "delivered" | "dropped";
  attempts: number;
  nextAt: number;
  createdAt: number;
  lastResult: string | undefined;
}

export interface MessageRecord {
  id: string;
  group: string;
  body: Message;
  createdAt: number;
}

export interface HeartbeatRecord {
  url: string;
  everyMs: number;
}

export interface OutageRecord {
  seq: number;
  kind: string;
  scope: string;
  name: string;
  from: number;
  /** Undefined while it lasts. */
  to: number | undefined;
  seenAt: number;
  /** deploy, config, death, stop or unknown */
  cause: string;
  /** Id of the release that it follows. */
  causeRef: string | undefined;
  causeText: string;
  failedRequests: number;
}
