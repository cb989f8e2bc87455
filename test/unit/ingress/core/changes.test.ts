import { describe, expect, test } from "bun:test";
import type { Change, Running } from "../../../../src/ingress/core/change.ts";
import { changes } from "../../../../src/ingress/core/changes.ts";
import { socketText } from "../../../../src/ingress/core/commands.ts";
import type { Table } from "../../../../src/ingress/core/table.ts";
import { proxySetup } from "../../../support/haproxy.ts";
import { site, table, tcpSite, upstream } from "../../../support/ingress-table.ts";

const setup = proxySetup("/run/x", { spareBackends: 2 });
const a = upstream(3001);
const b = upstream(3002);
const listen = { http: ":80", https: ":443" };
const base = table([site("web", [a])], listen);

function started(first: Table): Running {
  return { table: first, assignment: changes(undefined, first, setup).assignment };
}
const lines = (change: Change) => change.commands.map((command) => socketText(command).trimEnd());
const step = (next: Table, running = started(base)) => changes(running, next, setup);

test("the first start writes every file and loads them", () => {
  const change = changes(undefined, base, setup);
  expect([change.reload, change.reloadReasons, change.commands]).toEqual([true, ["the proxy was not running"], []]);
  const names = change.files.map(({ path }) => path.replace("/run/x/", ""));
  expect(names).toContain("haproxy.cfg");
  expect(names).toContain("hold.lua");
  expect(names.filter((name) => name.startsWith("maps/")).length).toBe(8);
  expect(change.assignment).toMatchObject({ backends: { "shop/web": "p1" }, poolSize: 3, nextServer: 2 });
});

test("nothing changes when nothing has changed", () => {
  const { files, commands, reload, leaving, refused } = step(structuredClone(base));
  expect({ files, commands, reload, leaving, refused }).toEqual({
    files: [],
    commands: [],
    reload: false,
    leaving: [],
    refused: [],
  });
});

test("a server of another version loads its own texts, whatever it finds on disk", () => {
  const { assignment } = started(base);
  const loaded = { ...assignment.loaded, "/run/x/hold.lua": "another text" };
  const { files, reload } = step(base, { table: base, assignment: { ...assignment, loaded } });
  expect(reload).toBe(true);
  expect(files).toEqual(changes(undefined, base, setup).files);
});

test("a new replica enters before the old one leaves, under a new name", () => {
  const change = step(table([site("web", [b])], listen));
  expect(lines(change)).toEqual([
    "add server p1/s2 127.0.0.1:3002 weight 100",
    "set server p1/s2 state ready",
    "set server p1/s1 state maint",
  ]);
  expect(change.leaving).toEqual([{ backend: "p1", server: "s1" }]);
  expect(change.files.map(({ path }) => path)).toEqual(["/run/x/haproxy.cfg"]);
  expect(change.files[0]?.content).toContain("backend p1 from site\n  server s2 127.0.0.1:3002 weight 100\n");
});

test("a container that comes back at another address is another server", () => {
  const change = step(table([site("web", [{ ...a, address: "127.0.0.9" }])], listen));
  expect(lines(change)[0]).toBe("add server p1/s2 127.0.0.9:3001 weight 100");
  expect(change.leaving).toEqual([{ backend: "p1", server: "s1" }]);
});

test("a replica that leaves keeps its server until it is gone, and can come back", () => {
  const leaving = table([site("web", [{ ...a, isLeaving: true }])], listen);
  const change = step(leaving);
  expect([lines(change), change.leaving]).toEqual([
    ["set server p1/s1 state maint"],
    [{ backend: "p1", server: "s1" }],
  ]);
  expect(change.files[0]?.content).toContain("server s1 127.0.0.1:3001 weight 100 disabled\n");
  const back = changes({ table: leaving, assignment: change.assignment }, base, setup);
  // It may be deleted by then, and what is there already is not added twice.
  expect(lines(back)).toEqual(["add server p1/s1 127.0.0.1:3001 weight 100", "set server p1/s1 state ready"]);
});

