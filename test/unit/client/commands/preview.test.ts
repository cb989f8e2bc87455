import { expect, test } from "bun:test";
import { type Call, cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const until = "2026-01-04T00:00:00.000Z";
const cart = { scope: "shop-cart", of: "shop", branch: "cart", host: "cart.example.com", since: until, until };
function server({ method, path, query, body }: Call): unknown {
  if (path === "/previews" && method === "GET") return { previews: query.of === "blog" ? [] : [cart] };
  if (path === "/previews") return cart;
  if (path === "/apply" && method === "POST") {
    return { applied: query.dry_run === undefined ? [] : body, pruned: [], current: [null], warnings: [] };
  }
  if (path === "/apply" && query.kind === "ingress" && query.scope === "shop-cart") {
    return [{ kind: "ingress", scope: "shop-cart", name: "web", spec: { host: "cart.example.com", tls: {} } }];
  }
  if (path === "/ingress") return { proxy: { state: "running", listen: { http: [], https: ["[::]:443"] } }, sites: [] };
  return [];
}

test("lists, and prints the address of one", async () => {
  const { out } = await cli(["preview"], { server });
  expect(out).toBe(
    "SCOPE  BRANCH  RUNS IN    HOST              ENDS IN\nshop   cart    shop-cart  cart.example.com  2d\n",
  );
  expect((await cli(["preview", "list", "blog"], { server })).out).toBe("no previews\n");
  expect((await cli(["preview", "open", "shop", "cart"], { server })).out).toBe("https://cart.example.com\n");
  const none = await cli(["preview", "open", "blog", "cart"], { server });
  expect([none.code, none.err]).toEqual([1, 'error: blog has no preview of the branch "cart"\n']);
});

test("deletes after a yes; --if-exists asks first whether there is one", async () => {
  const deleted = ({ calls }: { calls: Call[] }) => calls.filter(({ method }) => method === "DELETE").length;
  const refused = await cli(["preview", "delete", "shop", "cart"], { server, autoApprove: false });
  expect([refused.code, deleted(refused)]).toEqual([5, 0]);
  const done = await cli(["preview", "delete", "shop", "cart", "-y"], { server });
  expect([done.out, deleted(done)]).toEqual(["deleted the preview of cart: shop-cart\n", 1]);
  const none = await cli(["preview", "delete", "blog", "cart", "-y", "--if-exists"], { server });
  expect([none.code, deleted(none)]).toEqual([0, 0]);
});

test.each([[["preview", "open", "shop"]], [["preview", "delete", "shop", "a", "b"]], [["preview", "show"]]])(
  "%j is refused",
  async (argv) => {
    expect((await cli(argv, { server })).code).toBe(2);
  },
);

const manifest = (preview: string) =>
  `kind: app\nscope: shop\nname: web\nspec:\n  image: web:1\n  host: shop.example.com\n${preview}`;

test("up --preview sets the scope aside before it applies", async () => {
  using at = folder({ "berth.yaml": manifest('  preview: { host: "{branch}.example.com", ttl: 2d }\n') });
  const { calls, err } = await cli(["up", "--preview", "cart", "-y", "--no-wait"], { cwd: at.path, server });
  expect(calls.slice(0, 2)).toMatchObject([
    { method: "POST", path: "/previews", query: { of: "shop", branch: "cart", host: "cart.example.com", for: "2d" } },
    { path: "/apply", body: [{ scope: "shop-cart", spec: { host: "cart.example.com", replicas: 1 } }] },
  ]);
  expect(err).toContain("preview of cart in the scope shop-cart");
});

test("a pushed branch without settings, or with a fault, is stored and deploys nothing", async () => {
  for (const text of [manifest(""), "kind: [\n"]) {
    using at = folder({ "berth.yaml": text });
    const { code, err, calls } = await cli(["up", "--pushed", "shop", "--preview", "cart"], { cwd: at.path, server });
    expect([code, err, calls]).toEqual([0, expect.stringContaining("not deployed: "), []]);
  }
  using at = folder({ "berth.yaml": manifest("") });
  const { code, err } = await cli(["up", "--preview", "cart"], { cwd: at.path, server });
  expect([code, err]).toEqual([1, "error: no app here has preview settings: add spec.preview to one\n"]);
});
