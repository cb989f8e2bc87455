import { describe, expect, test } from "bun:test";
import type { Stats } from "../../../../src/orchestration/api/stats.ts";
import { bytesText } from "../../../../src/client/text/stats-table.ts";
import { type Call, cli, pod, refusal } from "../../../support/cli.ts";

const log = (text: string) => new Response(text, { headers: { "content-type": "text/plain; charset=utf-8" } });
const webs = [pod("shop-web.a1"), pod("shop-web.longer")];

function server(call: Call): unknown {
  if (call.path === "/pods") return { pods: call.query.name === "none" ? [] : webs, degraded: [] };
  if (call.path.endsWith("/logs")) return log(`from ${call.path.split("/")[2]}\nand more`);
  return undefined;
}

describe("logs", () => {
  test("an app that wrote nothing is told, and is no failure", async () => {
    const quiet = (call: Call) => (call.path.endsWith("/logs") ? log("") : server(call));
    const { code, out, err } = await cli(["logs", "shop/web"], { server: quiet });
    expect([code, out, err]).toEqual([0, "", 'no output of "shop/web"\n']);
    expect((await cli(["logs", "shop/web"], { server })).err).toBe("");
  });

  test("each line begins with its pod, padded; options are passed on", async () => {
    const { code, out, calls } = await cli(["logs", "shop/web", "-n", "5", "--since", "10m", "-t"], { server });
    expect(code).toBe(0);
    expect(out).toBe(
      "shop-web.a1     | from shop-web.a1\nshop-web.a1     | and more\n" +
        "shop-web.longer | from shop-web.longer\nshop-web.longer | and more\n",
    );
    expect(calls.at(-1)?.query).toEqual({ follow: "false", timestamps: "true", tail: "5", since: "10m" });
  });

  test.each<[string[]]>([[["shop-web.a1"]], [["shop/web.a1"]], [["shop/web", "--no-prefix"]]])(
    "%j: lines as they are",
    async (words) => {
      const { out } = await cli(["logs", ...words], {
        server: (call) =>
          call.path === "/pods" && call.query.name === "web.a1" ? { pods: [], degraded: [] } : server(call),
      });
      expect(out).toStartWith("from shop-web.a1\nand more");
    },
  );

  test("as JSON lines, even of one pod", async () => {
    const { out } = await cli(["logs", "shop-web.a1", "-o", "json"], { server });
    expect(
      out
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { pod: "shop-web.a1", line: "from shop-web.a1" },
      { pod: "shop-web.a1", line: "and more" },
    ]);
  });

  test("the same pod has the same colour in every run", async () => {
    const colourOf = async () => {
      const { out } = await cli(["logs", "shop/web"], { server, color: true });
      return out.match(/\x1b\[(\d+)mshop-web\.a1/)?.[1];
    };
    const colour = await colourOf();
    expect(colour).toBeDefined();
    expect(await colourOf()).toBe(colour);
  });

  test("faults", async () => {
    expect(await cli(["logs", "shop/none"], { server })).toMatchObject({
      code: 1,
      err: expect.stringContaining('no pods of "shop/none"; see: berth get pods'),
    });
    expect((await cli(["logs"], { server })).code).toBe(2);
    const bad = (call: Call) => (call.path === "/pods" ? server(call) : refusal(400, 'query since: "x" is not a time'));
    for (const flags of [[], ["-f"]]) {
      const { code, err } = await cli(["logs", "shop/web", "--since", "x", ...flags], { server: bad });
      expect([code, err]).toEqual([1, 'error: query since: "x" is not a time\n']);
    }
  });

  test("Ctrl-C while following ends with 130 and says nothing", async () => {
    const { code, err } = await cli(["logs", "-f", "shop/web"], { server, onSleep: (_ms, interrupt) => interrupt() });
    expect([code, err]).toEqual([130, ""]);
  });
});

const record = (name: string, cpu: number, change: Partial<Stats> = {}): Stats => ({
  identity: { kind: "deployment", scope: "shop", name: "web", replica_id: name.split(".")[1] ?? "" },
  container_name: name,
  usage: { cpu_percent: cpu, memory_usage_bytes: 1536, memory_limit_bytes: 10_000, memory_percent: 15.4, pids: 3 },
  limits: { cpu: "0.5", memory: "64Mi", memory_bytes: 67_108_864 },
  orphan: false,
  ...change,
});

