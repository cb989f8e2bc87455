import { describe, expect, test } from "bun:test";
import type { CoreKind, Spec } from "../../../../src/orchestration/api/manifest.ts";
import { canonicalJson, sha256Hex } from "../../../../src/base/pure/digest.ts";
import { specHash } from "../../../../src/orchestration/core/spec-hash.ts";

describe("canonical JSON", () => {
  test("sorted keys, no undefined, lists in order", () => {
    expect(canonicalJson({ b: [2, 1, { d: 1, c: undefined }], a: null, ä: "x" })).toBe(
      '{"a":null,"b":[2,1,{"d":1}],"ä":"x"}',
    );
    expect(canonicalJson("x")).toBe('"x"');
    expect(canonicalJson([undefined])).toBe("[null]");
  });
});

test("sha256 of text and bytes", () => {
  const abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  expect(sha256Hex("abc")).toBe(abc);
  expect(sha256Hex(new Uint8Array([97, 98, 99]))).toBe(abc);
});

const hash = (spec: Spec, kind: CoreKind = "deployment") => specHash(kind, spec);
const base = { image: "web:1" };

describe("the spec hash", () => {
  test("stays the same over versions: a change would replace every container there is", () => {
    const spec = {
      image: "web:1",
      command: ["run"],
      env: { A: "1" },
      ports: ["80"],
      probes: { readiness: { http_get: { path: "/", port: 80 }, period: "5s" } },
      resources: { limits: { cpu: "500m", memory: "1Gi" } },
    };
    expect(hash(spec)).toBe("ec8e851fa6dbe64799a621bf5fcb1cff416b5a2a3713e8d334468d0d37dc94db");
    expect(hash({ image: "db:1", volume_claims: [{ name: "data", mount_path: "/d" }] }, "statefulset")).toBe(
      "1ab6e4df313c01df7660f6290621b4c8f184ab66ad0591af7c640df89fd6e5b5",
    );
  });

  test.each<[string, Spec]>([
    ["restart", { restart: "unless-stopped" }],
    ["logs", { logs: { max_size: "10m", max_files: 3 } }],
    ["stop_grace", { stop_grace: "10s" }],
    ["network_mode", { network_mode: "bridge" }],
    ["an empty network_mode", { network_mode: "" }],
    ["empty lists and maps", { command: [], ports: [], env: {}, volumes: [], inits: [], probes: {}, resources: {} }],
  ])("a written default changes nothing: %s", (_, fields) => {
    expect(hash({ ...base, ...fields })).toBe(hash(base));
  });

  test("the defaults of probes and inits", () => {
    const probe = { http_get: { path: "/", port: 80 } };
    const full = {
      http_get: { ...probe.http_get, scheme: "http", http_headers: {} },
      initial_delay: "0s",
      period: "10s",
      timeout: "1s",
      failure_threshold: 3,
      success_threshold: 1,
    };
    expect(hash({ ...base, probes: { liveness: full } })).toBe(hash({ ...base, probes: { liveness: probe } }));
    const init = { name: "a", command: ["x"] };
    const fullInit = { ...init, timeout: "10m", retries: 0, ulimits: {}, resources: {} };
    expect(hash({ ...base, inits: [fullInit] })).toBe(hash({ ...base, inits: [init] }));
    expect(hash({ ...base, inits: [{ ...init, docker_options: [] }] })).not.toBe(hash({ ...base, inits: [init] }));
  });

  test.each<[string, Spec, Spec]>([
    ["quantities", { resources: { limits: { cpu: "0.5" } } }, { resources: { limits: { cpu: "500m" } } }],
    ["durations", { stop_grace: "90s" }, { stop_grace: "1m30s" }],
    ["order of networks", { networks: ["a", "b"] }, { networks: ["b", "a"] }],
    ["network and networks", { network: "a" }, { networks: ["a"] }],
    ["order of capabilities", { cap_add: ["A", "B"] }, { cap_add: ["B", "A"] }],
    ["order of hosts", { extra_hosts: ["a:1.1.1.1", "b:1.1.1.1"] }, { extra_hosts: ["b:1.1.1.1", "a:1.1.1.1"] }],
    ["order of variables", { env: { A: "1", B: "2" } }, { env: { B: "2", A: "1" } }],
  ])("the same in another spelling: %s", (_, a, b) => {
    expect(hash({ ...base, ...a })).toBe(hash({ ...base, ...b }));
  });

  test.each<[string, Spec]>([
    ["image", { image: "web:2" }],
    ["command", { command: ["x"] }],
    ["ports", { ports: ["80"] }],
    ["volumes", { volumes: ["data:/data"] }],
    ["env", { env: { A: "1" } }],
    ["env_from", { env_from: ["a"] }],
    ["networks", { networks: ["a"] }],
    ["network_mode", { network_mode: "host" }],
    ["restart", { restart: "no" }],
    ["extra_hosts", { extra_hosts: ["a:1.1.1.1"] }],
    ["cap_add", { cap_add: ["A"] }],
    ["build_args", { build_args: { A: "1" } }],
    ["ulimits", { ulimits: { nofile: "1:1" } }],
    ["docker_options", { docker_options: ["--init"] }],
    ["entrypoint", { entrypoint: ["tini", "--"] }],
    ["resources", { resources: { limits: { memory: "1Gi" } } }],
    ["logs", { logs: { max_files: 4 } }],
    ["probes", { probes: { liveness: { tcp_socket: { port: 1 } } } }],
    ["inits", { inits: [{ name: "a", command: ["x"] }] }],
    ["stop_grace", { stop_grace: "11s" }],
    ["stop_signal", { stop_signal: "SIGINT" }],
    ["assets", { _asset_digests: { "a.b": "x" } }],
  ])("changes with %s, for both kinds", (_, fields) => {
    expect(hash({ ...base, ...fields })).not.toBe(hash(base));
    expect(hash({ ...base, ...fields }, "statefulset")).not.toBe(hash(base, "statefulset"));
  });

  test.each<[string, Spec]>([
    ["replicas", { replicas: 5 }],
    ["autoscale", { autoscale: { min: 1, max: 2, cpu_target: 50 } }],
    ["rollout", { rollout: { max_surge: 2 } }],
    ["pull", { pull: "always" }],
    ["hooks", { on_deploy: { success: [] }, on_probe: { failure: [] } }],
    ["health_check", { health_check: "/up" }],
    ["release", { release: { command: ["x"] } }],
    ["build and its bookkeeping", { build: {}, post_deploy: ["x"], keep_releases: 2 }],
    ["depends_on", { depends_on: { assets: ["a.b"] } }],
    ["env_file", { env_file: [".env"] }],
  ])("does not change with %s", (_, fields) => {
    expect(hash({ ...base, ...fields })).toBe(hash(base));
  });

  test("order counts where it means something", () => {
    for (const field of ["command", "ports", "volumes", "env_from", "docker_options"]) {
      expect(hash({ [field]: ["a", "b"] })).not.toBe(hash({ [field]: ["b", "a"] }));
    }
  });

  test("claims: name and path count, size and order do not", () => {
    const claim = (name: string, size?: string) => ({ name, mount_path: `/${name}`, ...(size && { size }) });
    const of = (...volume_claims: object[]) => hash({ ...base, volume_claims }, "statefulset");
    expect(of(claim("a"), claim("b"))).toBe(of(claim("b", "1Gi"), claim("a")));
    expect(of(claim("a"))).not.toBe(of(claim("b")));
    expect(of({ name: "a", mount_path: "/x" })).not.toBe(of(claim("a")));
  });

  test("jobs by their container, cronjobs by their job, other kinds by everything", () => {
    expect(hash({ image: "a", timeout: "1m" }, "job")).toBe(hash({ image: "a" }, "job"));
    expect(hash({ schedule: "@daily", job: { image: "a" } }, "cronjob")).toBe(hash({ image: "a" }, "job"));
    expect(hash({ host: "a" }, "ingress")).not.toBe(hash({ host: "b" }, "ingress"));
  });
});

test("the hash of a frozen spec is remembered, per kind; that of another is taken anew", () => {
  const spec: Record<string, unknown> = {
    image: "web:1",
    replicas: 1,
    volume_claims: [{ name: "d", mount_path: "/d" }],
  };
  const before = hash(spec);
  spec.image = "web:2";
  expect(hash(spec)).not.toBe(before);
  const frozen = Object.freeze({ ...spec });
  expect(hash(frozen)).toBe(hash(spec));
  expect(hash(frozen)).toBe(hash(spec));
  expect(hash(frozen, "statefulset")).toBe(hash(spec, "statefulset"));
  expect(hash(frozen, "statefulset")).not.toBe(hash(frozen));
});
