// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { expect, test } from "bun:test";
import { branchPlan } from "../../../../src/client/preview/overlay.ts";
import { limits } from "../../../../src/config/config.ts";
import { decodeManifests } from "../../../../src/orchestration/core/validate.ts";

const app = (spec: object = {}, preview: object = { host: "{branch}.preview.example.com" }) => ({
  kind: "app",
  scope: "shop",
  name: "web",
  spec: { image: "web:1", ports: ["127.0.0.1:8080:80"], host: "shop.example.com", tls: {}, preview, ...spec },
});
const plan = (manifests: Record<string, unknown>[], branch = "cart") => branchPlan(manifests, "shop", branch);

test("the app of a branch has a scope, a host, and few replicas of its own; the server takes it", () => {
  const given = app({ replicas: 5, env: { A: "1", B: "1" } }, { host: "{branch}.x.org", env: { B: "2" }, ttl: "1d" });
  const found = plan([given]);
  expect(found).toMatchObject({ scope: "shop-cart", host: "cart.x.org", ttl: "1d", kept: [0], notes: [] });
  expect(found?.manifests).toEqual([
    {
      kind: "app",
      scope: "shop-cart",
      name: "web",
      spec: { image: "web:1", ports: ["80"], tls: {}, replicas: 1, host: "cart.x.org", env: { A: "1", B: "2" } },
    },
  ]);
  expect(decodeManifests(found?.manifests, { limits }).problems).toEqual([]);
});

test("without a host there is no way in, and without settings no preview", () => {
  const found = plan([app({}, { replicas: 2 })]);
  expect(found?.manifests[0]?.spec).toEqual({ image: "web:1", ports: ["80"], replicas: 2 });
  expect([found?.host, found?.ttl]).toEqual([undefined, "3d"]);
  expect(plan([{ ...app(), spec: { image: "web:1" } }])).toBeUndefined();
  expect(plan([])).toBeUndefined();
});

test("hosts, ports and replicas of the app itself never come along", () => {
  const autoscale = { min: 2, max: 9, cpu_target: 50 };
  const found = plan([
    app({ hosts: ["a.example.com"], shared: true, tcp: { port: 5432 }, autoscale }),
    { kind: "ingress", scope: "shop", name: "more", spec: { host: "b.example.com" } },
    { kind: "cronjob", scope: "shop", name: "mails", spec: { schedule: "@daily", job: { image: "x" } } },
    { kind: "deployment", scope: "shop", name: "worker", spec: { image: "x", replicas: 4 } },
  ]);
  const [web, mails, worker] = found?.manifests ?? [];
  expect(Object.keys(web?.spec as object)).toEqual(["image", "ports", "tls", "replicas", "host"]);
  expect(mails?.spec).toMatchObject({ suspend: true });
  expect(worker).toMatchObject({ scope: "shop-cart", spec: { replicas: 1 } });
  expect(found?.kept).toEqual([0, 2, 3]);
  expect(found?.notes).toHaveLength(2);
});

test("names of services of the own scope follow; public names and those of other scopes stay", () => {
  const env = {
    SAME: "http://web.shop:80/ postgres://a@db-0.shop/x web.shop web.shop.berth",
    OTHER: "web.other web.shop.com myweb.shop x.web.shop web.shopping cache.shop",
  };
  const found = plan([app({ env }), { kind: "statefulset", scope: "shop", name: "db", spec: { image: "x" } }]);
  const same = "http://web.shop-cart:80/ postgres://a@db-0.shop-cart/x web.shop-cart web.shop-cart.berth";
  expect(found?.manifests[0]?.spec).toMatchObject({ env: { SAME: same, OTHER: env.OTHER } });
});

test("references to assets of the own scope follow; those to other scopes and to config stay", () => {
  const spec = {
    image: "x",
    env: { A: "${asset.shop.files.a} ${asset.other.files.a} shop" },
    env_from: ["shop/web", "web"],
    depends_on: { assets: ["shop.files.a", "files.a", "other.files.a"] },
  };
  const found = plan([app(), { kind: "deployment", scope: "shop", name: "worker", spec }]);
  expect(found?.manifests[1]?.spec).toEqual({
    image: "x",
    env: { A: "${asset.shop-cart.files.a} ${asset.other.files.a} shop" },
    env_from: ["shop/web", "web"],
    depends_on: { assets: ["shop-cart.files.a", "files.a", "other.files.a"] },
    replicas: 1,
  });
});
