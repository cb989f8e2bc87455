import { describe, expect, test } from "bun:test";
import type { CoreKind, Spec, StoredManifest } from "../../../../src/orchestration/api/manifest.ts";
import { specHash } from "../../../../src/orchestration/core/spec-hash.ts";
import { naming } from "../../../../src/orchestration/core/naming.ts";
import { decodePassed } from "../../../../src/orchestration/core/spec/passed.ts";
import { resolveWorkload } from "../../../../src/orchestration/core/resolve.ts";

const asset = (ref: string) => `\${asset.${ref}}`;

function stored(spec: Spec, kind: CoreKind = "deployment"): StoredManifest {
  return { kind, scope: "shop", name: "web", spec, revision: 9, generation: 2, createdAt: 1, updatedAt: 2 };
}

function resolve(
  spec: Spec,
  more: {
    kind?: CoreKind;
    config?: Record<string, string>;
    envFrom?: Record<string, string>[];
    telemetry?: { url: string | undefined };
  } = {},
) {
  return resolveWorkload({
    manifest: stored(spec, more.kind),
    config: more.config ?? {},
    envFrom: more.envFrom ?? [],
    assetPath: (digest) => `/root/assets/${digest}`,
    isPlainVolume: () => false,
    findReferenced: () => undefined,
    names: naming("berth"),
    telemetry: more.telemetry,
  });
}

describe("telemetry", () => {
  const spec = { image: "web:1", telemetry: true, env: { OTEL_SERVICE_NAME: "storefront" } };
  const envOf = (resolved: ReturnType<typeof resolve>) => resolved.workload.container.env;

  test("tells containers where to send, and leaves what the app says itself", () => {
    const config = { OTEL_METRIC_EXPORT_INTERVAL: "60000" };
    expect(envOf(resolve(spec, { config, telemetry: { url: "http://172.30.0.1:4318" } }))).toMatchObject({
      OTEL_EXPORTER_OTLP_ENDPOINT: "http://172.30.0.1:4318",
      OTEL_EXPORTER_OTLP_PROTOCOL: "http/protobuf",
      OTEL_METRIC_EXPORT_INTERVAL: "60000",
      OTEL_SERVICE_NAME: "storefront",
      OTEL_RESOURCE_ATTRIBUTES: "service.namespace=shop",
    });
  });

  test("makes no container before its listener is open, and says nothing where it is turned off", () => {
    const early = resolve(spec, { telemetry: { url: undefined } });
    expect(early.problems).toEqual([
      { path: "spec.telemetry", message: "the listener for telemetry is not open yet", reason: "Other" },
    ]);
    const off = resolve(spec);
    expect([off.problems, envOf(off).OTEL_EXPORTER_OTLP_ENDPOINT]).toEqual([[], undefined]);
  });
});

describe("the owner of volumes", () => {
  const volumes = ["data:/data", "read:/read:ro", "blog/media:/media", "nfs:/nfs:external", "/srv/x:/x"];
  const owner = { uid: 1000, gid: 1001 };

  test("goes to those of the own scope that can be written to, and to claims", () => {
    const spec = {
      image: "web:1",
      volumes,
      volume_owner: "1000:1001",
      volume_claims: [{ name: "c", mount_path: "/c" }],
    };
    const { workload, problems } = resolve(spec, { kind: "statefulset" });
    expect(problems).toEqual([]);
    const owned = workload.container.mounts.filter((mount) => mount.owner !== undefined);
    expect(owned).toMatchObject([{ source: "berth_shop_data", owner }]);
    expect(workload.volumeClaims).toEqual([{ name: "c", mountPath: "/c", owner }]);
  });

  test("of a stored spec that cannot be read is a problem", () => {
    const { problems } = resolve({ image: "web:1", volumes, volume_owner: "node" });
    expect(problems).toMatchObject([{ path: "spec.volume_owner" }]);
  });
});

