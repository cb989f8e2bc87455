import { describe, expect, test } from "bun:test";
import type { WritableKind } from "../../../src/api/kinds/schemas.ts";
import { limits } from "../../../src/config.ts";
import { validateSpec } from "../../../src/core/validate.ts";

const asset = (ref: string) => `\${asset.${ref}}`;

function check(kind: WritableKind, spec: unknown): string[] {
  return validateSpec(kind, spec, limits).map(({ path, message }) => `${path}: ${message}`);
}

/** Each row: fields added to a spec that is fine, and the start of the one problem they cause. */
type Row = [fields: object, expected: string];

function refuses(kind: WritableKind, base: object, rows: Row[]): void {
  test(`${kind}: the base is fine`, () => {
    expect(check(kind, base)).toEqual([]);
  });
  test.each(rows)(`${kind} with %j`, (fields, expected) => {
    const found = check(kind, { ...base, ...fields });
    expect(found.join("\n")).toStartWith(expected);
    expect(found).toHaveLength(1);
  });
}

const hook = { url: "https://hooks.test/x" };

describe("every field, used well", () => {
  const container = {
    image: "registry.test/web:1",
    pull: "always",
    command: ["run", asset("web.conf"), "$HOME"],
    env: { A: "1", "discovery.type": asset("shop.web.conf"), _X: "" },
    env_file: [".env"],
    env_from: ["shop", "shop/web"],
    volumes: ["data:/data", `${asset("shop.web.conf")}:/etc/web.yml:ro`],
    network: "old",
    networks: ["backplane"],
    network_mode: "bridge",
    extra_hosts: ["db:10.0.0.9", "v6:::1", "gw:host-gateway"],
    cap_add: ["SYS_NICE"],
    ulimits: { nofile: "1024:65536", memlock: "-1" },
    docker_options: ["--shm-size=64m"],
    resources: { limits: { cpu: "500m", memory: "384Mi" } },
    logs: { max_size: "20m", max_files: 4 },
    stop_grace: "30s",
    stop_signal: "SIGINT",
    depends_on: { assets: ["web.conf", "shop.web.conf"] },
    build_args: { A: "b" },
    _asset_digests: { "web.conf": "x" },
  };
  const pod = {
    ...container,
    replicas: 3,
    ports: ["8080", "127.0.0.1::9000/udp"],
    restart: "on-failure:3",
    health_check: "/up",
    rollout: {
      strategy: "rolling",
      max_unavailable: 1,
      min_ready: "5s",
      progress_deadline: "10m",
      drain: "0s",
      auto_rollback: false,
    },
    probes: {
      startup: { http_get: { path: "/", port: 80, scheme: "https", http_headers: { "X-A": "b" } }, period: "2s" },
      liveness: { exec: { command: ["true"] }, initial_delay: "20s", timeout: "10s", failure_threshold: 5 },
      readiness: { tcp_socket: { port: 80 }, success_threshold: 2 },
    },
    on_probe: { failure: [{ ...hook, method: "PUT", headers: { A: "b" }, body: { a: { b: [1] } } }], recovery: [] },
    inits: [{ name: "seed", command: ["x"], image: "alpine:3", timeout: "3m", retries: 5, docker_options: ["--init"] }],
  };
  test.each<[WritableKind, object]>([
    [
      "deployment",
      {
        ...pod,
        rollout: { ...pod.rollout, max_surge: 2 },
        release: { command: ["migrate"], pre_command: ["a"], post_command: ["b"], timeout: "12m" },
        on_deploy: { success: [{ ...hook, file: asset("hooks.ok") }], failure: [hook] },
        post_deploy: ["echo"],
        keep_releases: 7,
      },
    ],
    ["deployment", { autoscale: { min: 2, max: 8, cpu_target: 65, cooldown_up: "30s", cooldown_down: "6m" } }],
    ["deployment", { build: { context: ".", args: { A: "b" }, lang: { name: "go", version: "1", entrypoint: "m" } } }],
    ["deployment", { replicas: 0 }],
    ["deployment", { ports: ["8080:80"] }],
    ["statefulset", { ...pod, volume_claims: [{ name: "data", mount_path: "/var/lib/x", size: "20Gi" }] }],
    ["job", { ...container, timeout: "25m", successful_history_limit: 5, failed_history_limit: 0, labels: { a: "b" } }],
    [
      "cronjob",
      {
        schedule: "15 2 * * *",
        timezone: "Europe/Berlin",
        suspend: true,
        concurrency_policy: "Forbid",
        successful_history_limit: 1,
        failed_history_limit: 1,
        job: container,
      },
    ],
    [
      "ingress",
      {
        host: "Shop.Acme.test",
        hosts: ["*.acme.test"],
        service: "web",
        port: 9000,
        tls: { enabled: true, provider: "internal", email: "ops@acme.test", on_demand: true, ask: "https://a.test/ok" },
        locations: [{ path: "/v1", strip: true }, { path: "/" }],
        lb: { policy: "least_conn", interval: "5s" },
      },
    ],
    ["asset", { files: { a: "text", b: { _source: "file", content: "aGk=", filename: "x" } } }],
    ["asset", { files: { c: { _source: "url", url: "https://x.test/y", timeout: "8s", on_failure: "stale" } } }],
    ["registry", { url: "registry.test", username: "bot", token: "x" }],
    ["registry", { url: "registry.test", username: "bot", password: "x" }],
    ["registry", { url: "registry.test", helper: "ecr-login" }],
    ["app", { image: "web:1", replicas: 2, host: "a.test", tls: {}, locations: [{ path: "/" }], lb: {} }],
    ["app", { image: "web:1" }],
  ])("%s %#", (kind, spec) => {
    expect(check(kind, spec)).toEqual([]);
  });
});

