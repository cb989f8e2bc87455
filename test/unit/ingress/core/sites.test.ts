import { describe, expect, test } from "bun:test";
import { sitesOf } from "../../../../src/ingress/core/sites.ts";
import { endpoint, ingress, sitesInput } from "../../../support/ingress-input.ts";

const web = { endpoints: [endpoint()], serviceKinds: () => ["deployment" as const] };
/** All lead to the replica of shop/web. */
const of = (...specs: [name: string, spec: Record<string, unknown>][]) =>
  sitesOf(sitesInput({ ...web, ingresses: specs.map(([name, spec]) => ingress(name, { service: "web", ...spec })) }));
const problems = (...specs: Parameters<typeof of>) =>
  of(...specs).problems.map(({ id, reason, message }) => `${id} ${reason} ${message}`);

test("sites are in the order of their ids, each with its hosts, paths and upstreams", () => {
  const { sites, tcp } = of(
    ["web", { host: "b.test", locations: [{ path: "/b", strip: true }] }],
    ["api", { hosts: ["A.test"] }],
  );
  expect(sites).toMatchObject([
    { id: "shop/api", hosts: ["a.test"], paths: [{ prefix: "/", strip: false }], upstreams: [{ id: "c1" }] },
    { id: "shop/web", hosts: ["b.test"], paths: [{ prefix: "/b", strip: true }], upstreams: [{ id: "c1" }] },
  ]);
  expect(tcp).toEqual([]);
});

test("an ingress whose service is missing is a site without upstreams, with a problem", () => {
  expect(sitesOf(sitesInput({ ingresses: [ingress("blog", { host: "a.test" })] }))).toMatchObject({
    sites: [{ id: "shop/blog", upstreams: [] }],
    problems: [{ id: "shop/blog", reason: "ServiceMissing" }],
  });
});

describe("TCP", () => {
  test("an ingress with a port of its own, with TLS by the first host", () => {
    const spec = {
      tcp: { port: 5432, address: "::1" },
      host: "db.test",
      tls: {},
      allow: ["10.0.0.0/8"],
      deny: ["10.1.0.0/16"],
      lb: { policy: "least_conn" },
      limits: { tunnel: "1h", connections: 20 },
      proxy_protocol: true,
    };
    const { sites, tcp } = of(["web", spec]);
    expect(sites).toEqual([]);
    expect(tcp).toEqual([
      {
        id: "shop/web",
        listen: "[::1]:5432",
        upstreams: [{ id: "c1", replica: "abc", address: "10.1.0.2", port: 8080, weight: 100, isLeaving: false }],
        balance: "least_conn",
        sendProxyProtocol: true,
        tlsName: "db.test",
        idleMs: 3_600_000,
        allow: ["10.0.0.0/8"],
        deny: ["10.1.0.0/16"],
        connectionsPerReplica: 20,
      },
    ]);
  });
  test("the default is all addresses, without TLS", () => {
    expect(of(["web", { tcp: { port: 5432 } }]).tcp).toMatchObject([
      { listen: ":5432", tlsName: undefined, idleMs: 86_400_000, connectionsPerReplica: undefined },
    ]);
    expect(of(["web", { tcp: { port: 5432, address: "10.0.0.1" } }]).tcp[0]?.listen).toBe("10.0.0.1:5432");
  });
  test("a port of the server or of another ingress stays theirs", () => {
    const specs: Parameters<typeof of> = [
      ["a", { tcp: { port: 443 } }],
      ["b", { tcp: { port: 5432 } }],
      ["c", { tcp: { port: 5432 } }],
    ];
    expect(of(...specs).tcp.map(({ id }) => id)).toEqual(["shop/b"]);
    expect(problems(...specs)).toEqual([
      "shop/a PortTaken tcp.port: 443 belongs to the ingress itself; use another port",
      "shop/c PortTaken tcp.port: 5432 belongs to shop/b; use another port",
    ]);
  });
});

test("with TLS, ingresses share a port on one address by the names of their certificates", () => {
  const named = (host: string, tcp: Record<string, unknown> = {}) => ({ host, tls: {}, tcp: { port: 5432, ...tcp } });
  const specs: Parameters<typeof of> = [
    ["a", named("a.test")],
    ["b", named("b.test")],
    ["c", named("a.test")],
    ["d", named("d.test", { address: "10.0.0.1" })],
    ["e", { tcp: { port: 5432 } }],
  ];
  expect(of(...specs).tcp.map(({ id, tlsName }) => [id, tlsName])).toEqual([
    ["shop/a", "a.test"],
    ["shop/b", "b.test"],
  ]);
  expect(problems(...specs).map((text) => text.split(";")[0])).toEqual([
    "shop/c PortTaken tcp.port: 5432 belongs to shop/a",
    "shop/d PortTaken tcp.port: 5432 belongs to shop/a",
    "shop/e PortTaken tcp.port: 5432 belongs to shop/a",
  ]);
});