describe("defaults", () => {
  test("of a deployment that says nothing but its image", () => {
    const spec = { image: "web:1" };
    expect(resolve(spec)).toEqual({
      problems: [],
      workload: {
        kind: "deployment",
        scope: "shop",
        name: "web",
        replicas: 1,
        hash: specHash("deployment", spec),
        generation: 2,
        revision: 9,
        image: "web:1",
        pullable: true,
        pull: "missing",
        volumeClaims: [],
        inits: [],
        container: {
          command: undefined,
          env: { BERTH_SCOPE: "shop", BERTH_NAME: "web" },
          ports: [],
          mounts: [],
          networks: [],
          ...decodePassed({}),
          networkMode: "bridge",
          restart: { name: "unless-stopped", maximumRetryCount: 0 },
          extraHosts: [],
          capAdd: [],
          // The engine's own count.
          ulimits: [],
          nanoCpus: undefined,
          memoryBytes: undefined,
          log: { maxSize: "10m", maxFiles: 3 },
          stopGraceMs: 10_000,
          stopSignal: undefined,
          options: {},
          initUnlessOwn: false,
        },
        rollout: {
          strategy: "rolling",
          strategyReason: undefined,
          maxSurge: 1,
          maxUnavailable: 0,
          minReadyMs: 2_000,
          progressDeadlineMs: 300_000,
          crashRestarts: 5,
          crashAfterMs: 60_000,
          drainMs: 30_000,
          autoRollback: true,
          guard: undefined,
          canary: undefined,
        },
      },
    });
  });
  test("without an image it is the one built here, which is never pulled", () => {
    expect(resolve({}).workload).toMatchObject({ image: "shop-web:latest", pullable: false });
    const built = (build: object) => resolve({ image: "", build }).workload;
    expect(built({ id: "0123456789ab" })).toMatchObject({ image: "shop-web:0123456789ab", pullable: false });
    // Nobody's image has this name: which one it is, the builds of the app say.
    expect(built({})).toMatchObject({ image: "shop-web:unbuilt", pullable: false });
  });
  test("replicas: written, zero, or the least of autoscale", () => {
    expect(resolve({ replicas: 0 }).workload.replicas).toBe(0);
    expect(resolve({ replicas: 4 }).workload.replicas).toBe(4);
    expect(resolve({ autoscale: { min: 2, max: 3, cpu_target: 50 } }).workload.replicas).toBe(2);
  });
});

test("what is written is read", () => {
  const { workload, problems } = resolve({
    image: "web:1",
    pull: "always",
    command: ["a", "b"],
    ports: ["8080"],
    networks: ["x", "x"],
    network: "y",
    restart: "on-failure:3",
    extra_hosts: ["a:1.1.1.1"],
    cap_add: ["A"],
    ulimits: { nofile: "1:2" },
    resources: { limits: { cpu: "500m", memory: "1Gi" } },
    logs: { max_size: "5m", max_files: 1 },
    stop_grace: "1m",
    stop_signal: "SIGINT",
    docker_options: ["--init", "--label=a=b", "--label=berth.kind=x", "--label=createdby=y"],
    rollout: {
      max_surge: 3,
      max_unavailable: 1,
      min_ready: "1s",
      progress_deadline: "1m",
      crash_loop_restarts: 8,
      crash_loop_after: "2m",
      drain: "0s",
      auto_rollback: false,
      guard: { errors: "0.5%", p99: "800ms", over: "1m", min_requests: 50 },
    },
  });
  expect(problems).toEqual([]);
  expect(workload).toMatchObject({
    pull: "always",
    container: {
      command: ["a", "b"],
      ports: [{ hostIp: "127.0.0.1", hostPort: undefined, containerPort: 8080, protocol: "tcp" }],
      networks: ["x", "y"],
      restart: { name: "on-failure", maximumRetryCount: 3 },
      extraHosts: ["a:1.1.1.1"],
      capAdd: ["A"],
      ulimits: [{ name: "nofile", soft: 1, hard: 2 }],
      nanoCpus: 5e8,
      memoryBytes: 1024 ** 3,
      log: { maxSize: "5m", maxFiles: 1 },
      stopGraceMs: 60_000,
      stopSignal: "SIGINT",
      options: { init: true, labels: { a: "b" } },
    },
    rollout: {
      maxSurge: 3,
      maxUnavailable: 1,
      minReadyMs: 1_000,
      progressDeadlineMs: 60_000,
      crashRestarts: 8,
      crashAfterMs: 120_000,
      drainMs: 0,
      autoRollback: false,
      guard: { failedShareMax: 0.005, p99MsMax: 800, overMs: 60_000, requestsMin: 50 },
    },
  });
  expect(workload.container.options.labels).toEqual({ a: "b" });
});

