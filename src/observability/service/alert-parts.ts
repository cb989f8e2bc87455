import type { GuardedFetch } from "../../base/deliver/guarded-fetch.ts";
import type { SendMail } from "../../base/deliver/mail.ts";
import type { SendWebhook } from "../../base/deliver/webhook.ts";
import type { Client } from "../../base/wire/client.ts";
import type { SteadyClock } from "../../base/words/clock.ts";
import type { Log } from "../../base/words/log.ts";
import type { Alert } from "../api/alerts.ts";
import type { TimelineEntry } from "../api/incidents.ts";
import type { Facts, LogAsk, MetricAsk, MetricValue } from "../core/alerts/facts.ts";
import type { Alarm } from "../core/apps/alarms.ts";
import type { PlanLimits } from "../core/alerts/plan-messages.ts";
import type { AlertNouns } from "../store/alerts/nouns.ts";

export interface AlertStore extends AlertNouns {
  write<T>(change: (nouns: AlertNouns) => T, options?: { durable?: boolean }): Promise<T>;
}

/** See `alertLimits` of `config/`, where each is explained. */
interface AlertLimits {
  plan: PlanLimits;
  everyMs: number;
  readMs: number;
  firstMs: number;
  tidyMs: number;
  keepMaxMs: number;
  flapWindowMs: number;
  openMax: number;
  perRuleMax: number;
  whysPerRound: number;
  historyKept: number;
  messagesKept: number;
  silencesMax: number;
  channelsMax: number;
  rulesMax: number;
  pageMax: number;
  pausesMs: readonly number[];
  inFlightMax: number;
  staleMs: number;
  staleEndMs: number;
  testMs: number;
  heartbeatLeastMs: number;
  heartbeatMs: number;
  heartbeatRetryMs: number;
  outagesKeptMs: number;
  incidentGapMs: number;
  timelineMs: number;
  availabilityPercent: number;
}

interface Sight {
  /** Replicas that serve, those of an older release included. */
  serving: number;
  /** A replica that was killed because it used too much memory, and has not run for long since. */
  starved: string | undefined;
}

/** What no endpoint of the platform offers. A part that is left out leaves the rules about it blind, which they say. */
interface AlertSources {
  /** The replicas of an app as they were last seen; undefined where it is not known. */
  sight?: (app: { kind: string; scope: string; name: string }) => Sight | undefined;
  /** The disks of the machine and of these folders, each once. */
  disks?: (folders: readonly string[]) => Promise<NonNullable<Facts["disks"]>>;
  drains?: () => Promise<NonNullable<Facts["drains"]>>;
  backup?: () => Promise<NonNullable<Facts["backup"]>>;
  metrics?: (ask: MetricAsk) => Promise<readonly MetricValue[]>;
  logs?: (ask: LogAsk) => Promise<readonly MetricValue[]>;
  /** Error lines of one app, `SCOPE/NAME`. */
  errorLines?: (app: string, span: { from: number; to: number }) => Promise<TimelineEntry[]>;
}

/** What the room of alerts needs beside what every room has. */
export interface AlertOutside {
  limits: AlertLimits;
  /** Host name of this machine, and the name of the product. */
  server: string;
  product: string;
  sources: AlertSources;
  sendWebhook: SendWebhook;
  /** Undefined: the server knows no mail server. */
  sendMail: SendMail | undefined;
  ping: GuardedFetch;
}

export interface AlertParts extends AlertOutside {
  store: AlertStore;
  /** Hears of every alert that began, changed or ended. */
  told?: (alert: Alert) => void;
  /** Hears after each look what fires. */
  fires?: (alarms: readonly Alarm[]) => void;
  clock: SteadyClock;
  log: Log;
  /** A new id, unique and fit for a path. */
  newId: () => string;
  /** The orchestration plane. */
  client: Client;
}
