import { Database } from "bun:sqlite";
import type { GuardedFetch } from "../../src/base/deliver/guarded-fetch.ts";
import type { SendMail } from "../../src/base/deliver/mail.ts";
import type { SendWebhook, WebhookCall } from "../../src/base/deliver/webhook.ts";
import { createSeal } from "../../src/base/sqlite/seal.ts";
import { ApiError, type Client } from "../../src/base/wire/client.ts";
import type { Endpoint } from "../../src/base/wire/endpoint.ts";
import { secret } from "../../src/base/words/secret.ts";
import { alertLimits } from "../../src/config/alert-limits.ts";
import type { AlertParts, AlertStore } from "../../src/observability/service/alert-parts.ts";
import { createAlertNouns } from "../../src/observability/store/alerts/nouns.ts";
import { alertTables } from "../../src/observability/store/migrations/0003-alerts.ts";
import { messageOrder } from "../../src/observability/store/migrations/0007-message-order.ts";
import type { ListedManifest } from "../../src/orchestration/api/apply.ts";
import type { Why } from "../../src/orchestration/api/why.ts";
import { createFakeClock, type FakeClock } from "./fake-clock.ts";
import { silentLog } from "./silent-log.ts";

/** What the platform answers; a path that is missing fails as a server does that is busy. */
export type Answers = Record<string, unknown>;

export interface AlertWorld {
  parts: AlertParts;
  clock: FakeClock;
  db: Database;
  answers: Answers;
  /** Calls that went to channels over HTTP. */
  sent: WebhookCall[];
}

/** A store of its own in memory, a platform that answers what the test says, channels that only record. */
export function alertWorld(given: Partial<AlertParts> = {}): AlertWorld {
  const db = new Database(":memory:");
  db.run("pragma foreign_keys = on");
  db.run(alertTables);
  db.run(messageOrder);
  const nouns = createAlertNouns(db, createSeal(secret(new Uint8Array(32).fill(7))));
  const store: AlertStore = {
    ...nouns,
    write: (change) =>
      new Promise((resolve, reject) => {
        try {
          resolve(db.transaction(() => change(nouns))());
        } catch (error) {
          reject(error);
        }
      }),
  };
  const clock = createFakeClock();
  const answers: Answers = { ...healthy };
  const sent: WebhookCall[] = [];
  const sendWebhook: SendWebhook = (call) => {
    sent.push(call);
    return Promise.resolve({ outcome: "delivered", result: "status 200" });
  };
  const sendMail: SendMail = () => Promise.resolve({ outcome: "delivered", result: "accepted" });
  const ping: GuardedFetch = () => Promise.resolve({ status: 200, body: "" });
  let ids = 0;
  const parts: AlertParts = {
    store,
    clock,
    log: silentLog,
    limits: alertLimits,
    newId: () => `id${++ids}`,
    client: answering(answers),
    server: "vps1",
    product: "berth",
    sources: {},
    sendWebhook,
    sendMail,
    ping,
    ...given,
  };
  return { parts, clock, db, answers, sent };
}

const healthy: Answers = {
  "/apply": [],
  "/events": { events: [] },
  "/releases": { releases: [] },
  "/jobs/runs": { runs: [] },
  "/certificates": { certificates: [] },
  "/ingress/traffic": { seconds: 60, sites: [], dropped: 0 },
  "/system": { engine: { up: true } },
  "/ingress": { proxy: { state: "running" }, sites: [] },
};

function answering(answers: Answers): Client {
  const call = async ({ path }: Endpoint) => {
    const found = answers[path];
    if (found === undefined) throw new ApiError(503, `${path} does not answer`);
    return found;
  };
  // The answers are what the test says they are.
  return { call: call as Client["call"], raw: () => Promise.reject(new Error("there are no streams here")) };
}

/** An app in the list of manifests. */
export function listedApp(name: string, status: Record<string, unknown> = {}): ListedManifest {
  const ready = { phase: "ready", replicas: 2, ready_replicas: 2, conditions: [], releases: [] };
  return { kind: "deployment", scope: "shop", name, spec: {}, status: { ...ready, ...status } };
}

export const downStatus = {
  phase: "failing",
  ready_replicas: 0,
  conditions: [
    {
      type: "Degraded",
      status: true,
      reason: "StartFailed",
      message: "the command does not exist",
      at: "2026-01-01T00:00:00.000Z",
    },
  ],
};

export const whyOfWeb: Why = {
  ...{ kind: "deployment", scope: "shop", name: "web", deleted: false, at: "2026-01-01T00:00:00.000Z" },
  ...{ conditions: [], deaths: 1, rollback_to: "r6" },
  death: {
    ...{ replica_id: "abc", container_id: "c1", at: "2026-01-01T00:00:00.000Z", exit_code: 1, oom_killed: false },
    ...{ reason: "it ended by itself", image: "web:2", logs: ["starting", "Error: no database"], probes: [] },
  },
  events: [
    {
      ...{ seq: 1, at: "2025-12-31T23:58:00.000Z", actor: "ana", action: "manifest.apply" },
      ...{ kind: "deployment", scope: "shop", name: "web", detail: { message: "new checkout" } },
    },
  ],
};