test("a replica that is leaving when it is first seen is not added", () =>
  expect(step(table([site("web", [a, { ...b, isLeaving: true }])], listen)).commands).toEqual([]));

test("weights and limits change on the server", () => {
  const limits = { ...site("web", []).options.limits, connectionsPerReplica: 5 };
  const change = step(table([site("web", [{ ...a, weight: 10 }], { options: { limits } })], listen));
  expect(lines(change)).toEqual(["set server p1/s1 weight 10", "set maxconn server p1/s1 5"]);
});

test("another protocol is another server", () => {
  const change = step(table([site("web", [a], { options: { protocol: "h2c" } })], listen));
  expect([change.reload, lines(change)[0]]).toEqual([false, "add server p1/s2 127.0.0.1:3001 proto h2 weight 100"]);
});

test("a new site takes a spare backend; its route comes after its server", () => {
  const change = step(table([site("web", [a]), site("new", [b])], listen));
  expect([change.reload, lines(change)]).toEqual([
    false,
    [
      "add server p2/s2 127.0.0.1:3002 weight 100",
      "set server p2/s2 state ready",
      "add map /run/x/maps/hold.map p2 300\\ 100",
      "add map /run/x/maps/routes.map new.test/ p2",
    ],
  ]);
});

test("a site that goes loses its route before its servers, and its backend rests until a load", () => {
  const change = step(table([], listen));
  expect(lines(change)).toEqual([
    "del map /run/x/maps/hold.map p1",
    "del map /run/x/maps/routes.map web.test/",
    "set server p1/s1 state maint",
  ]);
  const again = changes({ table: table([], listen), assignment: change.assignment }, base, setup);
  expect(again.assignment.backends).toEqual({ "shop/web": "p2" });
});

test("a pool without a spare backend is a load, which makes new ones", () => {
  const four = ["w1", "w2", "w3", "w4"].map((name) => site(name, [a]));
  const change = step(table(four, listen));
  expect([change.reload, change.reloadReasons]).toEqual([true, ["no spare backend is left"]]);
  expect(change.assignment.poolSize).toBeGreaterThanOrEqual(6);
  expect(change.assignment.used).toEqual([]);
});

describe("what changes without a load", () => {
  const hsts = { maxAgeSeconds: 60, includeSubdomains: true, preload: true };
  const cases: [string, Parameters<typeof site>[2], string[]][] = [
    ["maintenance", { options: { isInMaintenance: true } }, ["set map /run/x/maps/routes.map web.test/ p1|m"]],
    [
      "TLS",
      { options: { tls: { redirect: true, hsts } } },
      [
        "add map /run/x/maps/hsts.map p1 max-age=60\\;\\ includeSubDomains\\;\\ preload",
        "set map /run/x/maps/routes.map web.test/ p1|rh",
      ],
    ],
    [
      "a path with strip",
      { paths: [{ prefix: "/api", strip: true }] },
      [
        "add map /run/x/maps/parted.map web.test 1",
        "add map /run/x/maps/routes.map web.test/api/ p1|s|/api",
        "del map /run/x/maps/routes.map web.test/",
      ],
    ],
    [
      "the time to hold",
      { options: { hold: { forMs: 5, requestsMax: 6 } } },
      ["set map /run/x/maps/hold.map p1 5\\ 6"],
    ],
    [
      "a redirect",
      { options: { redirects: [{ from: "www.web.test", to: "web.test", status: 301 }] } },
      ["add map /run/x/maps/routes.map www.web.test/ redirects|301|//web.test"],
    ],
  ];
  for (const [name, changed, expected] of cases)
    test(name, () => {
      const change = step(table([site("web", [a], changed)], listen));
      expect([change.reload, lines(change)]).toEqual([false, expected]);
    });
});