describe("container fields", () => {
  refuses("deployment", { image: "web:1" }, [
    [{ build: {} }, "spec.build: excludes image"],
    [{ image: "Web" }, 'spec.image: "Web" is not an image reference'],
    [{ image: "${" + "asset.x}" }, "spec.image: "],
    [{ env: { "A B": "x" } }, 'spec.env: "A B" is not a variable name'],
    [{ env: { "1A": "x" } }, 'spec.env: "1A" is not a variable name'],
    [{ env: { A: "${" + "asset.x}" } }, "spec.env.A: "],
    [{ env: { A: 1 } }, "spec.env.A: expected string, got integer; put it in quotes"],
    [{ env_from: ["a/b/c"] }, 'spec.env_from[0]: "a/b/c" names no app'],
    [{ env_from: ["shop", "../x"] }, 'spec.env_from[1]: "../x" names no app'],
    [{ command: ["a", "${" + "ref.x}"] }, "spec.command[1]: "],
    [{ command: "run" }, 'spec.command: expected array, got string "run"'],
    [{ volumes: ["data"] }, 'spec.volumes[0]: "data" is not a volume'],
    [{ volumes: ["aa:/x", "bb:/x/"] }, 'spec.volumes[1]: the mount path "/x" is already at spec.volumes[0]'],
    [{ network_mode: "host", networks: ["a"] }, 'spec.network_mode: "host" excludes networks'],
    [{ network_mode: "none", network: "a" }, 'spec.network_mode: "none" excludes networks'],
    [{ network_mode: "container:x" }, 'spec.network_mode: expected "", "bridge", "host" or "none", got string'],
    [{ networks: ["host"] }, 'spec.networks[0]: "host" is a mode of the engine'],
    [{ networks: ["a b"] }, 'spec.networks[0]: "a b" is not a network name'],
    [{ extra_hosts: ["db"] }, 'spec.extra_hosts[0]: "db" is not a host entry'],
    [{ extra_hosts: ["db:nowhere"] }, "spec.extra_hosts[0]: "],
    [{ cap_add: ["NET ADMIN"] }, 'spec.cap_add[0]: "NET ADMIN" is not a capability'],
    [{ ulimits: { nofiles: "1" } }, 'spec.ulimits.nofiles: "nofiles" is not a limit; did you mean "nofile"'],
    [{ ulimits: { nofile: "2:1" } }, 'spec.ulimits.nofile: "2:1" has a soft limit above the hard one'],
    [{ ulimits: { nofile: "lots" } }, 'spec.ulimits.nofile: "lots" is not a limit'],
    [{ docker_options: ["--privilegd"] }, "spec.docker_options[0]: "],
    [{ resources: { limits: { cpu: "lots" } } }, 'spec.resources.limits.cpu: "lots" is not a CPU quantity'],
    [{ resources: { limits: { cpu: "1m" } } }, 'spec.resources.limits.cpu: "1m" is below the smallest limit'],
    [{ resources: { limits: { memory: "64MB" } } }, 'spec.resources.limits.memory: "64MB" is not a memory quantity'],
    [{ resources: { limits: { memory: "1Mi" } } }, 'spec.resources.limits.memory: "1Mi" is below the smallest limit'],
    [{ resources: { requests: {} } }, "spec.resources.requests: unknown field; known are limits"],
    [{ logs: { max_size: "big" } }, 'spec.logs.max_size: "big" is not a size'],
    [{ logs: { max_files: 0 } }, "spec.logs.max_files: must be at least 1, got 0"],
    [{ stop_grace: "soon" }, 'spec.stop_grace: "soon" is not a duration'],
    [{ stop_signal: "SIGFOO" }, 'spec.stop_signal: "SIGFOO" is not a signal'],
    [{ stop_signal: "65" }, 'spec.stop_signal: "65" is not a signal'],
    [{ pull: "never" }, 'spec.pull: expected "missing" or "always", got string "never"'],
    [{ depends_on: { assets: ["conf"] } }, 'spec.depends_on.assets[0]: "conf" names no asset file'],
    [{ depends_on: { services: ["db"] } }, "spec.depends_on.services: unknown field; known are assets"],
    [{ networks: Array(1_001).fill("a") }, "spec.networks: has more than 1000 entries"],
  ]);
});

