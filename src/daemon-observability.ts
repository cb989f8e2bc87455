import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { alertLimits } from "./config/alert-limits.ts";
import type { ServeOptions } from "./config/config.ts";
import { observabilityLimits } from "./config/observability-limits.ts";
import { parseAddress } from "./config/values.ts";
import { type Listener, startListener } from "./base/http/listener.ts";
import { createGuardedFetch } from "./base/deliver/guarded-fetch.ts";
import type { SendMail } from "./base/deliver/mail.ts";
import { resolveHost } from "./base/deliver/resolve-host.ts";
import type { SendWebhook } from "./base/deliver/webhook.ts";
import { backupAge } from "./base/disk/backup-mark.ts";
import { actorHeader, createClient } from "./base/wire/client.ts";
import { systemClock } from "./base/words/clock.ts";
import type { Log } from "./base/words/log.ts";
import { derivedKey, type Secret } from "./base/words/secret.ts";
import type { Layout } from "./base/disk/layout.ts";
import { diskSpace } from "./observability/collect/disk-space.ts";
import { createObservabilityApp } from "./observability/http/app.ts";
import { planeRefusals } from "./observability/http/refusals.ts";
import { createUiPages } from "./observability/http/ui-pages.ts";
import { loadUiFiles } from "./local/ui/files.ts";
import { createSessionCookie } from "./observability/http/session-cookie.ts";
import { createObservability, type RunningObservability } from "./observability/service/create.ts";
import type { AlertOutside } from "./observability/service/alerts/parts.ts";
import type { MetricsRoom } from "./observability/service/metrics/create.ts";
import { metricsNow } from "./observability/service/metrics/now.ts";
import type { Platform, ReadPodLogs } from "./observability/service/platform.ts";
import { openObservabilityStore } from "./observability/store/open-store.ts";
import type { AppWatch } from "./orchestration/api/app-facts.ts";
import { naming } from "./orchestration/core/naming.ts";
import { createMetricsRoom } from "./daemon-metrics.ts";
import type { TakenFigures } from "./ingress/api/taken-figures.ts";
import type { PodMeasures } from "./orchestration/api/pod-measure.ts";
import type { Engine } from "./orchestration/engine/engine.ts";
import { logPlatform } from "./daemon-logs.ts";
import { versionText } from "./version.ts";

interface ObservabilityRoom extends RunningObservability {
  /** Fails `conflict` when the address is in use; undefined where the plane is turned off. */
  listen(options: Pick<ServeOptions, "observabilityAddr" | "identityTrustedProxies">): Listener | undefined;
}

interface Parts {
  layout: Layout;
  options: Pick<ServeOptions, "prefix" | "allowPrivateHooks" | "statsIntervalMs">;
  sendWebhook: SendWebhook;
  sendMail: SendMail | undefined;
  key: Secret<Uint8Array>;
  installationId: string;
  log: Log;
  /** The orchestration plane in process; it is made after this. */
  ask: (request: Request) => Response | Promise<Response>;
  measures: PodMeasures;
  /** What visitors got since this was last asked. */
  taken: () => TakenFigures[];
  /** What runs, as the controller sees it. */
  apps: AppWatch;
  podLogs: ReadPodLogs;
  engine: Engine;
}

/** The observability plane: its store, its rooms and its listener. Call it as the holder of the root's lock. */
export function createObservabilityRoom(parts: Parts): ObservabilityRoom {
  const { layout, key, installationId, log, ask, apps, podLogs, engine } = parts;
  const store = openObservabilityStore({ path: layout.observabilityDatabase, key });
  const metrics = createMetricsRoom({ ...parts, intervalMs: parts.options.statsIntervalMs });
  const running = createObservability({
    store,
    clock: systemClock,
    log,
    limits: observabilityLimits,
    randomBytes: (count) => randomBytes(count),
    metrics,
    prefix: parts.options.prefix,
    platform: { ...platformOf(ask, apps, podLogs), logs: logPlatform(engine, layout) },
    alerts: alertOutside(parts, metrics),
  });
  return {
    ...running,
    close() {
      running.close();
      store.close();
    },
    listen({ observabilityAddr: address, identityTrustedProxies: trustedProxies }) {
      if (address === "") return undefined;
      const { observability } = running;
      const cookie = createSessionCookie({
        key: derivedKey(key, "observability sessions"),
        installation: installationId,
        now: systemClock.now,
      });
      const headerPrefix = naming(parts.options.prefix).headerPrefix;
      const pages = createUiPages(loadUiFiles);
      const common = { pages, version: versionText(), headerPrefix, log, limits: observabilityLimits };
      return startListener({
        address: parseAddress(address),
        handler: (connected) =>
          createObservabilityApp({ observability, connected, trustedProxies, cookie, ...common }).fetch,
        refusals: planeRefusals,
        limits: observabilityLimits,
        log,
      });
    },
  };
}

function platformOf(ask: Parts["ask"], apps: AppWatch, podLogs: ReadPodLogs): Platform {
  return {
    apps,
    podLogs,
    as: (actor) =>
      createClient({
        baseUrl: "http://localhost",
        headers: { [actorHeader]: actor },
        fetch: async (url, init) => ask(new Request(url, init)),
      }),
  };
}

function alertOutside({ layout, options, sendWebhook, sendMail }: Parts, metrics: MetricsRoom): AlertOutside {
  return {
    limits: alertLimits,
    server: hostname(),
    product: options.prefix,
    sources: {
      disks: () => diskSpace(["/", layout.root]),
      backup: () => backupAge(layout),
      metrics: (ask) => metricsNow(metrics, ask),
    },
    sendWebhook,
    sendMail,
    ping: createGuardedFetch({
      fetch: (url, init) => fetch(url, init),
      resolve: resolveHost,
      allowPrivate: options.allowPrivateHooks,
      headMs: alertLimits.timeoutMs,
      bodyBytesMax: alertLimits.heartbeatBodyBytesMax,
    }),
  };
}
