import { expect, test } from "bun:test";
import type { IngressSite, IngressStatus } from "../../../../src/ingress/api/ingress.ts";
import { cli } from "../../../support/cli.ts";

const site: IngressSite = {
  ...{ ingress: "shop/web", hosts: ["shop.test"], paths: ["/"], target: "shop/web", tls: true, maintenance: false },
  upstreams: [
    { replica: "k3", container: "c1", address: "10.0.0.2:80", state: "ready", weight: 100, active: 2 },
    { replica: "x9", container: "c2", address: "10.0.0.3:80", state: "leaving", weight: 100, active: 1 },
  ],
  ...{ problems: [], requests: 1204, failed: 3, bytes_in: 1, bytes_out: 2, queued: 0 },
};
const lost: IngressSite = {
  ...site,
  ...{ ingress: "shop/x", hosts: ["x.test"], paths: ["/a", "/b"], target: "shop/gone", tls: false, upstreams: [] },
  ...{ problems: ["service: there is no\u001b[2J deployment"], requests: 0, failed: 0 },
};
const status: IngressStatus = {
  proxy: {
    ...{ state: "running", version: "2.6.12", pid: 10, uptime_seconds: 7200, connections: 1 },
    listen: { http: ["0.0.0.0:80", "[::]:80"], https: [] },
  },
  sites: [site, lost],
};
const server = () => status;

test("status shows whether the proxy serves, and where", async () => {
  const { out, code, calls } = await cli(["ingress", "status"], { server });
  expect(code).toBe(0);
  expect(calls).toMatchObject([{ method: "GET", path: "/ingress" }]);
  expect(out.split("\n")).toEqual([
    "proxy    running, HAProxy 2.6.12, pid 10, loaded 2h ago, 1 open connection",
    "http     0.0.0.0:80, [::]:80",
    "https    off",
    "serves   2 ingresses, 1 with a problem; see: berth ingress ls",
    "",
  ]);
});

test("status exits with 1 and says why while the proxy does not serve", async () => {
  const proxy = { state: "unavailable", problem: "HAProxy is not installed", listen: { http: [], https: [] } };
  const { out, code } = await cli(["ingress", "status"], { server: () => ({ proxy, sites: [] }) });
  expect(code).toBe(1);
  expect(out).toContain("proxy    unavailable\n");
  expect(out).toEndWith("✗ HAProxy is not installed\n");
});

test("ls shows routes, replicas and totals, then the problems", async () => {
  const { out, code } = await cli(["ingress", "ls"], { server });
  expect(code).toBe(0);
  const [head, first, second, problem] = out.split("\n").map((line) => line.split(/ {2,}/));
  expect(head).toEqual(["INGRESS", "ROUTE", "TARGET", "REPLICAS", "REQUESTS", "5XX", "ACTIVE"]);
  expect(first).toEqual(["shop/web", "https://shop.test", "shop/web", "1 ready, 1 leaving", "1204", "3", "3"]);
  expect(second).toEqual(["shop/x", "http://x.test/a, http://x.test/b", "shop/gone", "0 ready", "0", "0", "0"]);
  expect(problem?.join("")).toStartWith("✗ shop/x: service: there is no");
  expect(out).not.toContain("\u001b");
});

test("ls shows the port where visitors need it, but not for what a plugin routes", async () => {
  const listen = { http: ["0.0.0.0:8080"], https: ["0.0.0.0:8443"] };
  const sites = [
    { ...site, paths: ["/a"] },
    { ...lost, plugin: "front" },
  ];
  const { out } = await cli(["ingress", "ls"], { server: () => ({ proxy: { ...status.proxy, listen }, sites }) });
  const [, first, second] = out.split("\n").map((line) => line.split(/ {2,}/));
  expect([first?.[1], second?.[1]]).toEqual(["https://shop.test:8443/a", "http://x.test/a, http://x.test/b"]);
});