describe("pod fields", () => {
  refuses("deployment", { image: "web:1" }, [
    [{ replicas: 1_001 }, "spec.replicas: must be at most 1000, got 1001"],
    [{ ports: ["80-90"] }, 'spec.ports[0]: "80-90" is a range of ports'],
    [{ ports: ["80:80"], replicas: 2 }, "spec.ports[0]: host port 80 is fixed, so only one of 2 replicas"],
    [{ ports: ["80:80", "0.0.0.0:80:81"] }, "spec.ports[1]: host port 80 is already at spec.ports[0]"],
    [{ restart: "sometimes" }, 'spec.restart: "sometimes" is not a restart policy'],
    [{ restart: "always:3" }, "spec.restart: "],
    [{ health_check: "up" }, 'spec.health_check: "up" must start with "/"'],
    [{ rollout: { max_surge: 0 } }, "spec.rollout: max_surge and max_unavailable are both 0"],
    [{ rollout: { progress_deadline: "0s" } }, 'spec.rollout.progress_deadline: "0s" must be above zero'],
    [{ rollout: { drain: "1" } }, 'spec.rollout.drain: "1" is not a duration'],
    [{ rollout: { strategy: "rolling" }, ports: ["80:80"] }, 'spec.rollout.strategy: "rolling" cannot work'],
    [{ rollout: { max_surg: 1 } }, 'spec.rollout.max_surg: unknown field; did you mean "max_surge"'],
    [{ probes: { liveness: {} } }, "spec.probes.liveness: needs exactly one of http_get, tcp_socket, exec; it has 0"],
    [
      { probes: { readiness: { tcp_socket: { port: 1 }, exec: { command: ["a"] } } } },
      "spec.probes.readiness: needs exactly one of http_get, tcp_socket, exec; it has 2",
    ],
    [{ probes: { startup: { http_get: { path: "x", port: 1 } } } }, 'spec.probes.startup.http_get.path: "x" must'],
    [{ probes: { startup: { tcp_socket: { port: 0 } } } }, "spec.probes.startup.tcp_socket.port: must be at least 1"],
    [{ probes: { startup: { exec: { command: [] } } } }, "spec.probes.startup.exec.command: must not be empty"],
    [{ probes: { startup: { tcp_socket: { port: 1 }, period: "0s" } } }, "spec.probes.startup.period: "],
    [
      { probes: { startup: { http_get: { path: "/", port: 1, http_headers: { "A:": "b" } } } } },
      'spec.probes.startup.http_get.http_headers: "A:" is not a header name',
    ],
    [{ inits: [{ name: "A", command: ["x"] }] }, 'spec.inits[0].name: "A" is not an init name'],
    [{ inits: [{ name: "a", command: [] }] }, "spec.inits[0].command: must not be empty"],
    [{ inits: [{ name: "a" }] }, "spec.inits[0].command: is required"],
    [{ inits: [{ name: "a", command: ["x"], retries: 6 }] }, "spec.inits[0].retries: must be at most 5, got 6"],
    [{ inits: [{ name: "a", command: ["x"], image: "X" }] }, "spec.inits[0].image: "],
    [
      { inits: ["a", "b", "a"].map((name) => ({ name, command: ["x"] })) },
      'spec.inits[2].name: the init name "a" is already at spec.inits[0].name',
    ],
    [{ on_probe: { failure: [{ url: "ftp://x" }] } }, "spec.on_probe.failure[0].url: is not an http address"],
    [{ on_probe: { failure: [{ ...hook, method: "GET" }] } }, "spec.on_probe.failure[0].method: expected"],
    [{ on_probe: { failure: [{ ...hook, headers: { A: "b\nc" } }] } }, "spec.on_probe.failure[0].headers: the value"],
    [{ on_probe: { failure: [{ ...hook, file: "body.json" }] } }, "spec.on_probe.failure[0].file: "],
    [
      { on_probe: { recovery: [{ ...hook, body: {}, file: asset("a.b") }] } },
      "spec.on_probe.recovery[0].file: excludes body",
    ],
    [{ on_probe: { success: [] } }, "spec.on_probe.success: unknown field"],
  ]);
});