test("a guard has its defaults, and makes no other containers", () => {
  const { workload } = resolve({ image: "web:1", rollout: { guard: { p99: "1s" } } });
  expect(workload.rollout.guard).toEqual({
    failedShareMax: undefined,
    p99MsMax: 1_000,
    overMs: 30_000,
    requestsMin: 20,
  });
  expect(workload.hash).toBe(resolve({ image: "web:1" }).workload.hash);
});

describe("environment", () => {
  test("later wins: env_from in order, config, the manifest, what is injected", () => {
    const spec = { env: { D: "manifest", E: "manifest", BERTH_NAME: "forged" } };
    const { workload } = resolve(spec, {
      envFrom: [
        { A: "first", B: "first", C: "first", D: "first" },
        { B: "second", C: "second", D: "second" },
      ],
      config: { C: "config", D: "config", BERTH_SCOPE: "forged" },
    });
    expect(workload.container.env).toEqual({
      A: "first",
      B: "second",
      C: "config",
      D: "manifest",
      E: "manifest",
      BERTH_SCOPE: "shop",
      BERTH_NAME: "web",
    });
  });
  test("config is taken as it is: no references inside", () => {
    const { workload, problems } = resolve({}, { config: { A: asset("x.y") } });
    expect(workload.container.env.A).toBe(asset("x.y"));
    expect(problems).toEqual([]);
  });
});

describe("references", () => {
  const home = "$" + "{HOME}";
  const digests = { "conf.main": "d1", "shop.conf.main": "d1" };
  test("become the path of the content that was stamped", () => {
    const { workload, problems } = resolve({
      image: `x/${asset("conf.main")}`,
      command: ["-c", asset("conf.main")],
      env: { CONF: `file:${asset("shop.conf.main")}`, HOME: home },
      volumes: [`${asset("conf.main")}:/etc/conf:ro`, "data:/data:ro"],
      _asset_digests: digests,
    });
    expect(problems).toEqual([]);
    expect(workload.image).toBe("x//root/assets/d1");
    expect(workload.container.command).toEqual(["-c", "/root/assets/d1"]);
    expect(workload.container.env).toMatchObject({ CONF: "file:/root/assets/d1", HOME: home });
    expect(workload.container.mounts).toEqual([
      { type: "bind", source: "/root/assets/d1", target: "/etc/conf", readOnly: true, assetDigest: "d1" },
      {
        type: "volume",
        source: "berth_shop_data",
        target: "/data",
        readOnly: true,
        volume: { owner: "shop", name: "data", external: false },
      },
    ]);
  });
  test("what is not here yet, and what nobody reports, say so with their reason", () => {
    const { problems } = resolve({
      command: [asset("a.b")],
      env: { U: "${" + "ref.ingress.web.url}" },
      volumes: [`${asset("a.c")}:/x`],
    });
    expect(problems.map(({ path, reason }) => [path, reason])).toEqual([
      ["spec.command[0]", "AssetUnavailable"],
      ["spec.env.U", "ReferenceUnresolved"],
      ["spec.volumes[0]", "AssetUnavailable"],
    ]);
  });
});

