import { describe, expect, test } from "bun:test";
import { duplicateReservations } from "../../../../src/orchestration/core/reservations.ts";
import { ingressReservations } from "../../../../src/orchestration/core/ingress-reservations.ts";

const ingress = (ref: string, spec: Record<string, unknown>) => {
  const [scope = "", name = ""] = ref.split("/");
  return { kind: "ingress" as const, scope, name, spec };
};
const route = (ref: string, host: string, path?: string) =>
  ingress(ref, { host, ...(path === undefined ? {} : { locations: [{ path }] }) });
const reserved = (spec: Record<string, unknown>) =>
  ingressReservations(ingress("shop/web", spec)).map(({ name }) => name);
const clash = (a: ReturnType<typeof ingress>, b: ReturnType<typeof ingress>) =>
  duplicateReservations([a, b]).map(({ name }) => name);

describe("what an ingress occupies", () => {
  test("every host with every path, in one spelling", () => {
    const spec = { host: "A.test", hosts: ["b.test"], locations: [{ path: "/v1/" }, { path: "/v2" }] };
    expect(reserved(spec)).toEqual([
      "host:a.test/v1",
      "host:a.test/v2",
      "host:b.test/v1",
      "host:b.test/v2",
      "domain:a.test",
      "domain:b.test",
      "share:a.test",
      "share:b.test",
    ]);
    expect(reserved({ host: "a.test" })).toEqual(["host:a.test/", "domain:a.test", "share:a.test"]);
  });
  test("the name by which a plugin knows it", () => {
    const spec = (host: string, plugin?: string) => ({ host, ...(plugin === undefined ? {} : { plugin }) });
    expect(reserved(spec("a.test", "caddy"))).toContain("route:caddy/shop-web");
    const other = ingress("a-b/c", spec("a.test", "caddy"));
    expect(clash(other, ingress("a/b-c", spec("b.test", "caddy")))).toEqual(["route:caddy/a-b-c"]);
    expect(clash(other, ingress("a/b-c", spec("b.test", "nginx")))).toEqual([]);
    expect(clash(other, ingress("a/b-c", spec("b.test")))).toEqual([]);
  });
  test("redirected hosts, and the certificates of all hosts", () => {
    const spec = { host: "a.test", redirects: [{ from: "WWW.a.test" }], tls: {} };
    expect(reserved(spec)).toEqual([
      "host:a.test/",
      "domain:a.test",
      "domain:www.a.test",
      "share:a.test",
      "tls:a.test",
      "tls:www.a.test",
    ]);
  });
  test("a TCP port, and no route", () => {
    expect(reserved({ tcp: { port: 5432 } })).toEqual(["tcp:5432"]);
    expect(reserved({ tcp: { port: 5432 }, host: "db.test", tls: {} })).toEqual([
      "tcp:5432",
      "tcp:5432/db.test",
      "tls:db.test",
    ]);
  });
  test("nothing that cannot be read", () => {
    expect(reserved({ tcp: { port: "x" } })).toEqual([]);
    expect(reserved({ host: 3, redirects: [3, { from: {} }], tls: 3 })).toEqual([]);
  });
});

describe("two ingresses", () => {
  test("cannot have one host and path, in any spelling; other paths are free", () => {
    expect(clash(route("a/x", "h.test"), route("a/y", "H.test", "/"))).toEqual(["host:h.test/"]);
    expect(clash(route("a/x", "h.test", "/api"), route("a/y", "h.test", "/api/"))).toEqual(["host:h.test/api"]);
    expect(clash(route("a/x", "h.test", "/api"), route("a/y", "h.test", "/web"))).toEqual([]);
    expect(clash(route("a/x", "h.test"), route("a/y", "h.test", "/api"))).toEqual([]);
    expect(clash(route("a/x", "*.h.test"), route("b/x", "a.h.test"))).toEqual([]);
  });
  test("cannot redirect one host, nor one redirect what the other serves", () => {
    const www = (ref: string) =>
      ingress(ref, { host: `${ref.replace("/", "-")}.test`, redirects: [{ from: "www.test" }] });
    expect(clash(www("a/x"), www("a/y"))).toEqual(["domain:www.test"]);
    expect(clash(www("a/x"), route("a/y", "www.test", "/api"))).toEqual(["domain:www.test"]);
    expect(clash(route("a/y", "www.test", "/api"), www("a/x"))).toEqual(["domain:www.test"]);
    expect(clash(www("a/x"), route("a/y", "other.test"))).toEqual([]);
  });
  test("of two scopes share a host only when both say so", () => {
    const shared = (ref: string, path: string, isShared?: boolean) =>
      ingress(ref, {
        host: "h.test",
        locations: [{ path }],
        ...(isShared === undefined ? {} : { shared: isShared }),
      });
    const pair = (a?: boolean, b?: boolean) => clash(shared("a/x", "/a", a), shared("b/x", "/b", b));
    expect([pair(true, true), pair(true), pair(false, true), pair()]).toEqual([
      [],
      ["share:h.test"],
      ["share:h.test"],
      ["share:h.test"],
    ]);
    expect(clash(shared("a/x", "/a", true), shared("b/x", "/a", true))).toEqual(["host:h.test/a"]);
  });
  test("cannot have one TCP port", () => {
    const port = (ref: string, number: number) => ingress(ref, { tcp: { port: number } });
    expect(clash(port("a/x", 5432), port("b/x", 5432))).toEqual(["tcp:5432"]);
    expect(clash(port("a/x", 5432), port("b/x", 5433))).toEqual([]);
  });
  test("share a TCP port with TLS, on one address and by names that differ", () => {
    const named = (ref: string, host: string, more: Record<string, unknown> = {}) =>
      ingress(ref, { host, tls: {}, tcp: { port: 5432, ...more } });
    expect(clash(named("a/x", "a.test"), named("b/x", "b.test"))).toEqual([]);
    expect(clash(named("a/x", "a.test"), named("b/x", "A.test"))).toEqual(["tcp:5432/a.test"]);
    expect(clash(named("a/x", "a.test"), named("b/x", "b.test", { address: "10.0.0.1" }))).toEqual(["tcp:5432"]);
    expect(clash(named("a/x", "a.test"), ingress("b/x", { tcp: { port: 5432 } }))).toEqual(["tcp:5432"]);
  });
  test("share a host only with the same settings for its certificate", () => {
    const secure = (ref: string, path: string, tls: unknown) =>
      ingress(ref, { host: "h.test", locations: [{ path }], ...(tls === undefined ? {} : { tls }) });
    const pair = (a: unknown, b: unknown) => clash(secure("a/x", "/a", a), secure("a/y", "/b", b));
    expect(pair({}, { provider: "internal" })).toEqual(["tls:h.test"]);
    expect(pair({ dns: "cloud" }, {})).toEqual(["tls:h.test"]);
    expect(pair({}, { provider: "letsencrypt", enabled: true, on_demand: false })).toEqual([]);
    expect(pair({ email: "a@a.test" }, { email: "b@b.test" })).toEqual([]);
    expect(pair({ provider: "internal" }, { enabled: false })).toEqual([]);
    expect(pair({ provider: "internal" }, undefined)).toEqual([]);
  });
});