describe("deployments", () => {
  refuses("deployment", { autoscale: { min: 1, max: 4, cpu_target: 50 } }, [
    [{ replicas: 2 }, "spec.replicas: excludes autoscale"],
    [{ autoscale: { min: 5, max: 4, cpu_target: 50 } }, "spec.autoscale.max: is 4, below min, which is 5"],
    [{ autoscale: { min: 0, max: 4, cpu_target: 50 } }, "spec.autoscale.min: must be at least 1, got 0"],
    [{ autoscale: { min: 1, max: 4, cpu_target: 101 } }, "spec.autoscale.cpu_target: must be at most 100, got 101"],
    [{ autoscale: { min: 1, max: 4_000, cpu_target: 50 } }, "spec.autoscale.max: must be at most 1000"],
    [{ autoscale: { min: 1, max: 4 } }, "spec.autoscale.cpu_target: is required"],
    [{ ports: ["80:80"] }, "spec.ports[0]: host port 80 is fixed, so only one of 4 replicas"],
    [{ release: {} }, "spec.release: has no command"],
    [{ release: { command: [] } }, "spec.release.command: must not be empty"],
    [{ release: { command: ["a"], timeout: "0s" } }, "spec.release.timeout: "],
    [{ on_deploy: { success: [{}] } }, "spec.on_deploy.success[0].url: is required"],
    [{ volume_claims: [] }, "spec.volume_claims: unknown field"],
    [{ imagee: "x" }, 'spec.imagee: unknown field; did you mean "image"'],
  ]);
});

describe("statefulsets", () => {
  refuses("statefulset", { image: "db:1", volume_claims: [{ name: "data", mount_path: "/data" }] }, [
    [{ image: undefined }, "spec.image: is required for a statefulset"],
    [{ rollout: { max_surge: 1 } }, "spec.rollout.max_surge: does not apply to a statefulset"],
    [{ volume_claims: [{ name: "Data", mount_path: "/data" }] }, 'spec.volume_claims[0].name: "Data" is not a claim'],
    [{ volume_claims: [{ name: "data", mount_path: "data" }] }, 'spec.volume_claims[0].mount_path: is "data", which'],
    [{ volume_claims: [{ name: "d", mount_path: "/d", size: "big" }] }, 'spec.volume_claims[0].size: "big"'],
    [{ volumes: ["xx:/data/"] }, 'spec.volume_claims[0].mount_path: the mount path "/data" is already in spec.volumes'],
    [
      { volume_claims: ["/a", "/b"].map((mount_path) => ({ name: "x", mount_path })) },
      'spec.volume_claims[1].name: the claim name "x" is already at spec.volume_claims[0].name',
    ],
    [
      { volume_claims: ["a", "b"].map((name) => ({ name, mount_path: "/a" })) },
      'spec.volume_claims[1].mount_path: the mount path "/a" is already at',
    ],
    [{ release: { command: ["x"] } }, "spec.release: unknown field"],
    [{ replicas: 2, ports: ["80:80"] }, "spec.ports[0]: host port 80 is fixed"],
  ]);
});

describe("jobs", () => {
  refuses("job", { image: "tools:1" }, [
    [{ timeout: "0s" }, "spec.timeout: "],
    [{ ports: ["80"] }, "spec.ports: unknown field"],
    [{ labels: { "a b": "c" } }, 'spec.labels: "a b" is not a label key'],
    [{ failed_history_limit: -1 }, "spec.failed_history_limit: must be at least 0"],
  ]);
  refuses("cronjob", { schedule: "@daily", job: { image: "tools:1" } }, [
    [{ schedule: "0 0 30 2 *" }, "spec.schedule: "],
    [{ schedule: "daily" }, 'spec.schedule: "daily" is not a schedule'],
    [{ timezone: "Mars/Phobos" }, 'spec.timezone: "Mars/Phobos" is not a time zone'],
    [{ concurrency_policy: "Replace" }, 'spec.concurrency_policy: expected "Allow" or "Forbid", got string "Replace"'],
    [{ job: undefined }, "spec.job: is required"],
    [{ job: { image: "X" } }, "spec.job.image: "],
    [{ job: { schedule: "x" } }, "spec.job.schedule: unknown field"],
  ]);
});