describe("what takes a load", () => {
  const cases: [string, Table, string[]][] = [
    ["other options", table([site("web", [a], { options: { compress: true } })], listen), ["shop/web: other options"]],
    [
      "a new site with options",
      table([...base.sites, site("zip", [a], { options: { compress: true } })], listen),
      ["shop/zip: new, with options of its own"],
    ],
    ["a listener more", { ...base, listen: { ...base.listen, http: [":80", ":81"] } }, ["changed: frontend web"]],
    ["no TLS any more", table(base.sites, { http: ":80" }), ["changed: frontend web", "closed: frontend web_tls"]],
    [
      "a port of its own",
      { ...base, tcp: [tcpSite("db", ":5432")] },
      ["changed: in_t1", "shop/db: new, with options of its own"],
    ],
  ];
  for (const [name, next, reasons] of cases)
    test(name, () => {
      const change = step(next);
      expect([change.reload, change.reloadReasons]).toEqual([true, reasons]);
    });

  test("another text of the product itself", () => {
    const { table: had, assignment } = started(base);
    const older = { ...assignment, loaded: { ...assignment.loaded, base: "older" } };
    expect(changes({ table: had, assignment: older }, base, setup).reloadReasons).toEqual(["changed: base"]);
  });

  test("every new replica, where the proxy cannot add servers", () => {
    const poor = { ...setup, capabilities: { ...setup.capabilities, addServer: false } };
    const change = changes(started(base), table([site("web", [b])], listen), poor);
    expect([change.reload, change.commands]).toEqual([true, []]);
  });
});

test("before a load, the process that goes gets the replicas and routes that it has a backend for", () => {
  const sites = [site("web", [b]), site("new", [a]), site("zip", [a], { options: { compress: true } })];
  const change = step(table(sites, listen));
  expect(change.reloadReasons).toEqual(["shop/zip: new, with options of its own"]);
  expect(lines(change)).toEqual([
    "add server p1/s2 127.0.0.1:3002 weight 100",
    "set server p1/s2 state ready",
    "add server p2/s3 127.0.0.1:3001 weight 100",
    "set server p2/s3 state ready",
    "add map /run/x/maps/routes.map new.test/ p2",
    "set server p1/s1 state maint",
  ]);
});

test("a site that cannot be written is left out and named; the others are served", () => {
  const bad = site("bad", [a], { hosts: ["bad.test\n  bind :1"] });
  const change = step(table([...base.sites, bad], listen));
  expect(change.refused).toEqual([
    { site: "shop/bad", problem: expect.stringMatching(/^host: .* cannot be written$/) },
  ]);
  expect(change.assignment.backends).toEqual({ "shop/web": "p1" });
});

test("a port with TLS waits for its certificate", () => {
  const change = step({ ...base, tcp: [tcpSite("db", ":5432", { tlsName: "db.test" })] });
  expect(change.refused[0]?.problem).toContain("waits for a certificate");
});

test("certificates come before what needs them and go after it", () => {
  const certificate = { id: "c", names: ["web.test", "*.web.test"], pem: "A\n\nB\n" };
  const added = step({ ...base, certificates: [certificate] });
  expect(lines(added)).toEqual([
    "new ssl cert /run/x/certs/c.pem",
    "set ssl cert /run/x/certs/c.pem <<\nA\nB",
    "commit ssl cert /run/x/certs/c.pem",
    "add ssl crt-list /run/x/crt.list <<\n/run/x/certs/c.pem web.test *.web.test",
  ]);
  expect(added.files.find(({ path }) => path.endsWith("c.pem"))?.mode).toBe(0o600);
  const removed = changes(
    { table: { ...base, certificates: [certificate] }, assignment: added.assignment },
    base,
    setup,
  );
  expect(lines(removed)).toEqual([
    "del ssl crt-list /run/x/crt.list /run/x/certs/c.pem",
    "del ssl cert /run/x/certs/c.pem",
  ]);
  expect(removed.obsoleteFiles).toEqual(["/run/x/certs/c.pem"]);
});
