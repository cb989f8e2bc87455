import { describe, expect, test } from "bun:test";
import { parseAllDocuments } from "yaml";
import { cli, pod, type Scene, type Server, stored } from "../../../support/cli.ts";

const at = "2026-01-01T23:00:00.000Z";
const bad = { type: "Ready", status: false, reason: "ImagePull", message: "no such image", at };

const rows = [
  {
    ...stored("postgres/data/main"),
    status: {
      plugin: "postgres",
      version: "1",
      children: [
        { ref: "asset/data/main", phase: "ready" },
        { ref: "statefulset/data/main", phase: "failing" },
      ],
    },
  },
  {
    ...stored("deployment/shop/web", { image: "web:1", ports: ["80", "127.0.0.1:8081:81"], _asset_digests: {} }),
    status: { phase: "ready", conditions: [] },
  },
  {
    ...stored("deployment/shop/api", { image: "api:1", ports: ["9000:9000"] }),
    status: { phase: "failing", conditions: [bad] },
  },
  { ...stored("job/shop/report", { image: "r:1" }), status: { phase: "ready", history: [] } },
  {
    ...stored("job/shop/import", { image: "r:1" }),
    status: { phase: "ready", history: [{ status: "failed", ended_at: at, error: "exit code 7" }] },
  },
  {
    ...stored("ingress/shop/web", { host: "shop.example", port: 80 }),
    status: { phase: "failing", last_reconcile_error: "not served: disk full" },
  },
];
const published = [
  { container: "80/tcp", host_ip: "127.0.0.1", host_port: "32768" },
  { container: "81/tcp", host_ip: "127.0.0.1", host_port: "8081" },
];
const server: Server = ({ path, query }) => {
  if (path === "/pods") return { pods: [pod("shop-web.a1b2c", { ports: published })], degraded: [] };
  return rows.filter(({ kind }) => (query.kind ?? kind) === kind);
};
const get = (words: string[], scene: Scene = {}) => cli(["get", ...words], { server, ...scene });

describe("get", () => {
  test("shows blocks first, and of every kind how it is and why", async () => {
    const { out } = await get(["all"]);
    expect(out.replaceAll(/ +$/gm, "")).toBe(
      [
        "postgres",
        "NAME       STATUS   AGE  REASON",
        "data/main  failing  24h  statefulset/data/main is failing",
        "",
        "deployment",
        "NAME      STATUS   READY  PORTS                                  IMAGE  AGE  REASON",
        "shop/web  ready    1/1    127.0.0.1:32768→80, 127.0.0.1:8081→81  web:1  24h",
        "shop/api  failing  0/1    9000:9000                              api:1  24h  ImagePull: no such image",
        "",
        "ingress",
        "NAME      STATUS   HOST          SERVICE  PORT  TLS  AGE  REASON",
        "shop/web  failing  shop.example  web      80    no   24h  not served: disk full",
        "",
        "job",
        "NAME         STATUS          IMAGE  AGE  REASON",
        "shop/report  never ran       r:1    24h",
        "shop/import  failed 60m ago  r:1    24h  exit code 7",
        "",
      ].join("\n"),
    );
  });

  test("what is built shows the image of its build", async () => {
    const built = (name: string, spec: object) => ({ kind: "job", scope: "nc", name, spec, metadata: {} });
    const jobs = [built("web", { build: { id: "37512ed85085" } }), built("new", { build: {} })];
    const { out } = await cli(["get", "jobs"], { server: () => jobs });
    expect(out).toContain("nc-web:37512ed85085");
    expect(out).toMatch(/nc\/new .* - /);
  });

  test("-o yaml prints what can be applied again", async () => {
    const { out } = await get(["deployments", "-o", "yaml"]);
    const [web, api] = parseAllDocuments(out).map((document) => document.toJS());
    expect(web).toEqual({
      kind: "deployment",
      scope: "shop",
      name: "web",
      spec: { image: "web:1", ports: ["80", "127.0.0.1:8081:81"] },
    });
    expect(api).toMatchObject({ name: "api" });
  });

  test("-o name prints what other commands take, and nothing for nothing", async () => {
    expect((await get(["deployments", "-o", "name"])).out).toBe("deployment/shop/web\ndeployment/shop/api\n");
    expect((await get(["pods", "-o", "name"])).out).toMatch(/^(?:shop-\w+\.\w+\n)+$/);
    expect(await get(["cronjobs", "-o", "name"])).toMatchObject({ code: 0, out: "" });
    expect((await get(["leftovers", "-o", "name"])).code).toBe(2);
    expect((await cli(["describe", "shop/web", "-o", "name"])).err).toContain(
      'no output format "name" of describe: text, json or yaml',
    );
  });

  test("none of a kind is no error", async () => {
    expect(await get(["cronjobs"])).toMatchObject({ code: 0, out: "no cronjobs\n" });
    expect(await cli(["get"], { server: () => [] })).toMatchObject({
      code: 0,
      out: expect.stringContaining("berth apply"),
    });
  });
});