describe("ingresses and apps", () => {
  refuses("ingress", { host: "a.test" }, [
    [{ host: undefined }, "spec.host: is required"],
    [{ host: "http://a.test" }, 'spec.host: "http://a.test" is not a host name'],
    [{ host: "a.test:80" }, "spec.host: "],
    [{ host: "-a.test" }, "spec.host: "],
    [{ host: "a..test" }, "spec.host: "],
    [{ host: "a.*.test" }, "spec.host: "],
    [{ host: `${"a".repeat(64)}.test` }, "spec.host: "],
    [{ hosts: ["b.test", "A.test"] }, 'spec.hosts[1]: the host "a.test" is already at spec.host'],
    [{ service: "../x" }, 'spec.service: "../x" is not a resource name'],
    [{ port: 70_000 }, "spec.port: must be at most 65535"],
    [{ locations: [{ path: "api" }] }, 'spec.locations[0].path: "api" is not a path prefix'],
    [{ locations: [{ path: "/a/../b" }] }, "spec.locations[0].path: "],
    [{ locations: [{ path: "/a" }, { path: "/a/" }] }, 'spec.locations[1].path: the path "/a" is already at'],
    [{ locations: [{}] }, "spec.locations[0].path: is required"],
    [{ tls: { provider: "acme" } }, 'spec.tls.provider: expected "letsencrypt" or "internal", got string "acme"'],
    [{ tls: { ask: "x" } }, "spec.tls.ask: is not an http address"],
    [{ tls: { email: "ops" } }, 'spec.tls.email: "ops" is not a mail address'],
    [{ lb: { policy: "leastconn" } }, "spec.lb.policy: expected"],
    [{ lb: { interval: "0s" } }, "spec.lb.interval: "],
  ]);
  refuses("app", { image: "web:1" }, [
    [{ tls: {} }, "spec.tls: needs a host"],
    [{ locations: [] }, "spec.locations: needs a host"],
    [{ host: "x y" }, "spec.host: "],
    [{ service: "web" }, "spec.service: unknown field"],
    [{ image: "X" }, "spec.image: "],
  ]);
});

describe("assets and registries", () => {
  refuses("asset", { files: { a: "x" } }, [
    [{ files: { "a.b": "x" } }, 'spec.files: "a.b" is not a file key'],
    [{ files: { a: 3 } }, "spec.files.a: expected string, object with _source"],
    [{ files: { a: { _source: "file" } } }, "spec.files.a.content: is required"],
    [{ files: { a: { _source: "file", content: "%%%" } } }, "spec.files.a.content: is not base64"],
    [{ files: { a: { _source: "file", content: "aGk=", path: "x" } } }, "spec.files.a.path: unknown field"],
    [{ files: { a: { _source: "url", url: "file:///etc/passwd" } } }, "spec.files.a.url: is not an http address"],
    [{ files: { a: { _source: "url", url: "http://x", on_failure: "die" } } }, "spec.files.a.on_failure: expected"],
    [{ files: { a: { _source: "ftp" } } }, "spec.files.a: expected string, object with _source"],
    [{ files: undefined }, "spec.files: is required"],
  ]);
  test("the size of a file is bounded, text and embedded", () => {
    const small = { ...limits, assetBytesMax: 3 };
    const spec = { files: { a: "ééé", b: { _source: "file", content: "aGVsbG8=" }, c: "abc" } };
    expect(validateSpec("asset", spec, small)).toEqual([
      { path: "spec.files.a", message: "has 6 bytes; at most 3 are allowed" },
      { path: "spec.files.b", message: "has 5 bytes; at most 3 are allowed" },
    ]);
  });
  test("the number of variables is bounded", () => {
    const spec = { env: { A: "1", B: "2", C: "3" } };
    expect(validateSpec("deployment", spec, { ...limits, envEntriesMax: 2 })).toEqual([
      { path: "spec.env", message: "has 3 entries; at most 2 are allowed" },
    ]);
  });
  refuses("registry", { url: "r.test", username: "bot", token: "x" }, [
    [{ url: "a b" }, "spec.url: is not a registry address"],
    [{ url: undefined }, "spec.url: is required"],
    [{ password: "y" }, "spec.password: is another name of token"],
    [{ helper: "ecr-login" }, "spec.helper: excludes username and token"],
    [{ username: undefined }, "spec.username: is required"],
    [{ token: "" }, "spec.token: is required"],
  ]);
});
