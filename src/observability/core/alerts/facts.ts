import type { Answered } from "../../../ingress/api/failed-share.ts";
import type { Aggregate } from "../../api/alert-rules.ts";
import type { Labels } from "./labels.ts";

/** One app as the server sees it. */
export interface AppFact {
  kind: string;
  scope: string;
  name: string;
  phase: string;
  wanted: number;
  ready: number;
  /** Stable words for what is wrong, and its text; empty while all is well. */
  reason: string;
  message: string;
  /** A release of it came up once: until then it is being set up. */
  hasServed: boolean;
  /** A replica that was killed because it used too much memory. */
  starved?: string;
  release?: ReleaseFact;
}

/** The newest release that somebody asked for. */
export interface ReleaseFact {
  id: string;
  status: string;
  endedAt?: number;
  error: string;
  /** A rollback took its place. */
  takenBack: boolean;
}

/** The newest run of a job or cron job that ended, or never started. */
export interface RunFact {
  kind: string;
  scope: string;
  name: string;
  status: string;
  at: number;
  error: string;
}

export interface CertificateFact {
  host: string;
  state: string;
  expiresAt?: number;
  error: string;
}

/** Requests of the last minute that one app answered, over all ingresses that lead to it. */
export interface SiteFact extends Answered {
  scope: string;
  name: string;
  p99Ms: number | undefined;
  /** The same of the last five minutes. */
  fiveMinutes: Answered;
  /** Where most of the failed ones went, in words. */
  failsAt?: string | undefined;
}

/** Where lines are sent to, while some wait. */
export interface DrainFact {
  name: string;
  /** Time of the oldest line that waits; epoch milliseconds. */
  oldestAt: number;
  /** Why the last attempt failed; empty where none did. */
  error: string;
}

/** A target outside of the machine whose newest copies all failed. */
export interface FailingCopies {
  target: string;
  /** What is copied: `state`, or a volume; `restore` and a volume where that could not be brought back. */
  what: string;
  /** When the first of them failed; epoch milliseconds. */
  sinceAt: number;
  /** Why the last one failed. */
  error: string;
}

/** One value of a metric query, by what it was grouped by. */
export interface MetricValue {
  labels: Labels;
  value: number;
}

/** A part that is undefined could not be read: alerts about it keep their state. */
export interface Facts {
  now: number;
  apps?: readonly AppFact[];
  runs?: readonly RunFact[];
  certificates?: readonly CertificateFact[];
  sites?: readonly SiteFact[];
  /** Empty while it answers. */
  engine?: { up: boolean; error: string };
  /** What is wrong with the proxy; empty while nothing is. */
  ingress?: { problem: string };
  /** Those that are behind. */
  drains?: readonly DrainFact[];
  backup?: { newestAt?: number; installedAt: number; failing?: readonly FailingCopies[] };
  disks?: readonly { mount: string; usedPercent: number; freeBytes: number; readOnly: boolean }[];
  /** Results of the queries of the rules, by `queryText`. */
  metrics?: ReadonlyMap<string, readonly MetricValue[]>;
  /** Lines that a pattern found, by app, by `logText`. */
  logs?: ReadonlyMap<string, readonly MetricValue[]>;
}

/** A question of a rule to the metrics. */
export interface MetricAsk {
  metric: string;
  agg: Aggregate;
  overMs: number;
  groupBy: readonly string[];
}

export interface LogAsk {
  pattern: string;
  level?: string;
  withinMs: number;
}

/** The same text for the same question. */
export function askText(ask: MetricAsk | LogAsk): string {
  return JSON.stringify(ask);
}
