import { type Principal, tokenPrincipal, unnamed } from "../access/principal.ts";
import { decodeSpec } from "../orchestration/core/spec/decode.ts";
import { nextInstant } from "../orchestration/core/plan/cron.ts";
import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { alertLimits } from "../config/alert-limits.ts";
import { proxyVariables, type ServeOptions } from "../config/config.ts";
import { shownSettings } from "../config/shown-settings.ts";
import { observabilityLimits } from "../config/observability-limits.ts";
import { createGuardedFetch } from "../base/deliver/guarded-fetch.ts";
import type { SendMail } from "../base/deliver/mail.ts";
import { createPinned } from "../base/deliver/pinned.ts";
import { resolveHost } from "../base/deliver/resolve-host.ts";
import type { SendWebhook } from "../base/deliver/webhook.ts";
import type { FailingCopies } from "../observability/core/alerts/facts.ts";
import { backupAge } from "../base/disk/backup-mark.ts";
import type { Client } from "../base/wire/client.ts";
import { direct } from "../base/wire/outgoing.ts";
import { systemClock } from "../base/words/clock.ts";
import type { Gate } from "../base/deliver/gate.ts";
import type { Log } from "../base/words/log.ts";
import type { Secret } from "../base/words/secret.ts";
import type { Layout } from "../base/disk/layout.ts";
import { diskSpace } from "../base/disk/disk-space.ts";
import { createObservability, type RunningObservability } from "../observability/service/create.ts";
import type { AlertOutside } from "../observability/service/alert-parts.ts";
import type { MetricsRoom } from "../observability/service/metrics/create.ts";
import { metricsNow } from "../observability/service/metrics/now.ts";
import type { PeopleIdentity } from "../observability/service/people/identity.ts";
import type { Platform, PodInside, ReadPodLogs } from "../observability/service/platform.ts";
import type { RouteOutside } from "../observability/service/plugins/route-outside.ts";
import { openObservabilityStore } from "../observability/store/open-store.ts";
import type { AppWatch } from "../orchestration/api/app-facts.ts";
import { createMetricsRoom } from "./metrics.ts";
import type { TakenFigures } from "../ingress/api/taken-figures.ts";
import type { PodEndpoint } from "../orchestration/api/pod-endpoint.ts";
import type { PodMeasures } from "../orchestration/api/pod-measure.ts";
import type { Engine } from "../orchestration/engine/engine.ts";
import { decodeThread, tracePlatform } from "./telemetry.ts";
import { drainOutside, logPlatform } from "./logs.ts";

interface Parts {
  layout: Layout;
  options: ServeOptions;
  sendWebhook: SendWebhook;
  sendMail: SendMail | undefined;
  key: Secret<Uint8Array>;
  installationId: string;
  log: Log;
  gate: Gate;
  /** The orchestration plane in process; it is made after this. */
  ask: (actor: string, by: Principal) => Client;
  measures: PodMeasures;
  /** What visitors got since this was last asked. */
  taken: () => TakenFigures[];
  /** What runs, as the controller sees it. */
  apps: AppWatch;
  podLogs: ReadPodLogs;
  inside: PodInside;
  /** The replicas that run, with their addresses. */
  endpoints: () => readonly PodEndpoint[] | undefined;
  engine: Engine;
  /** The identity service, as far as people sign in to the web UI through it. */
  people: PeopleIdentity;
  /** Targets whose copies fail. */
  failingCopies: () => readonly FailingCopies[];
}

/** The observability plane: its store and its rooms. Call it as the holder of the root's lock. */
export function createObservabilityRoom(parts: Parts): RunningObservability {
  const { layout, key, log, ask, apps, podLogs, inside, engine } = parts;
  const store = openObservabilityStore({ path: layout.observabilityDatabase, key });
  const metrics = createMetricsRoom({ ...parts, intervalMs: parts.options.statsIntervalMs });
  const running = createObservability({
    store,
    clock: systemClock,
    log,
    limits: observabilityLimits,
    gate: parts.gate,
    randomBytes: (count) => randomBytes(count),
    metrics,
    prefix: parts.options.prefix,
    platform: {
      ...platformOf(ask, { apps, podLogs, inside }),
      settings: shownSettings(parts.options),
      logs: logPlatform(engine, layout),
      traces: tracePlatform(layout),
      decoding: decodeThread(),
      drains: drainOutside(parts.options.allowPrivateWebhooks, parts.gate),
      routes: { endpoints: parts.endpoints, fetch: forward },
    },
    alerts: alertOutside(parts, metrics),
    people: parts.people,
  });
  return {
    ...running,
    close() {
      running.close();
      store.close();
    },
  };
}

/** To a container of a plugin: what it says is passed on as it is. */
const forward: RouteOutside["fetch"] = (url, init) =>
  direct(url, {
    ...init,
    redirect: "manual",
    decompress: false,
    timeout: false,
    duplex: "half",
  } as BunFetchRequestInit);

/** The next times of a cron job. */
function upcomingRuns(spec: Record<string, unknown>, { now, max }: { now: number; max: number }): number[] {
  const { suspended, expression, timezone } = decodeSpec("cronjob", spec);
  const found: number[] = [];
  for (let after = now; !suspended && found.length < max;) {
    const next = nextInstant({ expression, timezone, after });
    if (next === undefined) break;
    found.push(next);
    after = next;
  }
  return found;
}

function platformOf(ask: Parts["ask"], handed: Pick<Parts, "apps" | "podLogs" | "inside">): Platform {
  return {
    ...handed,
    upcoming: upcomingRuns,
    as: (actor, grant) => ask(actor, grant === undefined ? unnamed : tokenPrincipal(grant)),
  };
}

function alertOutside(
  { layout, options, sendWebhook, sendMail, gate, failingCopies }: Parts,
  metrics: MetricsRoom,
): AlertOutside {
  return {
    limits: alertLimits,
    server: hostname(),
    product: options.prefix,
    sources: {
      disks: (folders) => diskSpace(["/", ...folders], layout.root),
      backup: async () => ({ ...(await backupAge(layout)), failing: failingCopies() }),
      metrics: (ask) => metricsNow(metrics, ask),
    },
    sendWebhook,
    sendMail,
    ping: gate.guard(
      "no heartbeat is sent",
      createGuardedFetch({
        fetch: createPinned(proxyVariables()),
        resolve: resolveHost,
        allowPrivate: options.allowPrivateWebhooks,
        headMs: alertLimits.timeoutMs,
        bodyBytesMax: alertLimits.heartbeatBodyBytesMax,
      }),
    ),
  };
}
