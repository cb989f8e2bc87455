import { describe, expect, test } from "bun:test";
import type { CertificateView } from "../../../../src/ingress/api/certificates.ts";
import type { IngressSite, IngressStatus } from "../../../../src/ingress/api/ingress.ts";
import type { Alert } from "../../../../src/observability/api/alerts.ts";
import { type Call, cli, refusal } from "../../../support/cli.ts";

const report = {
  version: "1.2.3",
  installation: "i",
  prefix: "berth",
  root: "/opt/berth",
  started_at: "2026-01-01T00:00:00.000Z",
  engine: { up: true, since: "2026-01-01T00:00:00.000Z", host: "unix:///var/run/docker.sock", version: "27.1" },
  store: { manifests: 2, collection_held: false },
  reconciler: { queued: 0, failing: 0 },
};

const ready = { kind: "deployment", scope: "shop", name: "web", spec: {}, status: { phase: "ready" } };
const failing = {
  kind: "deployment",
  scope: "shop",
  name: "api",
  spec: {},
  status: {
    phase: "failing",
    conditions: [{ type: "Ready", status: false, reason: "CrashLoop", message: "restarted 5 times" }],
  },
};

const site: IngressSite = {
  ingress: "shop/web",
  hosts: ["shop.example.com"],
  paths: ["/"],
  target: "shop/web",
  tls: true,
  maintenance: false,
  upstreams: [],
  problems: [],
  requests: 0,
  failed: 0,
  bytes_in: 0,
  bytes_out: 0,
  queued: 0,
};

const broken: CertificateView = {
  id: "shop",
  names: ["shop.example.com"],
  issuer: "letsencrypt",
  state: "failed",
  issuing: false,
  failures: 2,
  error: "dns: shop.example.com has no address",
};

const alert: Alert = {
  ...{ id: "a7", rule: "error-rate", severity: "critical", state: "firing", title: "7 % of requests fail" },
  ...{ detail: "", labels: {}, since: "2026-01-01T00:00:00.000Z" },
};

interface Scene {
  system?: object;
  manifests?: unknown[];
  events?: unknown[];
  proxy?: Partial<IngressStatus["proxy"]>;
  sites?: IngressSite[];
  certificates?: CertificateView[];
  alerts?: Partial<Alert>[];
  faults?: string[];
  targets?: object[];
  backups?: object[];
  apps?: object[];
}

function server(scene: Scene) {
  const {
    system = {},
    manifests = [ready],
    events = [],
    proxy,
    sites = [],
    certificates = [],
    alerts = [],
    faults = [],
    targets = [],
    backups = [],
    apps = [],
  } = scene;
  return ({ path }: Call) => {
    if (path === "/alerts") return { alerts: alerts.map((change) => ({ ...alert, ...change })), blind: [] };
    if (path === "/apps") return { apps };
    if (path === "/backups/targets") return { targets };
    if (path === "/backups/apps") return { apps: backups };
    if (path === "/plugins") return { plugins: [], errors: faults };
    if (path === "/system") return { ...report, ...system };
    if (path === "/ingress") {
      return { proxy: { state: "running", listen: { http: [":80"], https: [":443"] }, ...proxy }, sites };
    }
    if (path === "/certificates") return { certificates };
    return path === "/events" ? { events } : manifests;
  };
}

const app = (kind: string, scope: string, name: string) => ({
  kind,
  scope,
  name,
  volumes: [{ volume: "a", copies: [] }],
});

