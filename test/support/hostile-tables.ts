import fc from "fast-check";
import type { Site, SiteOptions, Table } from "../../src/ingress/core/table.ts";
import { plainOptions, table, tcpSite } from "./ingress-table.ts";

const tricks = [
  "\n",
  "\r\n",
  "\0",
  "'",
  '"',
  "\\",
  "%[src]",
  "%",
  "#",
  ";",
  " ",
  "  ",
  "$HOME",
  "<<",
  "|",
  "{ always_true }",
  "é",
  "\u2028",
  "]",
  ")",
  ",",
  "\t",
];
const lines = [
  "\n  bind :1\n",
  "' if TRUE\n",
  "\nbackend evil\n",
  "; shutdown frontend web",
  "\n\nshow env",
  "%[env(HOME)]",
  "'; use_backend x",
];

/** Texts that try to leave their place, and harmless ones. */
export const hostileText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: "binary", maxLength: 20 }),
  fc
    .array(fc.oneof(fc.constantFrom(...tricks), fc.string({ maxLength: 3 })), { maxLength: 6 })
    .map((parts) => parts.join("")),
  fc.tuple(fc.string({ maxLength: 5 }), fc.constantFrom(...lines)).map((parts) => parts.join("")),
  fc.constantFrom("x".repeat(5_000), "x y ".repeat(600)),
);

/** One text of a field: mostly as it should be, so that the rest of a site gets a chance. */
const text = (good: string) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(good) }, { weight: 1, arbitrary: hostileText });
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const few = <T>(arbitrary: fc.Arbitrary<T>) => fc.array(arbitrary, { maxLength: 2 });

const value = fc.oneof(fc.constant("a b"), hostileText);
const headers = fc.record({ set: few(fc.record({ name: text("X-A"), value })), remove: few(text("X-B")) });

const options: fc.Arbitrary<SiteOptions> = fc.record({
  balance: fc.constantFrom<SiteOptions["balance"][]>("round_robin", "least_conn", "random", "ip_hash"),
  stickyCookie: maybe(text("at")),
  protocol: fc.constantFrom<SiteOptions["protocol"][]>("http", "h2c", "https"),
  sendProxyProtocol: fc.boolean(),
  tls: maybe(fc.record({ redirect: fc.boolean(), hsts: fc.constant(undefined) })),
  redirects: few(
    fc.record({ from: text("www.a.test"), to: text("a.test"), status: fc.constantFrom<(301 | 308)[]>(301, 308) }),
  ),
  requestHeaders: headers,
  responseHeaders: headers,
  compress: fc.boolean(),
  basicAuth: few(fc.record({ user: value, hash: fc.oneof(fc.constant("$6$salt$abc"), hostileText) })),
  allow: few(text("10.0.0.0/8")),
  deny: few(text("::1/128")),
  rateLimit: maybe(fc.record({ requests: fc.nat(), periodMs: fc.nat(86_400_000) })),
  isInMaintenance: fc.boolean(),
  limits: fc.record({
    bodyBytes: maybe(fc.maxSafeNat()),
    headBytes: maybe(fc.nat()),
    clientMs: maybe(fc.nat(86_400_000)),
    responseMs: fc.nat(),
    tunnelMs: fc.nat(),
    connectionsPerReplica: maybe(fc.integer({ min: 1, max: 1_000 })),
  }),
  hold: fc.record({ forMs: fc.nat(), requestsMax: fc.nat(1_000) }),
  accessLog: fc.constant("off" as const),
  errorPages: fc.record({ 404: hostileText, 503: hostileText }, { requiredKeys: [] }),
});

const site: fc.Arbitrary<Omit<Site, "id">> = fc.record({
  hosts: fc.array(text("a.test"), { minLength: 1, maxLength: 2 }),
  paths: fc.array(fc.record({ prefix: text("/api"), strip: fc.boolean() }), { minLength: 1, maxLength: 2 }),
  upstreams: few(
    fc.record({
      id: fc.string({ minLength: 1, maxLength: 5 }),
      replica: hostileText,
      address: text("10.0.0.7"),
      port: fc.integer({ min: 1, max: 65_535 }),
      weight: fc.integer({ min: 0, max: 256 }),
      isLeaving: fc.boolean(),
    }),
  ),
  options: fc.oneof(options, fc.constant(plainOptions)),
});

const tcp = fc.record(
  { listen: hostileText, tlsName: text("a.test"), allow: few(text("10.0.0.0/8")), deny: few(text("::1/128")) },
  { requiredKeys: [] },
);

const certificate = fc.record({ id: text("c1"), names: few(text("a.test")), pem: text("CERT") });

/** Tables whose every text field may hold anything. Ids of sites are unique, as the type says. */
export const hostileTable: fc.Arbitrary<Table> = fc
  .record({
    sites: fc.array(fc.tuple(hostileText, site), { maxLength: 4 }),
    tcp: few(fc.tuple(hostileText, tcp)),
    certificates: fc.uniqueArray(certificate, { maxLength: 2, selector: ({ id }) => id }),
    hasTls: fc.boolean(),
  })
  .map(({ sites, tcp, certificates, hasTls }) =>
    table(
      sites.map(([name, each], index) => ({ id: `${index}/${name}`, ...each })),
      {
        http: ":80",
        ...(hasTls ? { https: ":443" } : {}),
        tcp: tcp.map(([name, each], index) => ({
          ...tcpSite(`tcp${index}/${name}`, `:${5_000 + (index % 2)}`),
          ...each,
        })),
        certificates,
      },
    ),
  );
