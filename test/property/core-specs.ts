import fc from "fast-check";
import type { WritableKind } from "../../src/orchestration/api/kinds/schemas.ts";
import type { Spec } from "../../src/orchestration/api/manifest.ts";

/** Specs that validation accepts, with every field that has a shape of its own present some of the time. */

const word = fc.stringMatching(/^[a-z]{1,6}$/);
const texts = fc.dictionary(fc.stringMatching(/^[A-Z_]{1,6}$/), fc.string({ unit: "grapheme-ascii" }), { maxKeys: 4 });
const duration = fc.constantFrom("1s", "500ms", "1h30m", "2d");
const hook = fc.record(
  { url: word.map((host) => `https://${host}.test/`), method: fc.constantFrom("POST", "PUT"), headers: texts },
  { requiredKeys: ["url"] },
);
const hooks = (...events: string[]) => optional(Object.fromEntries(events.map((event) => [event, list(hook)])));
const probe = optional({
  period: duration,
  failure_threshold: fc.integer({ min: 1, max: 9 }),
}).chain((timing) =>
  fc
    .constantFrom<object>(
      { tcp_socket: { port: 80 } },
      { http_get: { path: "/", port: 1 } },
      { exec: { command: ["x"] } },
    )
    .map((action) => ({ ...timing, ...action })),
);

function optional(model: Record<string, fc.Arbitrary<unknown>>): fc.Arbitrary<Spec> {
  return fc.record(model, { requiredKeys: [] });
}

function list<T>(item: fc.Arbitrary<T>): fc.Arbitrary<T[]> {
  return fc.array(item, { maxLength: 3 });
}

const container = {
  image: word.map((name) => `r.test/${name}:1`),
  command: list(fc.string({ unit: "grapheme-ascii" })),
  env: texts,
  env_from: list(fc.constantFrom("shop", "shop/web")),
  volumes: fc.constantFrom([], ["data:/data"], ["/srv:/x:ro", "logs:/logs"]),
  networks: list(word.map((name) => `net-${name}`)),
  cap_add: list(fc.constantFrom("NET_ADMIN", "SYS_NICE")),
  ulimits: fc.constantFrom({}, { nofile: "1:2" }),
  docker_options: fc.constantFrom([], ["--init"], ["--shm-size", "64m"]),
  resources: fc.constantFrom({}, { limits: { cpu: "500m" } }, { limits: { memory: "1Gi" } }),
  logs: fc.constantFrom({}, { max_files: 2 }),
  stop_grace: duration,
};

const pod = {
  ...container,
  replicas: fc.integer({ min: 0, max: 9 }),
  ports: list(fc.integer({ min: 1, max: 65535 }).map(String)),
  restart: fc.constantFrom("no", "always", "on-failure:2"),
  probes: optional({ startup: probe, liveness: probe, readiness: probe }),
  on_probe: hooks("failure", "recovery"),
  inits: fc.constantFrom([], [{ name: "a", command: ["x"] }]),
};

const deployment = {
  ...pod,
  rollout: optional({ strategy: fc.constantFrom("rolling", "recreate"), min_ready: duration }),
  release: fc.constant({ command: ["x"] }),
  on_deploy: hooks("success", "failure"),
};

const host = word.map((name) => `${name}.test`);
const claim = fc.record({ name: word, mount_path: word.map((name) => `/claims/${name}`) });
const claims = fc.uniqueArray(claim, { maxLength: 3, selector: ({ name }) => name, comparator: "IsStrictlyEqual" });
const distinctPaths = claims.filter((all) => new Set(all.map(({ mount_path }) => mount_path)).size === all.length);
const locations = fc.uniqueArray(word, { maxLength: 3 }).map((paths) => paths.map((path) => ({ path: `/${path}` })));

export const specs: Record<WritableKind, fc.Arbitrary<Spec>> = {
  deployment: optional(deployment),
  statefulset: optional({ ...pod, volume_claims: distinctPaths }).map((spec) => ({ image: "db:1", ...spec })),
  job: optional({ ...container, timeout: duration }),
  cronjob: optional(container).map((job) => ({ schedule: "@daily", job })),
  ingress: fc.record({ host, locations }, { requiredKeys: ["host"] }),
  asset: fc.record({ files: fc.dictionary(word, fc.string({ unit: "grapheme-ascii" }), { maxKeys: 3 }) }),
  registry: fc.record({ url: host, username: word, token: fc.string({ unit: "grapheme-ascii", minLength: 1 }) }),
  app: fc
    .tuple(optional(deployment), fc.option(fc.record({ host, locations }), { nil: {} }))
    .map(([running, routing]) => ({ ...running, ...routing })),
};

export const kindAndSpec: fc.Arbitrary<{ kind: WritableKind; spec: Spec }> = fc.oneof(
  ...Object.entries(specs).map(([kind, spec]) => spec.map((value) => ({ kind: kind as WritableKind, spec: value }))),
);
