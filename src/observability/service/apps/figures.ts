import type { Client } from "../../../base/wire/client.ts";
import type { Log } from "../../../base/words/log.ts";
import { getIngressTraffic } from "../../../ingress/api/traffic.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import { listStats } from "../../../orchestration/api/stats.ts";
import type { AppRef, AppTraffic, AppUsage, Sparks } from "../../api/app-model.ts";
import { trafficByApp } from "../../core/apps/hosts.ts";
import { type SparkLine, sparksOf, withPoint } from "../../core/apps/sparks.ts";
import { usageByApp } from "../../core/apps/usage.ts";
import type { ReplicaUsage } from "../../core/apps/view.ts";
import type { EdgeReader } from "./edge.ts";
import type { AppsLimits } from "./limits.ts";

/** What apps use and what their visitors ask for, as last read. */
export interface Figures {
  usageOf(app: AppRef): AppUsage | undefined;
  usageOfPod(pod: string): ReplicaUsage | undefined;
  trafficOf(app: AppRef): AppTraffic | undefined;
  sparksOf(app: AppRef): Sparks | undefined;
  /** Reads both; `now` in epoch milliseconds. Every `sparkStepMs` it adds a point to the sparks of `apps`. */
  sample(now: number, apps: readonly AppRef[]): Promise<void>;
}

interface FiguresParts {
  client: Client;
  edge: EdgeReader;
  /** See `AppWatch`. */
  usageAt: () => number | undefined;
  log: Log;
  limits: Pick<AppsLimits, "sparkStepMs" | "sparkPoints">;
}

export function createFigures({ client, edge, usageAt, log, limits }: FiguresParts): Figures {
  const nothing = usageByApp([]);
  let usage = nothing;
  let usageOfAt: number | undefined;
  let traffic: Map<string, AppTraffic> = new Map();
  let lines = new Map<string, SparkLine>();
  let pointAt = Number.NEGATIVE_INFINITY;

  async function read<T, O>(what: string, ask: () => Promise<T>, otherwise: O): Promise<T | O> {
    return ask().catch((error: unknown) => {
      log.debug("figures of apps not read", { what, error });
      return otherwise;
    });
  }

  /** Only where there is a newer reading. */
  async function readUsage(): Promise<void> {
    const at = usageAt();
    if (at !== undefined && at === usageOfAt) return;
    const rows = await read("usage", async () => (await client.call(listStats)).pods, undefined);
    [usage, usageOfAt] = rows === undefined ? [nothing, undefined] : [usageByApp(rows), at];
  }

  const trafficOf = ({ scope, name }: AppRef) => traffic.get(`${scope}/${name}`);

  return {
    usageOf: (app) => usage.apps.get(keyText(app)),
    usageOfPod: (pod) => usage.pods.get(pod),
    trafficOf,
    sparksOf(app) {
      const line = lines.get(keyText(app));
      return line && sparksOf(line, { stepMs: limits.sparkStepMs, until: pointAt });
    },
    async sample(now, apps) {
      const [seen] = await Promise.all([
        read("traffic", () => client.call(getIngressTraffic), { seconds: 0, sites: [], dropped: 0 }),
        readUsage(),
      ]);
      traffic = trafficByApp(edge.now.ingress?.sites ?? [], seen);
      if (now - pointAt < limits.sparkStepMs && now >= pointAt) return;
      pointAt = now;
      lines = new Map(
        apps.map((app) => {
          const key = keyText(app);
          const figures = { usage: usage.apps.get(key), traffic: trafficOf(app) };
          return [key, withPoint(lines.get(key), figures, limits.sparkPoints)];
        }),
      );
    },
  };
}
