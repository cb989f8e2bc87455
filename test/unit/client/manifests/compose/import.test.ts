// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { importCompose } from "../../../../../src/client/manifests/compose/import.ts";
import { shellWords, sizeText } from "../../../../../src/client/manifests/compose/text.ts";
import { keptReference } from "../../../../../src/client/manifests/kept.ts";
import type { Fault } from "../../../../../src/client/manifests/source.ts";

const lookAt = (path: string) => (path.endsWith(".conf") ? "file" : path.endsWith("/") ? "folder" : "absent");

function read(text: string) {
  const faults: Fault[] = [];
  const source = { name: "compose.yaml", text };
  const { manifests, losses } = importCompose(source, { scope: undefined, folder: "My Shop", lookAt }, faults);
  return { manifests, losses: losses.map(({ path, message }) => `${path}: ${message}`), faults };
}

/** The spec of one service, and what of it is lost. */
function service(fields: string, top = "") {
  const indented = fields.replaceAll(/^/gm, "    ");
  const { manifests, losses, faults } = read(`services:\n  web:\n    restart: always\n${indented}\n${top}`);
  expect(faults).toEqual([]);
  const { restart: _, ...spec } = (manifests.at(-1)?.spec ?? {}) as Record<string, unknown>;
  return { spec, losses };
}

const a = keptReference("A");

