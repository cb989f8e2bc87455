import type { App, AppProblem, AppState } from "../../../src/observability/api/app-model.ts";
import type { Overview } from "../../../src/observability/api/apps.ts";

const at = (secondsAgo: number) => new Date(Date.now() - secondsAgo * 1000).toISOString();

const wave = (from: number, size: number) =>
  Array.from({ length: 60 }, (_, index) => from + Math.abs(Math.sin(index / 5 + from) * size));

/** An app as the plane tells of it, well unless a test says otherwise. */
export function appFixture(name: string, changes: Partial<App> = {}): App {
  return {
    kind: "deployment",
    scope: "shop",
    name,
    state: "ready",
    summary: "2 of 2 replicas are ready",
    desired: 2,
    ready: 2,
    image: "registry.example.com/shop/web:1.4.2",
    revision: 3,
    restarts: 0,
    hosts: [],
    problems: [],
    release: {
      id: "r3",
      status: "succeeded",
      cause: "apply",
      actor: "ana",
      started_at: at(4_000),
      ended_at: at(3_980),
    },
    traffic: { seconds: 60, requests: 1_240, rate: 20.7, failed: 3, p50_ms: 12, p99_ms: 140 },
    usage: { cpu_percent: 12.4, memory_bytes: 132_000_000, memory_limit_bytes: 536_870_912 },
    sparks: {
      step_seconds: 15,
      until: at(5),
      cpu_percent: wave(5, 10),
      memory_bytes: wave(1e8, 1e7),
      rate: wave(name.length, 12),
      failed_rate: wave(0, 0.1),
    },
    ...changes,
  };
}

export function problemFixture(app: App, changes: Partial<AppProblem> = {}): AppProblem {
  return {
    id: `crash_loop/${app.kind}/${app.scope}/${app.name}`,
    severity: "critical",
    type: "crash_loop",
    title: `${app.scope}/${app.name} dies again and again`,
    cause: "exit code 1, 7 times in 4 minutes: cannot connect to postgres at main-0.data:5432",
    command: `berth why ${app.scope}/${app.name}`,
    since: at(240),
    app: { kind: app.kind, scope: app.scope, name: app.name },
    ...changes,
  };
}

export function overviewFixture(changes: Partial<Overview> = {}): Overview {
  const crashing = appFixture("api", {
    state: "crashing" as AppState,
    ready: 1,
    summary: "1 of 2 replicas is ready; api.b7k2m died 7 times",
    restarts: 7,
  });
  crashing.problems = [problemFixture(crashing)];
  const apps = [
    crashing,
    appFixture("web", { state: "deploying", deploy: "2 of 3 replicas replaced, waiting for the readiness probe" }),
    appFixture("worker", { traffic: undefined } as Partial<App>),
    appFixture("main", {
      scope: "data",
      kind: "statefulset",
      traffic: undefined,
      state: "degraded",
      summary: "the standby is 40 s behind",
    } as Partial<App>),
    appFixture("mail", { state: "asleep", ready: 0, desired: 1, summary: "asleep until a request comes" }),
  ];
  return {
    at: at(0),
    server: { version: "0.1.0 (commit: 0123456789ab)", started_at: at(90_000), installation: "abc" },
    engine: { up: true, since: at(90_000) },
    problems: [
      problemFixture(crashing),
      {
        id: "certificate/shop.example.com",
        severity: "warning",
        type: "certificate",
        title: "The certificate of shop.example.com ends in 6 days",
        cause: "The last renewal failed: DNS for shop.example.com points to 192.0.2.7, not to this server",
        command: "berth certs renew shop.example.com",
        since: at(80_000),
      },
    ],
    problems_left_out: 0,
    counts: {},
    apps,
    host: {
      hostname: "harbour-1",
      cpu_percent: 34,
      cores: 4,
      load_1: 1.3,
      memory_used_bytes: 3.1e9,
      memory_total_bytes: 8e9,
      disk_used_bytes: 66e9,
      disk_total_bytes: 80e9,
      uptime_seconds: 900_000,
    },
    deploys: [
      {
        id: "r4",
        status: "running",
        cause: "apply",
        actor: "ana@laptop",
        started_at: at(40),
        app: { kind: "deployment", scope: "shop", name: "web" },
      },
      {
        id: "r7",
        status: "failed",
        cause: "apply",
        actor: "ci",
        message: "raise the pool to 40",
        error: "CrashLoop: exit code 1",
        started_at: at(600),
        ended_at: at(420),
        app: { kind: "deployment", scope: "shop", name: "api" },
      },
      {
        id: "r3",
        status: "succeeded",
        cause: "config",
        actor: "ana@laptop",
        started_at: at(4_000),
        ended_at: at(3_980),
        app: { kind: "deployment", scope: "shop", name: "worker" },
      },
    ],
    ...changes,
  };
}

export const whoFixture = {
  id: "Ab3dEf",
  name: "laptop",
  scopes: ["read", "actions", "host:read", "config:reveal", "exec", "admin"],
  apps: [],
};