describe("what another version has stored", () => {
  test("nobody comes in where a rule for access cannot be read", () => {
    const odd = { allow: [{ country: "de" }] };
    expect(of(["web", { host: "a.test", ...odd }]).sites[0]?.options.isInMaintenance).toBe(true);
    expect(of(["web", { tcp: { port: 5432 }, ...odd }]).tcp).toEqual([]);
    expect(problems(["web", { host: "a.test", ...odd }])[0]).toStartWith(
      "shop/web AccessUnreadable allow: written for another version",
    );
  });
  test("of two ingresses with one host and path the first one serves, and the other keeps its other hosts", () => {
    const { sites } = of(
      ["a", { host: "x.test" }],
      ["b", { hosts: ["x.test", "y.test"] }],
      ["c", { host: "x.test", locations: [{ path: "/c" }] }],
    );
    expect(sites.map(({ id, hosts }) => `${id} ${hosts}`)).toEqual(["shop/a x.test", "shop/b y.test", "shop/c x.test"]);
  });
  test("a host is served or redirected, whichever comes first", () => {
    const redirecting = { host: "a.test", redirects: [{ from: "x.test" }] };
    const serving = { host: "x.test", locations: [{ path: "/api" }] };
    expect(problems(["a", redirecting], ["b", serving])).toEqual([
      "shop/b HostTaken host: x.test is already served by the ingress shop/a; use another host or path",
    ]);
    const { sites } = of(["a", serving], ["b", redirecting]);
    expect(sites.map(({ options }) => options.redirects)).toEqual([[], []]);
  });
  test("an ingress without a usable host serves nothing", () => {
    expect(of(["web", { host: "a b" }])).toMatchObject({ sites: [], problems: [{ reason: "HostMissing" }] });
    const tcp = { tcp: { port: 1 }, tls: {} };
    expect(of(["web", tcp])).toMatchObject({ tcp: [], problems: [{ reason: "HostMissing" }] });
  });
});

describe("an app that requests wake", () => {
  const served = (rest: "asleep" | "waking" | undefined, spec: Record<string, unknown> = { host: "a.test" }) => {
    const ingresses = [ingress("web", spec)];
    const kinds = { serviceKinds: () => ["deployment" as const], restOf: () => rest, wakeHoldMs: 60_000 };
    const { sites, tcp, problems: found } = sitesOf(sitesInput({ ...kinds, ingresses }));
    return { hold: sites[0]?.options.hold ?? tcp[0]?.hold, problems: found.map(({ reason }) => reason) };
  };
  const hold = { forMs: 10_000, requestsMax: 500 };

  test("is no problem while it is asleep, and the proxy tells of requests", () => {
    expect(served("asleep")).toEqual({ hold: { ...hold, isAsleep: true }, problems: [] });
  });

  test("holds requests for longer while it is started", () => {
    expect(served("waking")).toEqual({ hold: { ...hold, forMs: 60_000 }, problems: [] });
    expect(served("waking", { host: "a.test", hold: { for: "2m" } }).hold?.forMs).toBe(120_000);
  });

  test("holds none where its ingress holds none", () => {
    expect(served("waking", { host: "a.test", hold: { for: "0" } }).hold?.forMs).toBe(0);
  });

  test("holds connections to a port of its own for as long, and those of no other app", () => {
    const raw = { tcp: { port: 5432 } };
    expect(served("asleep", raw)).toEqual({ hold: { ...hold, isAsleep: true }, problems: [] });
    expect(served("waking", raw).hold).toEqual({ ...hold, forMs: 60_000 });
    expect(served(undefined, raw)).toEqual({ hold: undefined, problems: ["NoReplica"] });
  });

  test("is like every other when it did not come up", () => {
    expect(served(undefined)).toEqual({ hold, problems: ["NoReplica"] });
  });
});

test("a site is the very same object until something in it is another", () => {
  const ingresses = [ingress("web", { service: "web", host: "a.test" })];
  const sites = (id: string) => sitesOf(sitesInput({ ...web, endpoints: [endpoint({ id })], ingresses })).sites;
  const [first] = sites("c1");
  expect(sites("c1")[0]).toBe(first as NonNullable<typeof first>);
  const [second] = sites("c2");
  expect(second?.upstreams.map(({ id }) => id)).toEqual(["c2"]);
  expect(first?.upstreams.map(({ id }) => id)).toEqual(["c1"]);
});