describe("importCompose", () => {
  test.each<[string, object]>([
    ["image: nginx:1", { image: "nginx:1" }],
    ["build: ./x", { build: { context: "./x" } }],
    [
      "build: {dockerfile: D, target: t, args: [A=1, B]}",
      { build: { context: ".", dockerfile: "D", target: "t", args: { A: "1", B: keptReference("B") } } },
    ],
    [`command: sh -c "a 'b'" 'c d' e\\ f`, { command: ["sh", "-c", "a 'b'", "c d", "e f"] }],
    ["entrypoint: [a, b]\ncommand: [c]", { entrypoint: ["a", "b"], command: ["c"] }],
    ["environment: [A=1, B=x=y, C]", { env: { A: "1", B: "x=y", C: keptReference("C") } }],
    ["environment: {A: 1, B: true, C: 0.10, D: }", { env: { A: "1", B: "true", C: "0.10", D: keptReference("D") } }],
    ["env_file: .env", { env_file: [".env"] }],
    ["env_file: [a.env, {path: b.env}]", { env_file: ["a.env", "b.env"] }],
    [
      "ports: ['8080:80', '127.0.0.1:1:2/udp', '[::1]:5:6', '7-8:7-8']",
      { ports: ["0.0.0.0:8080:80", "127.0.0.1:1:2/udp", "[::1]:5:6", "0.0.0.0:7:7", "0.0.0.0:8:8"] },
    ],
    ["ports: [{target: 80, published: '8080', protocol: tcp}]", { ports: ["0.0.0.0:8080:80"] }],
    ["ports: ['${A}:80']", { ports: [`0.0.0.0:${a}:80`] }],
    [
      "volumes: ['data:/data', '/srv:/x:ro', {type: volume, source: y, target: /y, read_only: true}]",
      { volumes: ["data:/data", "/srv:/x:ro", "y:/y:ro"] },
    ],
    ["volumes: [{type: tmpfs, target: /t}]\ntmpfs: /u", { docker_options: ["--tmpfs=/t", "--tmpfs=/u"] }],
    [
      "healthcheck: {test: [CMD, a, b], retries: 5}",
      { probes: { readiness: { exec: { command: ["a", "b"] }, period: "30s", timeout: "30s", failure_threshold: 5 } } },
    ],
    [
      "healthcheck: {test: a || b, interval: 5s, timeout: 1s}",
      {
        probes: {
          readiness: { exec: { command: ["sh", "-c", "a || b"] }, period: "5s", timeout: "1s", failure_threshold: 3 },
        },
      },
    ],
    ["healthcheck: {disable: true}", {}],
    ["healthcheck: {test: [NONE]}", {}],
    [
      "deploy: {replicas: 3, resources: {limits: {cpus: 0.50, memory: 512M, pids: 9}}}",
      { replicas: 3, resources: { limits: { cpu: "0.50", memory: "512Mi" } }, docker_options: ["--pids-limit=9"] },
    ],
    ["cpus: 2\nmem_limit: 1g\nscale: 2", { replicas: 2, resources: { limits: { cpu: "2", memory: "1Gi" } } }],
    [
      "user: '1'\nworking_dir: /w\ninit: true\nread_only: false\nshm_size: 64M\nsysctls: {a.b: 1}",
      { docker_options: ["--user=1", "--workdir=/w", "--init", "--shm-size=64m", "--sysctl=a.b=1"] },
    ],
    ["extra_hosts: ['a:1.2.3.4', 'b=::1', 'c=[::2]']", { extra_hosts: ["a:1.2.3.4", "b:::1", "c:::2"] }],
    ["ulimits: {nproc: 5, nofile: {soft: 1, hard: 2}}", { ulimits: { nproc: "5", nofile: "1:2" } }],
    ["logging: {options: {max-size: 5m, max-file: '2'}}", { logs: { max_size: "5m", max_files: 2 } }],
    [
      "stop_grace_period: 1m30s\nstop_signal: SIGQUIT\npull_policy: always",
      { pull: "always", stop_grace: "1m30s", stop_signal: "SIGQUIT" },
    ],
    ["labels: {a: b}\nnetwork_mode: host", { docker_options: ["--label=a=b"], network_mode: "host" }],
    ["image: a:$A-${A}-$$A-${A:-b}-${A:?must}", { image: `a:${a}-${a}-$A-${keptReference("A:-b")}-${a}` }],
    ["x-note: 1", {}],
  ])("%s carries over", (fields, spec) => {
    expect(service(fields)).toEqual({ spec: spec as Record<string, unknown>, losses: [] });
  });

  test.each<[string, string, object]>([
    [
      "depends_on: {db: {condition: service_healthy}}",
      "depends_on: there is no start order: db may be ready later",
      {},
    ],
    ["image: a\nbuild: .", "image: is left out beside build", { build: { context: "." } }],
    ["ports: ['80']", "ports[0]: gets a free port on 127.0.0.1", { ports: ["80"] }],
    ["ports: ['1-3:1-2']", "ports[0]: this range of ports cannot be written out", { ports: [] }],
    ["volumes: [/data]", "volumes[0]: an anonymous volume has no counterpart", {}],
    ["volumes: ['./conf/:/x']", 'volumes[0]: "./conf/" is a folder of this machine', {}],
    ["volumes: ['./gone:/x']", 'volumes[0]: "./gone" is a path of this machine that does not exist', {}],
    ["networks: [front]", "networks: front: not needed", {}],
    ["labels: {traefik.enable: true}", "labels: labels of a proxy (1) are not read", {}],
    ["profiles: [dev]", "profiles: there are no profiles", { replicas: 0 }],
    ["network_mode: 'service:db'", 'network_mode: "service:db" has no counterpart', {}],
    [
      "healthcheck: {test: [CMD, a], start_period: 5s}",
      "healthcheck.start_period: is not needed",
      { probes: expect.anything() },
    ],
    ["deploy: {resources: {reservations: {cpus: 1}}}", "deploy.resources.reservations: has no counterpart", {}],
    ["deploy: {mode: global}", 'deploy.mode: "global" has no counterpart', {}],
    [
      "environment: {A: 'http://web:80'}",
      'environment.A: "web" is reached as web.my-shop here',
      { env: { A: "http://web:80" } },
    ],
    ["extends: {service: a}", "extends: is not read", {}],
    ["constructor: 1", "constructor: has no counterpart", {}],
    ["blkio_config: {weight: 1}", "blkio_config: has no counterpart", {}],
    ["image: a${B:+c}", 'image: "${B:+c}" has no counterpart', { image: "a" }],
    ["image: ${B:-${C}}", 'image: the default of "${B:-${C}}" cannot be written here', { image: keptReference("B") }],
    [
      "image: ${B-c}",
      'image: "${B-c}": an empty variable counts as one that is not set',
      { image: keptReference("B:-c") },
    ],
  ])("%s is told", (fields, loss, spec) => {
    const outcome = service(fields);
    expect(outcome.losses).toHaveLength(1);
    expect(outcome.losses[0]).toStartWith(`services.web.${loss}`);
    expect(outcome.spec).toEqual(spec as Record<string, unknown>);
  });

  test("a file beside the Compose file becomes part of an asset, once", () => {
    const { manifests } = read(
      "services: {a: {volumes: ['./x/n.conf:/n:ro', './y/n.conf:/m:ro']}, b: {volumes: ['./x/n.conf:/n:ro']}}\n",
    );
    expect(manifests.map(({ kind, name }) => `${kind}/${name}`)).toEqual([
      "asset/files",
      "deployment/a",
      "deployment/b",
    ]);
    expect(manifests[0]?.spec).toEqual({ files: { n_conf: expect.any(String), n_conf_2: expect.any(String) } });
    const mount = `${keptReference("asset.my-shop.files.n_conf")}:/n:ro`;
    expect(manifests[2]?.spec).toEqual({ volumes: [mount] });
  });

  test("volumes and networks of others", () => {
    const top =
      "volumes: {data: {external: true}, v: {name: own}, w: {driver_opts: {}}}\nnetworks: {n: {external: true, name: shared}}\n";
    const { spec, losses } = service("volumes: ['data:/a', 'v:/b:ro', 'w:/c']\nnetworks: [n]", top);
    expect(spec).toEqual({ volumes: ["data:/a:external", "own:/b:ro,external", "w:/c"], networks: ["shared"] });
    expect(losses).toEqual([expect.stringMatching(/^volumes\.w\.driver_opts: has no counterpart/)]);
  });

  test("names, anchors, and a service without restart", () => {
    const { manifests, losses } = read(
      "name: my_app\nx-a: &a {image: x}\nservices:\n  Web_1:\n    <<: *a\n    restart: 'no'\n  b: {image: y}\n",
    );
    expect(manifests).toMatchObject([
      { scope: "my-app", name: "web_1", spec: { image: "x", restart: "no" } },
      { scope: "my-app", name: "b", spec: { image: "y" } },
    ]);
    expect(losses).toEqual([
      'services.Web_1: is called "web_1" here: names have lower-case letters, digits, ".", "_" and "-"',
      expect.stringMatching(/^services\.b: has no restart/),
    ]);
  });

  test.each([
    ["a: [", "expected"],
    ["just: text\n", "this is not a Compose file: it has no services"],
    ["", "this is not a Compose file: it has no services"],
    ["services: &s {web: {image: x, labels: *s}}", "an alias stands inside of what it stands for"],
  ])("%p is a fault", (text, message) => {
    const { manifests, faults } = read(text);
    expect(manifests).toEqual([]);
    expect(faults[0]?.message).toStartWith(message);
  });

  test("aliases that multiply are a fault", () => {
    const levels = Array.from(
      { length: 8 },
      (_, at) => `l${at + 1}: &l${at + 1} [${Array(9).fill(`*l${at}`).join(",")}]`,
    );
    const { faults } = read(`l0: &l0 [x]\n${levels.join("\n")}\nservices: {a: {}}\n`);
    expect(faults).toHaveLength(1);
  });

  test("words and sizes", () => {
    expect(shellWords(`a "b \\" c"'d' \\e "x`)).toEqual(["a", 'b " cd', "e", '"x']);
    expect(["1b", "2k", "3KB", "4m", "5MiB", "6g", 7].map(sizeText)).toEqual([
      "1",
      "2Ki",
      "3Ki",
      "4Mi",
      "5Mi",
      "6Gi",
      "7",
    ]);
    expect(sizeText("x")).toBeUndefined();
  });
});