describe("get --watch", () => {
  test("through a pipe prints again after each change, until Ctrl-C", async () => {
    let looks = 0;
    const changing: Server = (call) => {
      if (call.path !== "/apply") return server(call);
      looks += 1;
      const phase = looks < 3 ? "progressing" : "ready";
      return [{ ...stored("deployment/shop/web", { image: "web:1" }), status: { phase } }];
    };
    const onSleep = (passedMs: number, interrupt: () => void) => {
      if (passedMs > 10_000) interrupt();
    };
    const { out, code } = await get(["deployments", "-w"], { server: changing, onSleep });
    expect(out.match(/^NAME/gm)).toHaveLength(2);
    expect([out.indexOf("progressing") < out.indexOf("ready "), code]).toEqual([true, 130]);
  });

  test("on a terminal draws in place", async () => {
    const onSleep = (_passedMs: number, interrupt: () => void) => interrupt();
    const { out } = await get(["-w"], { typed: [], size: { cols: 120, rows: 30 }, onSleep });
    expect(out).toStartWith("<screen>\x1b[H");
    expect(out).toEndWith("</screen>");
  });
});

/** A server on which nothing is called so, and which has nothing of it. */
const empty: Server = ({ path }) => {
  if (path === "/apply") return [];
  if (path === "/events") return { events: [] };
  if (path === "/stats") return { pods: [], snapshot: true, sampled_at: at };
  if (path === "/jobs/runs" || path === "/plugins/runs") return { runs: [] };
  if (path === "/config") return { vars: {}, changed: [], restarting: [] };
  return undefined;
};

test.each([
  ["stats shop/none"],
  ["stats none"],
  ["top shop/none"],
  ["events shop/none"],
  ["config list shop/none"],
  ["config unset shop/none KEY"],
  ["cron list none"],
  ["plugins runs none"],
])("berth %s: a name that is not there is an error", async (line) => {
  const { code, err } = await cli(line.split(" "), { server: empty });
  expect([code, err]).toEqual([1, expect.stringContaining("error: no")]);
});

test.each([["stats"], ["events"], ["stats deployments"], ["cron list"]])(
  "berth %s with nothing there is no error",
  async (line) => {
    expect((await cli(line.split(" "), { server: empty })).code).toBe(0);
  },
);

describe("describe of a name that a block and its children have", () => {
  const children = [
    { ref: "asset/data/main", phase: "ready" },
    { ref: "statefulset/data/main", phase: "progressing" },
  ];
  const server: Server = ({ path, query }) => {
    if (path === "/apply") return ["postgres", "statefulset", "asset"].map((kind) => stored(`${kind}/data/main`));
    const manifest = stored(`${query.kind}/data/main`, query.kind === "statefulset" ? { ports: ["5432"] } : {});
    const status =
      query.kind === "postgres" ? { plugin: "postgres", version: "1", children } : { phase: "progressing" };
    const ports = [{ container: "5432/tcp", host_ip: "::1", host_port: "40000" }];
    return { manifest, status, pods: [pod("data-main.0", { kind: "statefulset", ports })] };
  };

  test("begins with the block, goes on with what it became, and leaves its files out", async () => {
    const { out, calls } = await cli(["describe", "data/main"], { server });
    expect(calls[0]?.query).toMatchObject({ scope: "data", name: "main", blocks: "true" });
    const asked = calls.filter(({ path }) => path === "/describe");
    expect(asked.map(({ query }) => query.kind)).toEqual(["postgres", "statefulset"]);
    expect(out).toStartWith("postgres/data/main  progressing\n");
    expect(out).toContain("became    statefulset/data/main progressing\n");
    expect(out).not.toContain("asset/data/main");
    expect(out).toMatch(/address +main\.data \(for other pods\)\n +ports +\[::1\]:40000→5432/);
  });

  test.each(["json", "yaml"])("-o %s is the block alone", async (format) => {
    const { out, calls } = await cli(["describe", "data/main", "-o", format], { server });
    expect(calls.slice(1).map(({ query }) => query.kind)).toEqual(["postgres"]);
    const [data] = parseAllDocuments(out).map((document) => document.toJS());
    expect(format === "json" ? data.data.manifest.kind : data.manifest.kind).toBe("postgres");
  });
});