describe("berth status", () => {
  test("is one screen, and exits with 0 when everything is well", async () => {
    const { out, code } = await cli(["status"], { server: server({}) });
    expect(code).toBe(0);
    expect(out).toContain("1.2.3");
    expect(out).toContain("Docker 27.1 at unix:///var/run/docker.sock");
    expect(out).toContain("1 of 1 ready");
    expect(out).not.toContain("not ready");
    expect(out).not.toContain("!");
  });

  test("says that nothing is copied while there is no target", async () => {
    const backups = [{ ...app("deployment", "shop", "web"), every: "24h" }];
    const said = async (targets: object[]) => (await cli(["status"], { server: server({ backups, targets }) })).out;
    expect(await said([])).toContain("nothing is copied: there is no target; see: berth backup target add --help");
    expect(await said([{}])).toContain("1 of 1 apps with volumes are copied");
  });

  test("names targets that copies do not reach, and those whose check failed, before an alert fires", async () => {
    const away = { name: "away", last_error: "it is away", failing_since: "2026-11-22T10:00:00Z" };
    const part = { name: "part", volume_errors: ["shop/db: it is full"] };
    const targets = [
      { name: "good", volume_errors: [] },
      away,
      part,
      { name: "lost", check_error: "a pack is cut off" },
    ];
    const { out } = await cli(["status"], { server: server({ targets }) });
    expect(out).toMatch(/copies to the backup target away fail since .*: berth backup target list/);
    expect(out).toContain("copies to the backup target part fail: berth backup target list");
    expect(out).toContain("the check of the backup target lost failed: berth backup repair lost --dry-run");
    expect(out).not.toContain("target good");
  });

  test("tells apps that nothing copies from databases with backups on this machine alone", async () => {
    const backups = [app("deployment", "shop", "web"), app("statefulset", "data", "main")];
    const job = {
      ...ready,
      kind: "cronjob",
      scope: "data",
      name: "main.backup",
      spec: { image: "x", schedule: "@daily" },
    };
    const { out } = await cli(["status"], { server: server({ manifests: [ready, job], backups, targets: [{}] }) });
    expect(out).toContain(
      "0 of 2 apps with volumes are copied; not protected: shop/web; with backups on this machine alone: data/main",
    );
  });

  test("names the command that brings volumes back while apps wait for them", async () => {
    const conditions = [{ type: "Ready", status: false, reason: "VolumeMissing", message: "its volume is gone" }];
    const waiting = { ...failing, status: { phase: "failing", conditions } };
    const { out } = await cli(["status"], { server: server({ manifests: [waiting] }) });
    expect(out).toContain("those that have copies come back with: berth backup restore --all");
  });

  test("names the apps that are not ready with the reason and the next command, and exits with 1", async () => {
    const { out, code } = await cli(["status"], { server: server({ manifests: [ready, failing] }) });
    expect(code).toBe(1);
    expect(out).toContain("1 of 2 ready");
    expect(out).toMatch(/deployment\/shop\/api +failing +CrashLoop: restarted 5 times/);
    expect(out).toContain("next: berth why shop/api");
  });

  test("tells an app whose visitors get errors from those that are ready", async () => {
    const apps = [{ ...app("deployment", "shop", "web"), state: "failing", summary: "1 of 1 ready: 9 of 30 requests" }];
    const { out, code } = await cli(["status"], { server: server({ apps }) });
    expect(code).toBe(1);
    expect(out).toContain("0 of 1 ready");
    expect(out).toMatch(/deployment\/shop\/web +failing +1 of 1 ready: 9 of 30 requests/);
    expect(out).toContain("next: berth why shop/web");
  });

  test.each([
    [[{}], 1],
    [[{ severity: "warning" as const }], 1],
    [[{ severity: "info" as const }], 0],
    [[{ state: "pending" as const }], 0],
    [[{ silenced_by: "s1" }], 0],
  ])("with the alerts %j exits with %d", async (alerts, expected) => {
    const { out, code } = await cli(["status"], { server: server({ alerts }) });
    expect(code).toBe(expected);
    const isShown = alerts.every((one) => !("state" in one) && !("silenced_by" in one));
    expect(/^alerts\n +a7 +\w+ +7 % of requests fail$/m.test(out)).toBe(isShown);
  });

  test("names plugins that cannot be used", async () => {
    const { out, code } = await cli(["status"], { server: server({ faults: ['greet: "/p/greet" is gone'] }) });
    expect([code, out]).toEqual([0, expect.stringContaining('! plugin greet: "/p/greet" is gone')]);
  });

  test("a server that knows no alerts is as well as ever", async () => {
    const without = (call: Call) => (call.path === "/alerts" ? refusal(404, "unknown path") : server({})(call));
    expect((await cli(["status"], { server: without })).code).toBe(0);
  });

  test("a closed port of an app that counts as ready is a fault", async () => {
    const warnings = ["replicas: something", "port 3000 of shop-web.a is closed: connection refused"];
    const status = { phase: "ready", warnings, closed_ports: [3000] };
    const { out, code } = await cli(["status"], { server: server({ manifests: [{ ...ready, status }] }) });
    expect(code).toBe(1);
    expect(out).toMatch(
      /^closed ports\n +deployment\/shop\/web +port 3000 of shop-web\.a is closed: connection refused$/m,
    );
  });

  test("a server without apps is well", async () => {
    const { out, code } = await cli(["status"], { server: server({ manifests: [] }) });
    expect(code).toBe(0);
    expect(out).toContain("berth apply -f FILE");
  });

  test("shows failures of the last day and no older ones", async () => {
    const event = (at: string, action: string, name: string) => ({
      seq: 1,
      at,
      actor: "x",
      action,
      scope: "shop",
      name,
    });
    const events = [
      event("2025-12-31T23:00:00.000Z", "replica.crash", "old"),
      event("2026-01-01T12:00:00.000Z", "replica.crash", "web"),
      event("2026-01-01T12:00:00.000Z", "replica.restart", "stuck"),
      event("2026-01-01T12:00:00.000Z", "config.set", "cfg"),
    ];
    const { out } = await cli(["status"], { server: server({ events }) });
    expect(out).toMatch(/replica\.crash +shop\/web/);
    expect(out).toMatch(/replica\.restart +shop\/stuck/);
    expect(out).not.toContain("shop/old");
    expect(out).not.toContain("shop/cfg");
  });

  test("tells failures of one app that say the same as one line with their count", async () => {
    const failed = (minute: number, name: string, replica: string, why: string) => ({
      ...{ seq: minute, at: `2026-01-01T12:0${minute}:00.000Z`, actor: "x", action: "release.failed" },
      ...{ kind: "deployment", scope: "shop", name },
      detail: { release: `r${minute}`, error: `cannot start container "shop-${name}.${replica}": ${why}` },
    });
    const crash = { ...failed(4, "web", "a", ""), action: "replica.crash", detail: { replica_id: "a", exit_code: 1 } };
    const events = [
      failed(1, "web", "aaaaa", "no such program"),
      failed(2, "api", "aaaaa", "no such program"),
      failed(3, "web", "bbbbb", "no such program"),
      crash,
      { ...crash, at: "2026-01-01T12:05:00.000Z", detail: { replica_id: "b", exit_code: 1, times: 4 } },
      failed(6, "web", "ccccc", "no such user"),
    ];
    const { out } = await cli(["status"], { server: server({ events }) });
    const lines = out.split("\n").filter((line) => line.includes(" 12:0"));
    expect(lines.map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["2026-01-01 12:02:00Z", "release.failed", "deployment/shop/api", expect.stringMatching(/^release=r2 /)],
      [
        "2026-01-01 12:03:00Z",
        "release.failed",
        "deployment/shop/web",
        expect.stringMatching(/^2 times, the last: .*r3/),
      ],
      ["2026-01-01 12:05:00Z", "replica.crash", "deployment/shop/web", "5 times, the last: replica_id=b exit_code=1"],
      ["2026-01-01 12:06:00Z", "release.failed", "deployment/shop/web", expect.stringContaining("no such user")],
    ]);
  });

  test.each([
    [{ engine: { ...report.engine, up: false, error: "no such socket" } }, "no such socket", 1],
    [{ forwarding: { state: "blocked", detail: "by a firewall" } }, "containers cannot reach each other", 0],
    [{ engine: { ...report.engine, live_restore: false } }, "live-restore", 0],
    [{ store: { manifests: 0, collection_held: true } }, "berth restore --confirm", 0],
    [{ reconciler: { queued: 0, failing: 2 } }, "retries 2 resources", 0],
  ])("warns: %p", async (system, text, exitCode) => {
    const { out, code } = await cli(["status"], { server: server({ system }) });
    expect(out).toContain(text);
    expect(code).toBe(exitCode);
  });

  test("shows the ingress once there is one, and warns of what keeps visitors away", async () => {
    expect((await cli(["status"], { server: server({}) })).out).not.toContain("ingress");
    const served = await cli(["status"], { server: server({ sites: [site] }) });
    expect(served.out).toMatch(/^ingress +HAProxy running, 1 ingress$/m);
    expect(served.out).not.toContain("!");
    const problem = "service: there is no deployment or statefulset shop/web";
    const troubled = await cli(["status"], {
      server: server({ sites: [site, { ...site, problems: [problem] }], certificates: [broken] }),
    });
    expect(troubled.out).toMatch(/^ingress +HAProxy running, 2 ingresses, 1 with a problem$/m);
    expect(troubled.out).toContain(`! ingress/shop/web: ${problem}\n`);
    expect(troubled.out).toContain(
      "! certificate of shop.example.com: dns: shop.example.com has no address; see: berth certs",
    );
  });

  test.each([
    [{ state: "failing", problem: "cannot bind socket" }, "the proxy does not serve the newest state: cannot bind"],
    [{ state: "stopped" }, "no site is served: the proxy is stopped; see: berth ingress status"],
  ] as const)("warns of a proxy that does not serve: %p", async (proxy, text) => {
    expect((await cli(["status"], { server: server({ proxy, sites: [site] }) })).out).toContain(`! ${text}`);
    expect((await cli(["status"], { server: server({ proxy }) })).out).not.toContain("!");
  });

  test("shows ten warnings of ingresses and says how many more there are", async () => {
    const problems = Array.from({ length: 13 }, (_, index) => `problem ${index}`);
    const { out } = await cli(["status"], { server: server({ sites: [{ ...site, problems }] }) });
    expect(out).toContain("problem 9");
    expect(out).not.toContain("problem 10");
    expect(out).toContain("! 3 more: berth ingress ls, berth certs");
  });

  test("-o json prints the same as data", async () => {
    const { out, code } = await cli(["status", "-o", "json"], { server: server({ manifests: [failing] }) });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      status: "ok",
      data: {
        well: false,
        apps: { total: 1, ready: 0 },
        not_ready: [{ name: "api", reason: "CrashLoop: restarted 5 times" }],
      },
    });
  });
});