test("what a plugin routes is not counted, and is served while the proxy is off", async () => {
  const proxy = { state: "off" as const, listen: { http: [], https: [] } };
  const served = (more: Partial<IngressSite>) => () => ({ proxy, sites: [{ ...site, plugin: "front", ...more }] });
  const list = await cli(["ingress", "ls"], { server: served({}) });
  const [, row] = list.out.split("\n").map((line) => line.trimEnd().split(/ {2,}/));
  expect(row?.slice(2)).toEqual(["shop/web by front", "1 ready, 1 leaving", "-", "-", "-"]);
  const well = await cli(["ingress", "status"], { server: served({}) });
  expect([well.code, well.out]).toEqual([0, expect.stringContaining("serves   1 ingress, 1 by the plugin front\n")]);
  expect((await cli(["ingress", "status"], { server: served({ problems: ["no room"] }) })).code).toBe(1);
  expect((await cli(["ingress", "status"], { server: served({ plugin: undefined }) })).code).toBe(1);
});

test("ls narrows to a scope or one ingress, and fails for one that is not there", async () => {
  const json = async (...words: string[]) =>
    JSON.parse((await cli(["ingress", "ls", ...words, "-o", "json"], { server })).out);
  expect((await json("shop")).data.sites).toHaveLength(2);
  expect((await json("shop/x")).data.sites).toMatchObject([{ ingress: "shop/x" }]);
  const { code, err } = await cli(["ingress", "ls", "shop/none"], { server });
  expect(code).toBe(1);
  expect(err).toContain('no ingress is called "shop/none"');
});

test("a TCP port and maintenance are shown as what they are", async () => {
  const sites = [
    { ...site, tcp: "0.0.0.0:5432" },
    { ...site, maintenance: true },
  ];
  const { out } = await cli(["ingress", "ls"], { server: () => ({ ...status, sites }) });
  expect(out).toContain("tcp 0.0.0.0:5432");
  expect(out).toContain("maintenance");
  expect((await cli(["ingress", "ls"], { server: () => ({ ...status, sites: [] }) })).out).toBe("no ingresses\n");
});

test("top shows the last minute, the busiest ingress first", async () => {
  const status = { "1xx": 0, "2xx": 5, "3xx": 1, "4xx": 0, "5xx": 0, none: 0 };
  const quiet = { ingress: "shop/a", requests: 6, rate: 0.1, status, failed: 0, held: 0, retried: 0 };
  const busy = { ...quiet, ingress: "shop/b", requests: 90, rate: 1.5, p50_ms: 3, p99_ms: 40, failed: 2 };
  const traffic = { seconds: 60, sites: [quiet, busy], dropped: 7 };
  const { out, calls } = await cli(["ingress", "top"], { server: () => traffic });
  expect(calls).toMatchObject([{ method: "GET", path: "/ingress/traffic" }]);
  const [head, first, second, lost] = out.split("\n").map((line) => line.split(/ {2,}/).join("|"));
  expect(head).toBe("INGRESS|REQ/S|2XX|3XX|4XX|5XX|FAILED|P50|P99|HELD|RETRIED");
  expect(first).toBe("shop/b|1.5|5|1|0|0|2|3 ms|40 ms|0|0");
  expect(second).toBe("shop/a|0.1|5|1|0|0|0|-|-|0|0");
  expect(lost).toBe("7 requests were too many to count; berth ingress ls has exact totals");
  const none = await cli(["ingress", "top", "web"], { server: () => traffic });
  expect(none.out).toBe("no requests in the last minute\n");
});

test("stop asks first; reload does not", async () => {
  const refused = await cli(["ingress", "stop"], { server, typed: ["n"], autoApprove: false });
  expect(refused).toMatchObject({ code: 5, calls: [] });
  const { out, calls } = await cli(["ingress", "stop", "-y"], { server });
  expect(calls).toMatchObject([{ method: "POST", path: "/ingress/stop" }]);
  expect(out).toBe("stopped; start it again with: berth ingress reload\n");
  expect((await cli(["ingress", "reload"], { server })).calls).toMatchObject([
    { method: "POST", path: "/ingress/reload" },
  ]);
});

test.each([[["ingress"]], [["ingress", "ls", "a", "b"]], [["ingress", "status", "a"]], [["ingress", "drop"]]])(
  "%p asks the server nothing",
  async (argv) => {
    expect((await cli(argv, { server })).calls).toEqual([]);
  },
);
