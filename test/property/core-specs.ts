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

const header = fc.stringMatching(/^X-[A-Z][a-z]{1,6}$/);
const networks = list(fc.constantFrom("10.0.0.0/8", "192.0.2.7", "2001:db8::/32"));
const onlySecure = { hsts: optional({ max_age: fc.nat(), preload: fc.boolean() }), https_redirect: fc.boolean() };
const tls = fc.constantFrom<object>(
  {},
  { provider: "internal" },
  { provider: "file", certificate: "/etc/a.pem", key: "/etc/a.key" },
  { provider: "acme", directory: "https://ca.test/d", eab: { kid: "k", hmac_key: "aGk" } },
);
const connection = {
  allow: networks,
  deny: networks,
  proxy_protocol: fc.boolean(),
  lb: optional({ policy: fc.constantFrom("random", "least_conn", "ip_hash") }),
};
const http = {
  ...connection,
  access_log: fc.constantFrom("off", "sampled", "all"),
  locations,
  protocol: fc.constantFrom("http", "h2c", "https"),
  sticky: fc.constant({ cookie: "replica" }),
  redirects: fc
    .uniqueArray(
      word.map((name) => `www.${name}.test`),
      { maxLength: 3 },
    )
    .map((hosts) => hosts.map((from) => ({ from }))),
  headers: optional({
    request: optional({
      set: fc
        .uniqueArray(header, { maxLength: 3 })
        .map((names) => Object.fromEntries(names.map((name) => [name, "1"]))),
    }),
    response: optional({ remove: fc.uniqueArray(header, { maxLength: 3 }) }),
  }),
  compress: fc.boolean(),
  basic_auth: fc.dictionary(word, word, { minKeys: 1, maxKeys: 3 }),
  rate_limit: fc.record({ requests: fc.integer({ min: 1, max: 1_000 }), per: fc.constantFrom("1s", "1h") }),
  maintenance: fc.boolean(),
  limits: optional({
    body: fc.constantFrom("1Mi", "10G"),
    timeout: duration.filter((text) => text !== "2d"),
    tunnel: duration,
  }),
  hold: optional({ for: fc.constantFrom("0s", "30s"), requests: fc.nat(10_000) }),
  error_pages: fc.dictionary(fc.constantFrom("403", "404", "503"), fc.string({ unit: "grapheme-ascii", minLength: 1 })),
};
const served = fc.record({ host, ...http }, { requiredKeys: ["host"] });
/** Ingresses by host, plain and with TLS, and by TCP port. */
const routing: fc.Arbitrary<Spec> = fc.oneof(
  served,
  fc.tuple(served, tls, optional(onlySecure)).map(([spec, block, more]) => ({ ...spec, tls: block, ...more })),
  fc.record({ tcp: fc.record({ port: fc.integer({ min: 1, max: 65535 }) }), ...connection }, { requiredKeys: ["tcp"] }),
);
const target = optional({ service: word, ordinal: fc.nat(9), port: fc.integer({ min: 1, max: 65535 }) });

export const specs: Record<WritableKind, fc.Arbitrary<Spec>> = {
  deployment: optional(deployment),
  statefulset: optional({ ...pod, volume_claims: distinctPaths }).map((spec) => ({ image: "db:1", ...spec })),
  job: optional({ ...container, timeout: duration }),
  cronjob: optional(container).map((job) => ({ schedule: "@daily", job })),
  ingress: fc.tuple(routing, target).map(([spec, where]) => ({ ...spec, ...where })),
  asset: fc
    .tuple(
      fc.dictionary(word, fc.string({ unit: "grapheme-ascii" }), { maxKeys: 3 }),
      fc.array(fc.constantFrom("0755", "400", undefined), { minLength: 3, maxLength: 3 }),
    )
    .map(([files, list]) => {
      const modes = Object.keys(files).flatMap((key, at) => (list[at] === undefined ? [] : [[key, list[at]]]));
      return modes.length === 0 ? { files } : { files, modes: Object.fromEntries(modes) };
    }),
  registry: fc.record({ url: host, username: word, token: fc.string({ unit: "grapheme-ascii", minLength: 1 }) }),
  app: fc
    .tuple(optional(deployment), fc.option(routing, { nil: {} }))
    .map(([running, way]) => ({ ...running, ...way })),
};

export const kindAndSpec: fc.Arbitrary<{ kind: WritableKind; spec: Spec }> = fc.oneof(
  ...Object.entries(specs).map(([kind, spec]) => spec.map((value) => ({ kind: kind as WritableKind, spec: value }))),
);
