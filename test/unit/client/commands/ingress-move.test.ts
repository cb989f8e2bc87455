import { expect, test } from "bun:test";
import { type Call, cli } from "../../../support/cli.ts";

const commands = [{ name: "apply" }, { name: "remove" }];
const caddy = { name: "caddy", aliases: [], kinds: [], enabled: true, commands };
const ingress = (name: string, spec: Record<string, unknown>) => ({
  ...{ kind: "ingress", scope: "shop", name, metadata: { revision: 7 } },
  spec: { host: `${name}.test`, ...spec },
});
const web = ingress("web", { tls: { provider: "internal" }, compress: true, allow: ["10.0.0.0/8"] });

const server =
  (manifests: unknown[], plugin: Record<string, unknown> = caddy) =>
  ({ method, path }: Call): unknown => {
    if (path === "/plugins") return { plugins: [plugin], errors: [] };
    if (method === "POST") return { applied: [], pruned: [], warnings: ["ingress/shop/web: a word of the server"] };
    return manifests;
  };
const writes = (calls: Call[]) => calls.filter(({ method }) => method === "POST");

test("move shows what each ingress loses, and applies all of them at the revisions that it saw", async () => {
  const all = [web, ingress("api", { plugin: "old" }), ingress("has", { plugin: "caddy" }), ingress("mq", { tcp: {} })];
  const { code, out, err, calls } = await cli(["ingress", "move", "--to", "caddy", "--drop", "allow", "-y"], {
    server: server(all),
  });
  expect([code, out]).toEqual([0, "moved 2 ingresses to caddy; see: berth ingress ls\n"]);
  expect(err.split("\n")).toEqual([
    "ingress/shop/mq: stays with HAProxy, a plugin serves no TCP port",
    "ingress/shop/web: from HAProxy to caddy; loses spec.compress, spec.allow",
    "ingress/shop/api: from old to caddy",
    "warning: ingress/shop/web: a word of the server",
    "",
  ]);
  expect(writes(calls)).toMatchObject([
    {
      path: "/apply",
      query: { drop: "allow" },
      body: [
        {
          ...{ kind: "ingress", scope: "shop", name: "web", metadata: { if_revision: 7 } },
          spec: { host: "web.test", tls: { provider: "internal" }, plugin: "caddy" },
        },
        { name: "api", spec: { host: "api.test", plugin: "caddy" } },
      ],
    },
  ]);
});

test("without a yes nothing is written", async () => {
  const { code, err, calls } = await cli(["ingress", "move", "--to", "caddy", "shop/web", "--drop", "allow"], {
    server: server([web]),
  });
  expect([code, writes(calls)]).toEqual([5, []]);
  expect(err).toContain("loses spec.compress, spec.allow");
});

test.each([
  [{ ...caddy, enabled: false }, 'plugin "caddy" is disabled; enable it with: berth plugins enable caddy'],
  [{ ...caddy, commands: [{ name: "expand" }] }, 'plugin "caddy" has no command apply'],
  [{ ...caddy, name: "nginx" }, 'plugin "caddy" is not installed'],
])("a plugin that cannot route is refused before anything is shown: %j", async (plugin, text) => {
  const { code, err, calls } = await cli(["ingress", "move", "--to", "caddy", "-y"], { server: server([web], plugin) });
  expect([code, err, writes(calls)]).toEqual([1, expect.stringContaining(text), []]);
});

test("with nothing to move it says so", async () => {
  const { code, out } = await cli(["ingress", "move", "--to", "caddy"], { server: server([]) });
  expect([code, out]).toEqual([0, "no ingress to move to caddy\n"]);
  expect((await cli(["ingress", "move"], { server: server([]) })).code).toBe(2);
});

test("what closes a site is lost only by its name, whatever -y says", async () => {
  const closed = ingress("closed", {
    basic_auth: { users: { a: "b" } },
    deny: ["10.0.0.1"],
    allow: [],
    compress: true,
  });
  const move = (...words: string[]) =>
    cli(["ingress", "move", "--to", "caddy", "-y", ...words], { server: server([web, closed]) });
  for (const words of [[], ["--drop", "allow"], ["--drop", "basic_auth,deny"]]) {
    const { code, err, calls } = await move(...words);
    expect([words, code, writes(calls)]).toEqual([words, 1, []]);
    expect(err).toContain("to lose them all the same, add --drop allow,deny,basic_auth");
  }
  const { err } = await move("--drop", "allow,deny");
  expect(err).toContain("ingress/shop/closed would lose basic_auth and be open to everybody");
  expect(err).not.toContain("ingress/shop/web would lose");
  expect((await move("--drop", "everything")).err).toContain(
    '--drop: "everything" is not one of allow, deny, basic_auth',
  );
  expect((await move("--drop", "spec.allow, deny,basic_auth")).code).toBe(0);
});