describe("strategy of a deployment", () => {
  const strategy = (spec: Spec): [string, boolean] => {
    const { strategy, strategyReason } = resolve(spec).workload.rollout;
    return [strategy, strategyReason !== undefined];
  };
  test.each<[string, Spec, [string, boolean]]>([
    ["nothing in the way", { ports: ["80"], volumes: ["data:/d:ro"] }, ["rolling", false]],
    ["a fixed host port", { ports: ["80:80"] }, ["recreate", true]],
    [
      "a fixed host port although rolling is written",
      { ports: ["80:80"], rollout: { strategy: "rolling" } },
      ["recreate", true],
    ],
    ["a writable volume", { volumes: ["data:/d"] }, ["recreate", true]],
    ["a writable host path", { volumes: ["/srv:/d"] }, ["recreate", true]],
    [
      "a writable volume, rolling written",
      { volumes: ["data:/d"], rollout: { strategy: "rolling" } },
      ["rolling", false],
    ],
    ["recreate written", { rollout: { strategy: "recreate" } }, ["recreate", false]],
    ["the network of the host", { network_mode: "host" }, ["recreate", true]],
    [
      "the network of the host, rolling written",
      { network_mode: "host", rollout: { strategy: "rolling" } },
      ["rolling", false],
    ],
    ["an asset", { volumes: [`${asset("a.b")}:/x`], _asset_digests: { "a.b": "d" } }, ["rolling", false]],
  ])("%s", (_, spec, expected) => {
    expect(strategy(spec)).toEqual(expected);
  });
  test("the reason names what is in the way", () => {
    expect(resolve({ volumes: ["data:/d"] }).workload.rollout.strategyReason).toContain('"data" is writable');
    expect(resolve({ ports: ["80:80"] }).workload.rollout.strategyReason).toContain("host port 80");
  });
});

describe("statefulsets", () => {
  test("carry claims and are never surged", () => {
    const spec = {
      image: "db:1",
      volume_claims: [{ name: "data", mount_path: "/d", size: "1Gi" }],
      volumes: ["x1:/x"],
    };
    expect(resolve(spec, { kind: "statefulset" }).workload).toMatchObject({
      kind: "statefulset",
      volumeClaims: [{ name: "data", mountPath: "/d" }],
      rollout: { strategy: "rolling", maxSurge: 0, maxUnavailable: 1 },
    });
  });
});

test("a stored spec that a newer version wrote is read as far as it can be, and tells the rest", () => {
  const { workload, problems } = resolve({
    image: "web:1",
    replicas: "many",
    env: { A: 1, B: "2" },
    ports: ["80", "teleport"],
    volumes: ["odd"],
    ulimits: { warp: "9" },
    docker_options: ["--warp"],
    future: { x: 1 },
  });
  expect(workload.replicas).toBe(1);
  expect(workload.container.env).toEqual({ B: "2", BERTH_SCOPE: "shop", BERTH_NAME: "web" });
  expect(workload.container.ports).toHaveLength(1);
  expect(problems.map(({ path }) => path).toSorted()).toEqual([
    "spec.docker_options[0]",
    "spec.ports[1]",
    "spec.ulimits.warp",
    "spec.volumes[0]",
  ]);
});

test("an entrypoint is that of the main image: inits with an image of their own do not run behind it", () => {
  const inits = [
    { name: "same", command: ["a"] },
    { name: "own", image: "tools:1", command: ["b"] },
  ];
  const spec = { image: "web:1", entrypoint: ["tini", "--"], docker_options: ["--init"], inits };
  const { workload, problems } = resolve(spec);
  expect(problems).toEqual([]);
  expect(workload.container.options).toEqual({ init: true, entrypoint: ["tini", "--"] });
  expect(workload.inits.map(({ options }) => options)).toEqual([undefined, { init: true }]);
});
