import type { DataOf } from "../../../src/base/wire/endpoint.ts";
import type { historyState, listHistory } from "../../../src/orchestration/api/history.ts";
import type { AppDetail } from "../../../src/observability/api/apps.ts";
import { appFixture, problemFixture } from "./fixtures.ts";

const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();

/** A broken app in detail: a crash loop since its last release. */
export function detailFixture(changes: Partial<AppDetail> = {}): AppDetail {
  const app = appFixture("api", {
    state: "crashing",
    ready: 1,
    summary: "1 of 2 replicas is ready; b7k2m died 7 times",
    restarts: 7,
    release: {
      id: "r7",
      status: "failed",
      cause: "apply",
      actor: "ci",
      message: "raise the pool to 40",
      error: "CrashLoop: exit code 1",
      started_at: at(600),
      ended_at: at(420),
    },
    hosts: [
      {
        host: "api.example.com",
        paths: ["/"],
        tls: true,
        url: "https://api.example.com/",
        ingress: "shop/api",
        certificate: { state: "valid", not_after: at(-6_000_000), issuer: "Let's Encrypt" },
      },
    ],
  });
  const replica = { image: app.image, node: "local", ports: [], release_id: "r7" };
  return {
    ...app,
    problems: [problemFixture(app)],
    replicas: [
      {
        ...replica,
        pod: "shop-api.b7k2m",
        replica_id: "b7k2m",
        state: "crashing",
        reason: "died 7 times, the last 4 s ago",
        ready: false,
        restarts: 7,
        exit_code: 1,
      },
      {
        ...replica,
        pod: "shop-api.c9x4q",
        replica_id: "c9x4q",
        state: "ready",
        ready: true,
        restarts: 0,
        started_at: at(90_000),
        usage: { cpu_percent: 8.2, memory_bytes: 130e6, memory_limit_bytes: 536_870_912 },
        ports: [{ container: "8080/tcp", host_ip: "127.0.0.1", host_port: "32768" }],
      },
    ],
    conditions: [],
    frozen_ids: [],
    volumes: [],
    warnings: [],
    rollback_to: "r6",
    manifest: { kind: "deployment", scope: "shop", name: "api", spec: { image: app.image, replicas: 2 } },
    ...changes,
  };
}

const release = {
  cause: "apply",
  spec_hash: "0123",
  revision: 4,
  spec_snapshot: {},
  image: "registry.example.com/shop/api:1.4.2",
};

export const releasesFixture = {
  releases: [
    {
      ...release,
      id: "r7",
      status: "failed",
      actor: "ci",
      message: "raise the pool to 40",
      error: "CrashLoop: exit code 1",
      started_at: at(600),
      ended_at: at(420),
    },
    {
      ...release,
      id: "r6",
      status: "succeeded",
      actor: "ana@laptop",
      message: "faster search",
      started_at: at(90_000),
      ended_at: at(89_980),
      receipt: {
        before: { seconds: 60, requests: 9_000, failed: 0, p50_ms: 9, p99_ms: 80 },
        during: { seconds: 20, requests: 12_431, failed: 0, p50_ms: 9, p99_ms: 92 },
        after: { seconds: 60, requests: 9_100, failed: 0, p50_ms: 8, p99_ms: 71 },
      },
    },
    { ...release, id: "r5", status: "succeeded", actor: "ana@laptop", started_at: at(400_000), ended_at: at(399_970) },
  ],
};

export const diffFixture = {
  from: "r6",
  to: "r7",
  changes: [
    { path: "image", before: "registry.example.com/shop/api:1.4.1", after: "registry.example.com/shop/api:1.4.2" },
    { path: "env.POOL_SIZE", before: "10", after: "40" },
    { path: "env.SEARCH_URL", after: "http://search:7700" },
  ],
};

export const eventsFixture = {
  events: [
    {
      seq: 91,
      at: at(30),
      actor: "reconciler",
      action: "pod.died",
      kind: "deployment",
      scope: "shop",
      name: "api",
      title: "b7k2m died: exit code 1",
    },
    {
      seq: 90,
      at: at(600),
      actor: "ci",
      action: "release.started",
      kind: "deployment",
      scope: "shop",
      name: "api",
      title: "release r7 began: raise the pool to 40",
    },
    {
      seq: 88,
      at: at(9_000),
      actor: "pat:Ab3dEf",
      actor_name: "laptop",
      action: "config.set",
      kind: "deployment",
      scope: "shop",
      name: "api",
      title: "config changed: POOL_SIZE",
    },
  ],
  next: "88",
};

export const configFixture = {
  scope: "shop",
  name: "api",
  keys: [
    { key: "DATABASE_URL", length: 61, origin: "app" },
    { key: "LOG_LEVEL", length: 4, origin: "scope" },
    { key: "POOL_SIZE", length: 2, origin: "app", overrides: true },
  ],
};

const wanted = { kind: "deployment", scope: "shop", name: "api" };

export const historyFixture: DataOf<typeof listHistory> = {
  begins: at(900_000),
  changes: [
    {
      ...{ ...wanted, seq: 31, at: at(600), revision: 8, actor: "pat:Ab3dEf", actor_name: "ci", cause: "apply" },
      ...{ outcome: "changed", changed: ["env.POOL_SIZE", "registry.password"], why: "raise the pool to 40" },
    },
    {
      ...wanted,
      seq: 24,
      at: at(40_000),
      revision: 7,
      actor: "operator",
      cause: "scale",
      outcome: "changed",
      changed: ["replicas"],
    },
    {
      ...{ ...wanted, kind: "ingress" },
      seq: 12,
      at: at(80_000),
      revision: 1,
      actor: "operator",
      cause: "apply",
      outcome: "created",
    },
    { ...wanted, seq: 3, at: at(900_000), revision: 6, actor: "operator", cause: "begin", outcome: "changed" },
  ],
};

/** What was wanted at the time of a change of `historyFixture`. */
export function historyStateFixture(at: string): DataOf<typeof historyState> {
  const isNew = at === historyFixture.changes[0]?.at;
  const spec = { image: "api:7", env: { POOL_SIZE: isNew ? "40" : "10" }, registry: { password: "********" } };
  return { at, begins: historyFixture.begins ?? "", manifests: [{ ...wanted, spec }] };
}
