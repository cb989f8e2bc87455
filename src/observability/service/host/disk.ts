import { getDisk } from "../../../orchestration/api/disk.ts";
import { system } from "../../../orchestration/api/health.ts";
import { listPlugins } from "../../../orchestration/api/plugins.ts";
import { getIngress } from "../../../ingress/api/ingress.ts";
import type { HostDisk, MountForecast, ServerReport } from "../../api/disk.ts";
import type { SystemFacts } from "../../api/system.ts";
import { forecastFull } from "../../core/host/forecast.ts";
import type { ObservabilityContext } from "../context.ts";
import { everything, type MetricsAnswers } from "../metrics/answers.ts";
import type { HostRoom } from "./create.ts";

/** The machine, what fills its disk, and the server itself. But for `system`, callers may see the whole host. */
export interface HostDiskRoom {
  /** `version`: of the server. */
  system(version: string): Promise<SystemFacts>;
  disk(actor: string): Promise<HostDisk>;
  server(actor: string): Promise<ServerReport>;
}

interface Parts {
  metrics: MetricsAnswers;
  host: HostRoom;
  streams: () => number;
}

export function createHostDisk(
  { platform, clock }: Pick<ObservabilityContext, "platform" | "clock">,
  { metrics, host, streams }: Parts,
): HostDiskRoom {
  return {
    async system(version) {
      const [machine, { plugins }] = await Promise.all([host.facts(), platform.as("observability").call(listPlugins)]);
      return {
        ...machine,
        berth: { version },
        voodu: { version },
        plugins: plugins.map(({ name, version: own, aliases }) => ({ name, version: own, aliases })),
      };
    },
    async disk(actor) {
      const [found, mounts] = await Promise.all([platform.as(actor).call(getDisk, {}), forecasts(host, metrics)]);
      return { ...found, mounts };
    },
    async server(actor) {
      const client = platform.as(actor);
      // A server without an ingress has no such endpoint.
      const [report, ingress] = await Promise.all([
        client.call(system),
        client.call(getIngress).catch(() => undefined),
      ]);
      const proxy = ingress?.proxy;
      const uptime = Math.max(0, Math.round((clock.now() - Date.parse(report.started_at)) / 1_000));
      return {
        ...report,
        uptime_seconds: uptime,
        settings: [...(platform.settings ?? [])],
        streams: streams(),
        ...(proxy === undefined
          ? {}
          : {
              proxy: {
                state: proxy.state,
                ...(proxy.version === undefined ? {} : { version: proxy.version }),
                ...(proxy.problem === undefined ? {} : { problem: proxy.problem }),
                listen: [...proxy.listen.http, ...proxy.listen.https],
              },
            }),
      };
    },
  };
}

async function forecasts(host: HostRoom, metrics: MetricsAnswers): Promise<MountForecast[]> {
  const query = { metric: "system.disk_used_bytes", from: "7d", step: "1h", group_by: "mount" };
  const [{ disk }, history] = await Promise.all([host.facts(), metrics.query(query, everything)]);
  const { from, step_seconds: step } = history;
  const series = history.results[0]?.series ?? [];
  return disk.map(({ mount, used_bytes: used, total_bytes: total }) => {
    const values = series.find(({ group }) => group.mount === mount)?.values ?? [];
    const readings = values.flatMap((bytes, at) =>
      bytes === null ? [] : [{ at: Date.parse(from) + at * step * 1_000, bytes }],
    );
    const found = forecastFull(readings, total);
    return {
      ...{ mount, used_bytes: used, total_bytes: total, forecast: found.state },
      ...(found.state === "filling" ? { full_at: new Date(found.at).toISOString() } : {}),
    };
  });
}
