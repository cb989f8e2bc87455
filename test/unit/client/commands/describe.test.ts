import { expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";

const certificate = (name: string, more = {}) => ({
  ...{ id: name, names: [name], issuer: "letsencrypt", state: "valid", issuing: false, failures: 0 },
  ...{ not_after: "2026-03-02T00:00:00.000Z", renew_at: "2026-02-01T00:00:00.000Z" },
  ...more,
});
const error = "dns: www.shop.test does not resolve";

async function described(spec: Record<string, unknown>, ...flags: string[]) {
  const certificates = [
    certificate("shop.test"),
    certificate("www.shop.test", { state: "failed", error, next_try_at: "2026-01-02T00:01:00.000Z" }),
    certificate("*.wild.test"),
    certificate("other.test"),
  ];
  const upstream = { replica: "k3", address: "10.0.0.2:80", state: "ready", weight: 100, active: 2 };
  const upstreams = [upstream, { ...upstream, replica: "a9", address: "10.0.0.3:80" }];
  const sites = [
    { ingress: "shop/other", upstreams: [], problems: ["not shown"] },
    { ingress: "shop/web", upstreams, problems: ["host: web.test is already served"] },
  ];
  const manifest = { kind: "ingress", scope: "shop", name: "web", spec, revision: 1, generation: 1 };
  const description = { manifest, status: { phase: "ready", conditions: [] }, pods: [], volumes: [] };
  return cli(["describe", "ingress", "shop/web", ...flags], {
    server: ({ path }) => ({ "/certificates": { certificates }, "/ingress": { sites } })[path] ?? description,
  });
}

test("an ingress shows the certificates of its hosts, with what is wrong with them", async () => {
  const { out } = await described({ hosts: ["shop.test", "www.shop.test", "a.wild.test"], tls: {} });
  expect(out).toMatch(/^certificates\nNAME /m);
  expect(out).toMatch(/^shop\.test +valid +2026-03-02 \(59d\) +letsencrypt +renew in 30d$/m);
  expect(out).toMatch(/^\*\.wild\.test +valid/m);
  expect(out).toContain(`✗ www.shop.test: ${error}`);
  expect(out).not.toContain("other.test");
});

test("an app shows the problems of the ingresses that lead to it, and the alerts about it", async () => {
  const manifest = { kind: "deployment", scope: "shop", name: "web", spec: {}, revision: 1, generation: 1 };
  const description = { manifest, status: { phase: "ready", conditions: [] }, pods: [], volumes: [] };
  const sites = [{ ingress: "shop/www", target: "shop/web", problems: ["3 of 3 requests failed in the last 30 s"] }];
  const about = { labels: { scope: "shop", name: "web" }, title: "7 % of requests fail" };
  const alerts = [{ id: "a7", severity: "critical", state: "firing", ...about }];
  const server = ({ path }: { path: string }) =>
    ({ "/ingress": { sites }, "/alerts": { alerts, blind: [] }, "/apply": [manifest], "/pods": { pods: [] } })[path] ??
    description;
  const { out } = await cli(["describe", "deployment", "shop/web"], { server });
  expect(out).toMatch(/^ +trouble +ingress\/shop\/www: 3 of 3 requests failed in the last 30 s$/m);
  expect(out).toMatch(/^ +trouble +alert a7 \(critical\): 7 % of requests fail$/m);
  const { out: listed } = await cli(["get", "deployment", "shop"], { server });
  expect(listed).toContain("✗ deployment/shop/web: ingress/shop/www: 3 of 3 requests failed in the last 30 s");
  expect(listed).toContain("✗ deployment/shop/web: alert a7 (critical): 7 % of requests fail");
});

test("an ingress without TLS asks for no certificates, and JSON is the answer of the server", async () => {
  expect((await described({ host: "shop.test" })).calls.map(({ path }) => path)).not.toContain("/certificates");
  const { out, calls } = await described({ host: "shop.test", tls: {} }, "-o", "json");
  expect(calls.map(({ path }) => path)).toEqual(["/describe"]);
  expect(JSON.parse(out).data.manifest.name).toBe("web");
});

test("an ingress shows the replicas that it leads to, and what is wrong with it", async () => {
  const { out } = await described({ host: "web.test" });
  expect(out).toMatch(/^replicas\nREPLICA .*\na9 .*\nk3 +10\.0\.0\.2:80 +ready +100 +2$/m);
  expect(out).toContain("✗ host: web.test is already served");
  expect(out).not.toContain("not shown");
  expect((await described({ host: "web.test" }, "-o", "json")).out).not.toContain("10.0.0.2");
});
