import { describe, expect, test } from "bun:test";
import { type Call, cli, pod, refusal, stored } from "../../../support/cli.ts";

/** Everything had 2 replicas and revision 7. */
function server({ path, query }: Call): unknown {
  if (path === "/scale") {
    const replicas = Number(query.replicas);
    const { kind = "deployment", scope = "shop", name } = query;
    return { kind, scope, name, replicas, previous: 2, revision: replicas === 2 ? 7 : 8 };
  }
  const status = { phase: "ready", replicas: 3, ready_replicas: 3, observed_revision: 8, conditions: [], releases: [] };
  return { manifest: stored("deployment/shop/web"), status, pods: [pod("shop-web.a1b2c")] };
}

const scale = (...words: string[]) => cli(["scale", ...words], { server });
const sent = (calls: Call[]) => calls.filter(({ path }) => path === "/scale").map(({ query }) => query);

describe("scale", () => {
  test("takes REF=N and waits until they are ready", async () => {
    const { out, err, code, calls } = await scale("shop/web=3");
    expect([out, code]).toEqual(["deployment/shop/web: 2 → 3 replicas\n", 0]);
    expect(err).toEndWith("✓ deployment/shop/web is ready (3/3)\n");
    expect(calls[0]).toMatchObject({ method: "POST", query: { scope: "shop", name: "web", replicas: "3" } });
  });

  test("0 is told as what was asked for, and not as nothing of nothing", async () => {
    const zero = { phase: "ready", replicas: 0, ready_replicas: 0, observed_revision: 8, conditions: [], releases: [] };
    const none = (call: Call): unknown => {
      if (call.path === "/scale") return server(call);
      if (call.path === "/pods") return { pods: [], degraded: [] };
      const manifest = stored("deployment/shop/web", { image: "app:1", replicas: 0 });
      return call.path === "/describe" ? { manifest, status: zero, pods: [] } : [{ ...manifest, status: zero }];
    };
    const scaled = await cli(["scale", "shop/web=0"], { server: none });
    expect([scaled.err, scaled.code]).toEqual(["✓ deployment/shop/web is scaled to 0\n", 0]);
    expect((await cli(["get", "deployments"], { server: none })).out).toMatch(/shop\/web +scaled to 0 +0\/0/);
    const { out } = await cli(["describe", "deployment", "shop/web"], { server: none });
    expect(out).toMatch(/^deployment\/shop\/web {2}scaled to 0\n/);
    expect(out).toMatch(/replicas +scaled to 0\n/);
  });

  test("takes REF N, several, and a kind", async () => {
    expect(sent((await scale("shop/web", "3")).calls)).toMatchObject([{ name: "web", replicas: "3" }]);
    expect(sent((await scale("shop/web=3", "statefulset/shop/db=1")).calls)).toMatchObject([
      { name: "web", replicas: "3" },
      { kind: "statefulset", name: "db", replicas: "1" },
    ]);
    expect(sent((await scale("-k", "statefulset", "shop/db=0")).calls)).toMatchObject([
      { kind: "statefulset", replicas: "0" },
    ]);
  });

  test("--no-wait does not look", async () => {
    expect((await scale("shop/web=3", "--no-wait")).calls).toHaveLength(1);
  });

  test("-o json is one envelope, of one or of several", async () => {
    const one = await scale("shop/web=3", "--no-wait", "-o", "json");
    expect(JSON.parse(one.out).data).toMatchObject({ name: "web", replicas: 3, previous: 2 });
    const two = await scale("shop/web=3", "shop/api=1", "--no-wait", "-o", "json");
    expect(JSON.parse(two.out).data.scaled).toHaveLength(2);
  });

  test("tells why an autoscaler does not let it", async () => {
    const { err, code } = await cli(["scale", "shop/web=3"], {
      server: () => refusal(409, "is scaled by its autoscaler"),
    });
    expect([err, code]).toEqual(["error: is scaled by its autoscaler\n", 1]);
  });

  test("a count that is none is named, also a negative one", async () => {
    const { err, code, calls } = await cli(["scale", "shop/web", "-1"]);
    expect([err, code, calls]).toEqual(['error: "-1" is not a number of replicas: use 0 or more\n', 2, []]);
  });

  test.each([[[]], [["shop/web"]], [["shop/web=many"]], [["=3"]], [["shop/web=3", "shop/api"]], [["shop/web=-1"]]])(
    "%p is wrong usage, and nothing is sent",
    async (words) => expect(await scale(...words)).toMatchObject({ code: 2, calls: [] }),
  );
});