describe("stats and top", () => {
  const stats = [record("shop-web.a1", 12.34), record("shop-web.b2", 49, { limits: {}, orphan: true })];
  const statsServer = () => ({ pods: stats, snapshot: false, sampled_at: "2026-01-01T00:00:00Z" });

  test("a table of use and limits", async () => {
    const { out, calls } = await cli(["stats", "shop/web", "--orphans"], { server: statsServer });
    expect(out).toBe(
      [
        "POD                   KIND        CPU    CPU LIMIT  MEMORY  MEMORY LIMIT  MEM %  PIDS",
        "shop-web.a1           deployment  12.3%  0.5        1.5Ki   64Mi          15.4%  3",
        "shop-web.b2 (orphan)  deployment  49.0%  -          1.5Ki   -             15.4%  3",
        "",
      ].join("\n"),
    );
    expect(calls[0]?.query).toEqual({ orphans: "true", live: "true", scope: "shop", name: "web" });
  });

  test.each<[string, Record<string, string>]>([
    ["shop", { scope: "shop" }],
    ["deployments", { kind: "deployment" }],
    ["statefulset/shop/db", { kind: "statefulset", scope: "shop", name: "db" }],
  ])("%s", async (reference, query) => {
    const { calls } = await cli(["stats", reference], { server: statsServer });
    expect(calls[0]?.query).toMatchObject(query);
  });

  test.each(["shop-web.b2", "shop/web.b2"])("%s is one replica", async (reference) => {
    const { out } = await cli(["stats", reference, "-o", "json"], {
      server: ({ query }) => (query.name === "web.b2" ? { ...statsServer(), pods: [] } : statsServer()),
    });
    expect(JSON.parse(out).data.pods.map((one: Stats) => one.container_name)).toEqual(["shop-web.b2"]);
  });

  test("what is near its limit is coloured, of CPU relative to the limit", async () => {
    const { out } = await cli(["stats"], {
      server: () => ({ ...statsServer(), pods: [record("a.1", 48), record("a.2", 40), record("a.3", 10)] }),
      color: true,
    });
    expect(out).toContain("\x1b[31m48.0%");
    expect(out).toContain("\x1b[33m40.0%");
    expect(out).not.toMatch(/\x1b\[3[13]m10\.0%/);
  });

  test("a collector that is off", async () => {
    const off = () => refusal(503, "the stats collector is off");
    expect(await cli(["stats"], { server: off })).toMatchObject({
      code: 1,
      err: "error: the stats collector is off\n",
    });
    expect((await cli(["stats"], { server: () => ({ ...statsServer(), pods: [] }) })).out).toBe("no running pods\n");
  });

  test("top sorts by CPU; without a terminal it prints once", async () => {
    const { out } = await cli(["top"], { server: statsServer });
    expect(out.indexOf("shop-web.b2")).toBeLessThan(out.indexOf("shop-web.a1"));
    expect(out).not.toContain("<screen>");
  });

  test("top on a terminal draws no more lines than fit, until Ctrl-C", async () => {
    const many = Array.from({ length: 50 }, (_, index) => record(`shop-web.${index}`, index));
    let rounds = 0;
    const { code, out } = await cli(["top"], {
      server: () => ({ ...statsServer(), pods: many }),
      size: { cols: 80, rows: 10 },
      onSleep: (_ms, interrupt) => {
        rounds += 1;
        if (rounds === 2) interrupt();
      },
    });
    expect(code).toBe(130);
    expect(out).toStartWith("<screen>\x1b[H");
    expect(out).toEndWith("\x1b[J</screen>");
    expect(out.match(/shop-web\./g)).toHaveLength(2 * 8);
  });

  test("bytes in the unit that fits", () => {
    const figures: [number, string][] = [
      [0, "0B"],
      [1023, "1023B"],
      [1024, "1.0Ki"],
      [1536, "1.5Ki"],
      [150 * 1024, "150Ki"],
      [1024 ** 3, "1.0Gi"],
      [5 * 1024 ** 5, "5120Ti"],
    ];
    expect(figures.map(([bytes]) => bytesText(bytes))).toEqual(figures.map(([, text]) => text));
  });
});

describe("ps", () => {
  test("age, restarts, readiness", async () => {
    const down = pod("shop-db.0", { kind: "statefulset", ready: false, running: false, state: "exited", restarts: 4 });
    const { out } = await cli(["ps"], { server: () => ({ pods: [webs[0], down], degraded: [] }) });
    expect(out.split("\n")[0]).toMatch(/^NAME +KIND +STATE +READY +RESTARTS +AGE +IMAGE$/);
    expect(out).toMatch(/shop-web\.a1 .*yes +0 +2h +web:1/);
    expect(out).toMatch(/shop-db\.0 .*no +4 +2h/);
    expect((await cli(["ps"], { server: () => ({ pods: [], degraded: [] }) })).out).toBe("no pods\n");
  });
});

describe("exec", () => {
  test("with several resources, or none that runs, it says what there is", async () => {
    const several = [pod("shop-web.a1"), pod("shop-db.0", { resource_name: "db" })];
    const choose = (pods: unknown[]) => cli(["exec", "shop", "ls"], { server: () => ({ pods, degraded: [] }) });
    expect(await choose(several)).toMatchObject({
      code: 2,
      err: 'error: "shop" names pods of deployment/shop/web, deployment/shop/db: write SCOPE/NAME\n',
    });
    expect(await choose([pod("shop-web.a1", { running: false, state: "exited" })])).toMatchObject({
      code: 1,
      err: 'error: no pod of "shop" runs: shop-web.a1 is exited\n',
    });
  });

  test("what follows the command is the command's own", async () => {
    const { err } = await cli(["exec", "shop/none", "-e", "A=1", "ls", "--bogus", "-o", "json"], { server });
    expect(err).toContain('no pods of "shop/none"');
    expect((await cli(["exec", "shop/none", "--bogus", "ls"], { server })).err).toContain('unknown flag "--bogus"');
  });
});
