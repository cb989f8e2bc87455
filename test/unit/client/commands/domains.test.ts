import { describe, expect, test } from "bun:test";
import { type Call, cli, stored } from "../../../support/cli.ts";

const ingress = stored("ingress/shop/web", { hosts: ["a.example.com", "b.example.com"], tls: {}, _internal: 1 });
const single = stored("ingress/shop/one", { host: "one.example.com" });
const plain = stored("deployment/shop/api");

function server({ method, path, query }: Call): unknown {
  if (path !== "/apply") return undefined;
  if (method === "POST") return { applied: [], pruned: [] };
  return [ingress, single, plain].filter(
    ({ kind, scope, name }) =>
      (query.kind ?? kind) === kind && (query.scope ?? scope) === scope && (query.name ?? name) === name,
  );
}

const names: Record<string, string[]> = {
  "a.example.com": ["203.0.113.5"],
  "b.example.com": ["198.51.100.7"],
};
const network = {
  resolve: async (host: string) => names[host] ?? [],
  ownAddresses: () => ["172.17.0.1", "203.0.113.5"],
};

const domains = (...words: string[]) => cli(["domains", ...words], { server, network });
const sent = (calls: Call[]) => calls.filter(({ method }) => method === "POST").map(({ body }) => body);

describe("domains list", () => {
  test("shows what each host resolves to, and the record that it needs", async () => {
    const { out, code } = await domains("list", "shop");
    expect(code).toBe(0);
    expect(out.split("\n").map((line) => line.trim().split(/ {2,}/))).toEqual([
      ["APP", "HOST", "DNS", "RECORD TO SET"],
      ["shop/web", "a.example.com", "ok"],
      ["shop/web", "b.example.com", "leads to 198.51.100.7, not to the server", "A 203.0.113.5"],
      ["shop/one", "one.example.com", "does not resolve", "A 203.0.113.5"],
      [""],
    ]);
  });

  test("takes the address of the server from the operator, or from where it is reached", async () => {
    const given = await domains("list", "shop/web", "--address", "198.51.100.7", "-o", "json");
    expect(JSON.parse(given.out).data.domains).toMatchObject([
      { app: "shop/web", host: "a.example.com", status: "elsewhere", records: ["A 198.51.100.7"] },
      { host: "b.example.com", status: "ok", addresses: ["198.51.100.7"] },
    ]);
    const away = await cli(["domains", "list", "shop/web"], { server, network, endpoint: "http://b.example.com:8686" });
    expect(away.out).toMatch(/b\.example\.com +ok/);
  });

  test("check is the same, and says what to do next only where something is to do", async () => {
    const { out, err } = await domains("check", "shop/web");
    expect(out).toContain("leads to 198.51.100.7, not to the server");
    expect(err).toStartWith("next: set the record where the DNS of the domain is managed");
    expect(err).toContain("a proxy such as a CDN in front of the server is fine");
    expect(err).toEndWith("look again: berth domains check shop/web\n");
    expect((await domains("check", "shop/one")).err).not.toContain("CDN");
    const good = await cli(["domains", "check", "shop/web"], {
      server,
      network: { ...network, resolve: async () => ["203.0.113.5"] },
    });
    expect(good.err).toBe("");
    const inside = await cli(["domains", "check", "shop/one"], {
      server,
      network: { ...network, ownAddresses: () => ["10.0.0.7"] },
    });
    expect(inside.err).toContain("name the public address of the server: berth domains check shop/one --address IP");
  });

  test("says when there are none, and when nothing has the name", async () => {
    expect(await domains("list", "shop/api")).toMatchObject({ out: "shop/api has no domain\n", code: 0 });
    expect(await domains("list", "shop/none")).toMatchObject({ code: 1 });
    expect(await domains()).toMatchObject({ code: 0 });
  });
});

describe("domains add", () => {
  test("sends the ingress with one more host, unless somebody else has changed it", async () => {
    const { out, err, calls } = await domains("add", "shop/web", "New.Example.com");
    expect(sent(calls)).toEqual([
      [
        {
          kind: "ingress",
          scope: "shop",
          name: "web",
          spec: { hosts: ["a.example.com", "b.example.com", "new.example.com"], tls: {} },
          metadata: { if_revision: 7 },
        },
      ],
    ]);
    expect(out).toBe(
      "added new.example.com to ingress/shop/web\nDNS: does not resolve; record to set: A 203.0.113.5\n",
    );
    expect(err).toContain("write this into the manifest too");
  });

  test.each([
    ["www.example.com", {}],
    ["api.localhost", { provider: "internal" }],
  ])("makes an ingress for an app that has none: %s", async (host, tls) => {
    const { calls } = await domains("add", "shop/api", host);
    expect(sent(calls)).toEqual([
      [{ kind: "ingress", scope: "shop", name: "api", spec: { host, tls }, metadata: { if_revision: 0 } }],
    ]);
  });

  test("changes nothing where the host is there, or the app is not", async () => {
    expect(await domains("add", "shop/web", "a.example.com")).toMatchObject({
      out: "ingress/shop/web has a.example.com already\n",
      code: 0,
    });
    const none = await domains("add", "shop/none", "a.example.com");
    expect([none.code, sent(none.calls)]).toEqual([1, []]);
  });
});

describe("domains remove", () => {
  test("asks, and sends the ingress without the host", async () => {
    const refused = await domains("remove", "shop/web", "a.example.com");
    expect([refused.code, sent(refused.calls)]).toEqual([5, []]);
    const { out, calls } = await domains("remove", "shop/web", "a.example.com", "-y");
    expect(out).toBe("removed a.example.com from ingress/shop/web\n");
    expect(sent(calls)).toMatchObject([[{ spec: { host: "b.example.com", tls: {} }, metadata: { if_revision: 7 } }]]);
  });

  test.each([
    [["shop/web", "c.example.com"], "shop/web does not have the domain c.example.com"],
    [["shop/api", "c.example.com"], "shop/api does not have the domain c.example.com"],
    [["shop/one", "one.example.com"], "is the only domain of ingress/shop/one: to take it off the web, berth delete"],
    [["shop/none", "a.example.com"], 'no resource "shop/none"'],
  ])("%p is refused", async (words, text) => {
    const { code, err, calls } = await domains("remove", ...words, "-y");
    expect([code, err, sent(calls)]).toEqual([1, expect.stringContaining(text), []]);
  });
});

test.each([
  [["domains", "ad"], 'unknown command "domains ad"'],
  [["domains", "add", "shop/web"], "say which: domains add SCOPE/NAME HOST"],
  [["domains", "add", "shop/web", "http://x"], '"http://x" is not a host name'],
  [["domains", "list", "a", "b"], '"b" is one word too many'],
])("%p is wrong usage", async (argv, text) => {
  const { code, err } = await cli(argv, { server, network });
  expect([code, err]).toEqual([2, expect.stringContaining(text)]);
});
