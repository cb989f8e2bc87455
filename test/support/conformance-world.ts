import { addDuration, createHistogram } from "../../src/base/pure/histogram.ts";
import { Failure } from "../../src/base/wire/failure.ts";
import { createHostCollector } from "../../src/observability/collect/metrics/host.ts";
import { createPodCollector } from "../../src/observability/collect/metrics/pods.ts";
import { createVisitCollector } from "../../src/observability/collect/metrics/visits.ts";
import type { Sample } from "../../src/observability/core/metrics/series.ts";
import type { Controller } from "../../src/orchestration/controller/controller.ts";
import type { LogOptions } from "../../src/orchestration/engine/session.ts";
import { type PlaneWorld, planeWorld } from "./observability.ts";

/** A plane with one pod, samples of the real collectors, and a log that can be followed. */
export interface ConformanceWorld {
  plane: PlaneWorld;
  /** What comes first from a followed log in which nothing is written. */
  followSilent(token: string): Promise<string>;
}

/** The age of the reading that the plane answers with. */
export const snapshotAgeMs = 2_000;

const at = "2026-01-01T00:00:00.000Z";
const identity = { kind: "deployment", scope: "shop", name: "web", replica_id: "abcde" };
const manifest = {
  kind: "deployment",
  scope: "shop",
  name: "web",
  spec: { image: "web:1", env: { TOKEN: "********" } },
};
export const podName = "shop-web.abcde";
const pod = {
  ...{ name: podName, id: "0123456789ab", kind: "deployment", scope: "shop", resource_name: "web" },
  ...{ replica_id: "abcde", image: "web:1", image_id: "sha256:1", state: "running", status: "Up 2 hours" },
  ...{ running: true, ready: true, frozen: false, restarts: 0, node: "local", created_at: at, spec: manifest },
};
const podInDetail = {
  ...pod,
  ...{ status: "running", state: { status: "running", running: true, started_at: at, restarts: 0 } },
  ...{ command: ["serve"], entrypoint: [], working_dir: "/", env: { TOKEN: "s3cret" }, labels: { a: "b" } },
  networks: { berth: { network_id: "n1", ip_address: "172.18.0.2", gateway: "172.18.0.1", aliases: ["web"] } },
  mounts: [{ type: "volume", source: "data", destination: "/data", mode: "", rw: true }],
  ports: [{ container: "80/tcp", host_ip: "127.0.0.1", host_port: "32768" }],
  restart_policy: "unless-stopped",
};
const stat = {
  ...{ identity, container_name: podName, limits: { cpu: "0.5", memory: "64Mi", memory_bytes: 67_108_864 } },
  usage: { cpu_percent: 12.5, memory_usage_bytes: 10, memory_limit_bytes: 20, memory_percent: 50, pids: 3 },
  orphan: false,
};

async function* lines({ follow, tail, since, timestamps }: LogOptions): AsyncGenerator<Uint8Array> {
  if (follow) await new Promise(() => undefined);
  const stamp = timestamps ? "2026-01-01T00:00:00.123456789Z " : "";
  yield Buffer.from(`${stamp}tail ${tail} since ${since}\n`);
}

const controller = {
  listPods: async ({ scope }: { scope?: string }, { detail }: { detail: boolean }) => ({
    pods: scope === undefined || scope === "shop" ? [detail ? podInDetail : pod] : [],
    degraded: [{ kind: "deployment", scope: "shop", name: "api", reason: "crash loop", at }],
  }),
  getPod: async (name: string) => {
    if (name !== podName) throw new Failure("not_found", `no container "${name}"`);
    return { pod: podInDetail };
  },
  stats: async () => ({ pods: [stat], snapshot: true, sampled_at: new Date(Date.now() - snapshotAgeMs).toISOString() }),
  restart: async () => ({ kind: "deployment", scope: "shop", name: "web", unfroze: [], operation: "op1" }),
  podLogs: async (_: string, options: LogOptions) => lines(options),
} as unknown as Partial<Controller>;

/** Three rounds of the real collectors; visitors come in the first one alone. */
async function sampleThreeRounds(it: PlaneWorld): Promise<void> {
  const key = { kind: "deployment", scope: "shop", name: "web" } as const;
  const read = { rssBytes: 1, netRxBytes: 100, netTxBytes: 200, blockReadBytes: 300, blockWriteBytes: 400 };
  let readAt = 0;
  const measures = {
    latest: () => ({
      at: readAt,
      pods: [
        {
          ...{ key, replicaId: "abcde", ordinal: undefined, container: podName, id: "id1", at: readAt, cpuPercent: 5 },
          ...{ memoryBytes: 100, memoryLimitBytes: 1_000, pids: 3, restarts: 0, detail: read },
        },
      ],
    }),
    replicas: () => [{ key, ready: 1, wanted: 1 }],
  };
  const latency = createHistogram();
  for (let ms = 1; ms <= 4; ms++) addDuration(latency, ms);
  const visit = {
    ...{ ingress: "web", scope: "shop", host: "a.example", requests: 4, failed: 0, held: 0, bytesIn: 1, bytesOut: 2 },
    ...{ app: key, byClass: [0, 0, 4, 0, 0, 0], latency },
  };
  const { store } = it.metrics.archive();
  const pods = createPodCollector(measures, it.metrics.places, ({ at: seenAt, ...one }) =>
    store.replicas.put({ ...one, beganAt: seenAt, seenAt }),
  );
  let visits = [visit];
  const collectors = [createHostCollector(), pods, createVisitCollector(() => visits)];
  for (let round = 0; round < 3; round++) {
    it.clock.moveTo(it.clock.steady() + 15_000);
    // The kernel counts processor time in steps of 10 ms: two rounds within one have no share of it to tell.
    await Bun.sleep(30);
    readAt = it.clock.now();
    const samples = await Promise.all(collectors.map((collector) => collector.collect(readAt)));
    it.metrics.record(readAt, samples.flat() as Sample[]);
    visits = [];
  }
}

export async function conformanceWorld(): Promise<ConformanceWorld> {
  const plane = planeWorld({ controller, limits: { pingMs: 20 } });
  await sampleThreeRounds(plane);
  return {
    plane,
    async followSilent(token) {
      const headers = { Authorization: `Bearer ${token}` };
      const request = new Request("http://plane.test/api/pat/v1/logs?follow=true&tail=0", { headers });
      const { body } = await plane.app.fetch(request);
      const reader = (body as ReadableStream<Uint8Array>).getReader();
      const { value } = await reader.read();
      await reader.cancel();
      return Buffer.from(value ?? new Uint8Array()).toString();
    },
  };
}