test("an app that is asleep is well", async () => {
  const asleep = { ...ready, name: "docs", status: { phase: "asleep" } };
  const { out, code } = await cli(["status"], { server: server({ manifests: [ready, asleep] }) });
  expect(code).toBe(0);
  expect(out).toMatch(/^apps +2 of 2 ready, 1 of them asleep$/m);
  expect(out).not.toContain("not ready");
});

describe("an app in a canary step", () => {
  const canary = { release: "r1", text: "canary step 1 of 2", step: 1, steps: [], share: 0.25, replicas: {} };
  const inStep = (change: object, phase = "progressing") => ({
    ...{ ...ready, name: "api" },
    status: { phase, canary: { ...canary, ...change } },
  });
  const status = (change: object, phase?: string) =>
    cli(["status"], { server: server({ manifests: [ready, inStep(change, phase)] }) });

  test.each([
    [{ state: "paused" }, "canary 25 %, waits for: berth rollout resume shop/api"],
    [{ state: "waiting", left_seconds: 80 }, "canary 25 %, 80s left of step 1"],
  ])("is well: %p", async (change, text) => {
    const { out, code } = await status(change);
    expect(code).toBe(0);
    expect(out).toMatch(/^apps +1 of 2 ready, 1 in a canary step$/m);
    expect(out).toContain(`canaries\n  deployment/shop/api  ${text}`);
    expect(out).not.toContain("next:");
    expect(out).not.toContain("not ready");
  });

  test.each([
    [{ state: "starting" }, "progressing"],
    [{ state: "paused" }, "failing"],
  ])("is not ready while its replicas are not: %p, %s", async (change, phase) => {
    const { out, code } = await status(change, phase);
    expect(code).toBe(1);
    expect(out).toContain("next: berth why shop/api");
  });

  test("is told in the list as well", async () => {
    const { out } = await cli(["get", "deployment"], {
      server: ({ path }: Call) => (path === "/pods" ? { pods: [], degraded: [] } : [inStep({ state: "paused" })]),
    });
    expect(out).toContain("canary 25 %, waits for: berth rollout resume shop/api");
  });

  test("a disk without room is said at once, before any alert fires", async () => {
    const disk = { path: "/opt/berth", used_percent: 99.9, free_bytes: 4 * 1024 * 1024, low: true };
    const full = await cli(["status"], { server: server({ system: { ...report, disks: [disk] } }) });
    expect(full.code).toBe(1);
    expect(full.out).toContain("! the disk at /opt/berth is 99 % full, 4.0Mi are free; berth disk shows what fills it");
    const room = await cli(["status"], { server: server({ system: { ...report, disks: [{ ...disk, low: false }] } }) });
    expect([room.code, room.out.includes("! the disk")]).toEqual([0, false]);
    const locked = { ...disk, low: false, read_only: true };
    const readOnly = await cli(["status"], { server: server({ system: { ...report, disks: [locked] } }) });
    expect([readOnly.code, readOnly.out]).toEqual([
      1,
      expect.stringContaining("/opt/berth is read-only, so no change"),
    ]);
  });
});
