import { describe, expect, test } from "bun:test";
import { digestOf } from "../../../../src/client/facts/digest.ts";
import { type Call, cli, pod, refusal, type Server, stored } from "../../../support/cli.ts";

const manifests = [
  stored("deployment/shop/web", { image: "web:1", replicas: 2, env: { TOKEN: "s3cret" } }),
  stored("ingress/shop/web", { host: "shop.example", service: "web", port: 80, tls: {} }),
  stored("statefulset/data/queue", { image: "queue:1" }),
  stored("registry/acme", { url: "registry.acme.test" }),
];

const pods = [
  pod("shop-web.a1b2c"),
  pod("shop-web.d3e4f", { ready: false, running: false, state: "restarting", exit_code: 1, restarts: 4 }),
  pod("data-queue.0", { kind: "statefulset" }),
];

const none = { config_wiped: false, app_dir_removed: false, volume_removed: false, volumes_removed: [], errors: [] };

function matches(query: Record<string, string>, row: { kind: string; scope: string; name: string }): boolean {
  return Object.entries(query).every(([key, value]) => !(key in row) || row[key as keyof typeof row] === value);
}

/** A small installation. */
function server({ method, path, query, body }: Call): unknown {
  switch (`${method} ${path}`) {
    case "GET /backups/apps":
      return { apps: [] };
    case "GET /apply":
      return manifests.filter((manifest) => matches(query, manifest));
    case "GET /pods":
      return { pods: pods.filter((row) => matches(query, { ...row, name: row.resource_name })), degraded: [] };
    case "GET /describe":
      return { manifest: manifests.find((manifest) => matches(query, manifest)), status: null, pods: [] };
    case "GET /config":
      if (query.key !== undefined) return query.key === "TOKEN" ? { TOKEN: "s3cret" } : refusal(404, "not set");
      return { vars: query.merge === "false" ? { TOKEN: "s3cret" } : { TOKEN: "s3cret", MODE: "prod" } };
    case "POST /config":
      return { changed: Object.keys(body as object), restarting: ["deployment/shop/web"] };
    case "POST /restart":
      return { kind: "deployment", scope: "shop", name: "web", unfroze: ["a1b2c"], operation: "op1" };
    case "GET /operations/op1":
      return { id: "op1", state: "succeeded" };
    case "DELETE /resource":
      if (query.ordinal !== undefined) {
        const summary = { container_removed: true, volumes_removed: ["v0"], errors: [] };
        return { scope: query.scope, name: query.name, ordinal: 0, action: "rebootstrap", summary };
      }
      return {
        scope: query.scope,
        name: query.name,
        resources_wiped: [{ kind: "deployment", pruned: none }],
        errors: [],
      };
    case "DELETE /scope":
      return { scope: query.scope, resources_wiped: [], scope_config_wiped: false, errors: ["volume v1 is in use"] };
    case "DELETE /apply":
      return { pruned: none };
    default:
      if (path.endsWith("/stop")) return { name: path.split("/")[2], freeze: query.freeze !== "false" };
      if (path.endsWith("/start")) return { name: path.split("/")[2], recreated: true, unfroze: true };
      return undefined;
  }
}

const berth = (...argv: string[]) => cli(argv, { server });
const did = (calls: Call[]) => calls.filter(({ method }) => method !== "GET");

describe("get", () => {
  test("tells how a frozen replica of one that is ready comes back", async () => {
    const status = { phase: "ready", conditions: [], frozen_ids: ["1"] };
    const { out } = await cli(["get", "statefulset"], {
      server: (call: Call) => (call.path === "/apply" ? [{ ...manifests[2], status }] : server(call)),
    });
    expect(out).toMatch(/data\/queue +ready .*1 frozen: berth start data\/queue/);
  });

  test("lists everything by kind", async () => {
    const { out, code } = await berth("get");
    expect(out).toBe(
      [
        "deployment",
        "NAME      STATUS  READY  IMAGE  AGE",
        "shop/web  -       1/2    web:1  24h",
        "",
        "statefulset",
        "NAME        STATUS  READY  IMAGE    AGE",
        "data/queue  -       1/1    queue:1  24h",
        "",
        "ingress",
        "NAME      STATUS  HOST          SERVICE  PORT  TLS  AGE",
        "shop/web  -       shop.example  web      80    yes  24h",
        "",
        "registry",
        "NAME  STATUS  URL                 USERNAME  AGE",
        "acme  -       registry.acme.test  -         24h",
        "",
      ].join("\n"),
    );
    expect(code).toBe(0);
  });

  test.each([
    [["get", "deployments"], { kind: "deployment" }],
    [["get", "all", "shop"], { scope: "shop" }],
    [["get", "shop"], { scope: "shop" }],
    [["get", "shop/web"], { scope: "shop", name: "web" }],
    [["get", "ingress", "shop/web"], { kind: "ingress", scope: "shop", name: "web" }],
  ])("%p asks for %p", async (argv, query) => {
    expect((await berth(...argv)).calls[0]).toMatchObject({ path: "/apply", query });
  });

  test("pods: all, of a scope, of a resource, one replica, one container", async () => {
    const names = async (...argv: string[]) =>
      JSON.parse((await berth("get", "pods", ...argv, "-o", "json")).out).data.pods.map(
        ({ name }: { name: string }) => name,
      );
    expect(await names()).toHaveLength(3);
    expect(await names("shop")).toEqual(["shop-web.a1b2c", "shop-web.d3e4f"]);
    expect(await names("shop/web")).toEqual(["shop-web.a1b2c", "shop-web.d3e4f"]);
    expect(await names("shop/web.d3e4f")).toEqual(["shop-web.d3e4f"]);
    expect(await names("data-queue.0")).toEqual(["data-queue.0"]);
  });

  test("pods show their state in words", async () => {
    expect((await berth("get", "pods", "shop")).out).toBe(
      [
        "NAME            KIND        STATE                                AGE  IMAGE",
        "shop-web.a1b2c  deployment  running, ready                       2h   web:1",
        "shop-web.d3e4f  deployment  restarting, exit code 1, 4 restarts  2h   web:1",
        "",
      ].join("\n"),
    );
  });

  test("what the server cannot bring up follows the pods, with what to type", async () => {
    const degraded = [{ kind: "deployment", scope: "shop", name: "api", reason: "ImagePull: no such image" }];
    const { out } = await cli(["get", "pods"], { server: () => ({ pods: [], degraded }) });
    expect(out).toBe(
      "no pods\n\nnot healthy:\n  deployment/shop/api  ImagePull: no such image\nsee: berth describe deployment shop/api\n",
    );
  });

  test.each([
    [["nowhere"], 'no scope "nowhere"; see: berth get all'],
    [["deploymnets"], 'no scope "deploymnets": did you mean "deployments"?'],
    [["shop/none"], 'no resource "shop/none"; see: berth get all'],
    [["deployment", "shop/none"], 'no deployment "shop/none"; see: berth get all'],
    [["pods", "shop/none"], 'no resource "shop/none"; see: berth get all'],
    [["pods", "shop/web.zzzzz"], 'no pod "shop/web.zzzzz"; see: berth get pods'],
  ])("%p is not there: an error that says what to look at", async (words, text) => {
    const asked: Server = (call) => {
      return call.query.kind === "nowhere" || call.query.kind === "deploymnets"
        ? refusal(400, "some words for people", { reason: "UnknownKind" })
        : server(call);
    };
    const { err, code } = await cli(["get", ...words], { server: asked });
    expect([err, code]).toEqual([`error: ${text}\n`, 1]);
  });

  test("an unknown kind before a reference is wrong usage", async () => {
    const server = () => refusal(400, "some words for people", { reason: "UnknownKind" });
    const { err, code } = await cli(["get", "deploymnets", "shop/web"], { server });
    expect(err).toBe('error: unknown kind "deploymnets": did you mean "deployments"?\n');
    expect(code).toBe(2);
  });

  test("a plugin's kind is asked for like any other, also alone where no scope is called so", async () => {
    const block = { kind: "postgres", scope: "data", name: "main", spec: {} };
    const server: Server = ({ query }) => (query.kind === "pg" ? [block] : []);
    for (const argv of [
      ["get", "pg", "data/main"],
      ["get", "pg"],
    ]) {
      const { out, code } = await cli(argv, { server });
      expect([out.split("\n")[1], code]).toEqual(["data/main  -       -", 0]);
    }
  });
});

describe("delete of a block", () => {
  const block = { kind: "postgres", scope: "data", name: "main", spec: {} };
  const server: Server = ({ method, path, query }) => {
    if (path === "/uses") return { uses: [] };
    if (method === "DELETE") return { pruned: none, deleted: ["statefulset/data/main", "postgres/data/main"] };
    return query.kind === "pg" ? [block] : [];
  };

  test.each([
    [["delete", "pg/data/main", "--yes"]],
    [["delete", "pg", "data/main", "--yes"]],
    [["delete", "-f", "-", "--yes"]],
  ])("%p deletes it as a block", async (argv) => {
    const stdin = "kind: pg\nscope: data\nname: main\nspec: {}\n";
    const { calls, code } = await cli(argv, { server, stdin });
    expect(did(calls)).toMatchObject([
      { method: "DELETE", path: "/apply", query: { kind: "postgres", scope: "data", name: "main" } },
    ]);
    expect(code).toBe(0);
  });
});

describe("while the engine is away", () => {
  const why = "the container engine cannot be reached: no such socket";
  const away = (...argv: string[]) =>
    cli(argv, {
      server({ path, query }: Call) {
        if (path !== "/apply") return refusal(503, why);
        return manifests.filter(({ kind, scope, name }) => {
          return (query.kind ?? kind) === kind && (query.scope ?? scope) === scope && (query.name ?? name) === name;
        });
      },
    });
  const note = `! what runs is unknown: ${why}\n`;

  test.each(["deployments", "statefulsets", "all"])("get %s shows what is stored, and ends with 0", async (word) => {
    const { code, out, err } = await away("get", word);
    expect(out).toMatch(
      /NAME +STATUS +READY +IMAGE +AGE\n(?:shop\/web|data\/queue) +unknown +unknown +(?:web|queue):1 +24h\n/,
    );
    expect([code, err]).toEqual([0, note]);
  });

  test("get of what has no containers does not ask for them", async () => {
    expect(await away("get", "registries")).toMatchObject({ code: 0, err: "" });
  });

  test.each([
    [["ps"], ["shop/web", "data/queue"]],
    [["get", "pods", "shop"], ["shop/web"]],
    [["ps", "data/queue.0"], ["data/queue"]],
    [
      ["ps", "data-queue.0"],
      ["shop/web", "data/queue"],
    ],
  ])("%p shows the resources with the reason, and ends with 1", async (argv, refs) => {
    const { code, out, err } = await away(...argv);
    expect([...(out.match(/^\w+\/\w+(?= +unknown )/gm) ?? [])]).toEqual(refs);
    expect([code, err]).toEqual([1, note]);
  });

  test("pods as JSON are the error", async () => {
    const { code, out } = await away("get", "pods", "-o", "json");
    expect([code, JSON.parse(out)]).toEqual([1, { status: "error", error: why }]);
  });
});

describe("describe", () => {
  test("finds the kinds of a name, and hides environment values", async () => {
    const { out, calls } = await berth("describe", "shop/web");
    expect(calls.filter(({ path }) => path === "/describe").map(({ query }) => query.kind)).toEqual([
      "deployment",
      "ingress",
    ]);
    expect(out).toContain("deployment/shop/web\n  revision  7\n");
    expect(out).toContain(`    TOKEN: "${digestOf("s3cret")}"`);
    expect(out).not.toContain("s3cret");
    expect((await berth("describe", "shop/web", "--reveal")).out).toContain("TOKEN: s3cret");
  });

  test("a kind and a name alone leave the scope to the server", async () => {
    const { calls } = await berth("describe", "deployments", "web");
    expect(calls[0]?.query).toEqual({ kind: "deployment", name: "web" });
  });

  test("one envelope holds one resource", async () => {
    const { out, code } = await berth("describe", "shop/web", "-o", "json");
    expect(JSON.parse(out).error).toBe('"shop/web" names deployment/shop/web and ingress/shop/web: name the kind too');
    expect(code).toBe(2);
    expect(JSON.parse((await berth("describe", "ingress", "shop/web", "-o", "json")).out).data.manifest.kind).toBe(
      "ingress",
    );
  });

  test("what is not there ends with 1 and says where to look", async () => {
    expect(await berth("describe", "shop/none")).toMatchObject({
      code: 1,
      err: 'error: nothing is called "shop/none"; see: berth get all\n',
    });
    expect(await berth("describe", "pod", "shop/none")).toMatchObject({ code: 1 });
  });

  test("tells the reason of what is failing", async () => {
    const conditions = [
      { type: "Ready", status: false, reason: "ImagePull", message: "no such image", at: "2026-01-01T23:59:00Z" },
    ];
    const status = {
      phase: "failing",
      image: "web:9",
      replicas: 2,
      ready_replicas: 0,
      updated_replicas: 0,
      frozen_replicas: 1,
      conditions,
      next_retry_at: "2026-01-02T00:00:30Z",
    };
    const { out } = await cli(["describe", "deployment", "shop/web"], {
      server: () => ({
        manifest: manifests[0],
        status,
        pods: pods.slice(0, 2),
        volumes: ["v1"],
        errors: ["stats are missing"],
      }),
    });
    for (const part of [
      "deployment/shop/web  failing",
      "  replicas  0 of 2 ready, 0 up to date, 1 frozen",
      "  reason    ImagePull: no such image",
      "  next try  in 30s",
      "Ready  no      ImagePull  60s    as above",
      "shop-web.d3e4f  deployment  restarting",
      "volumes\n  v1",
      "! stats are missing",
    ])
      expect(out).toContain(part);
  });
});

describe("delete", () => {
  test("a name: shows what goes, deletes it by one call", async () => {
    const { out, calls, code } = await berth("delete", "shop/web");
    expect(out).toBe(
      "- deployment/shop/web\n- ingress/shop/web\nconfig, files and volumes stay; --prune would wipe them\ndeleted 2 resources\n",
    );
    expect(did(calls)).toMatchObject([{ path: "/resource", query: { scope: "shop", name: "web" } }]);
    expect(code).toBe(0);
  });

  test.each([
    [["delete", "registry", "acme"], "/apply", { kind: "registry", name: "acme" }],
    [["delete", "ingress/shop/web"], "/apply", { kind: "ingress", scope: "shop", name: "web" }],
    [["delete", "data/queue.0"], "/resource", { scope: "data", name: "queue", ordinal: "0" }],
    [["delete", "data/queue.0", "--prune", "-y"], "/resource", { ordinal: "0", prune: "true" }],
  ])("%p", async (argv, path, query) => {
    const { calls, code } = await berth(...argv);
    expect(did(calls)).toMatchObject([{ method: "DELETE", path, query }]);
    expect(code).toBe(0);
  });

  test("an app goes with its route, the route first", async () => {
    const asServer = (call: Call) =>
      server(call.query.kind === "app" ? { ...call, query: { ...call.query, kind: "deployment" } } : call);
    const { out, calls } = await cli(["delete", "app", "shop/web"], { server: asServer });
    expect(out).toContain("- ingress/shop/web\n- deployment/shop/web\n");
    expect(did(calls).map(({ query }) => query.kind)).toEqual(["ingress", "deployment"]);
  });

  test("what could not be wiped ends with 1", async () => {
    expect(await berth("delete", "shop")).toMatchObject({ code: 1, err: "✗ volume v1 is in use\n" });
  });

  test("files: what they declare and is there, routes before what they lead to", async () => {
    const stdin =
      "kind: Deployment\nscope: shop\nname: web\n---\nkind: ingress\nscope: shop\nname: web\n---\nkind: job\nscope: shop\nname: gone\n";
    const { calls, out } = await cli(["delete", "-f", "-"], { server, stdin });
    expect(did(calls).map(({ query }) => query.kind)).toEqual(["ingress", "deployment"]);
    expect(out).toContain("  job/shop/gone is not there\n");
  });

  test("files of kinds that expand are expanded by a dry run", async () => {
    const stdin = "kind: app\nscope: shop\nname: web\n";
    const expanding = (call: Call) =>
      call.method === "POST" ? { applied: manifests.slice(0, 2), pruned: [], dry_run: true } : server(call);
    const { calls } = await cli(["delete", "-f", "-"], { server: expanding, stdin });
    expect(calls.find(({ method }) => method === "POST")?.query).toEqual({ dry_run: "true" });
    expect(did(calls).filter(({ method }) => method === "DELETE")).toHaveLength(2);
  });

  test("what others use is named first, and a yes deletes it", async () => {
    const use = {
      what: "deployment/shop/web",
      by: "deployment/shop/report",
      where: "URL in its config names web.shop",
    };
    const own = { ...use, by: "ingress/shop/web" };
    const used = (call: Call) => (call.path === "/uses" ? { uses: [use, own] } : server(call));
    const { code, err, calls } = await cli(["delete", "shop/web"], { server: used, typed: ["\n"] });
    expect([code, did(calls)]).toEqual([5, []]);
    expect(err).toContain(
      "warning: deployment/shop/web is used by deployment/shop/report: URL in its config names web.shop\n",
    );
    expect(err).not.toContain("ingress/shop/web");
    expect(did((await cli(["delete", "shop/web", "-y"], { server: used })).calls)).toHaveLength(1);
  });

  test.each([[["shop/none"]], [["deployment", "shop/none"]], [["none"]], [["shop/none", "--dry-run"]]])(
    "%p is not there: an error and no call",
    async (argv) => {
      const { err, calls, code } = await berth("delete", ...argv);
      expect([err, code, did(calls)]).toEqual([expect.stringContaining("see: berth get all"), 1, []]);
    },
  );

  test("files of which nothing is there are no error: they may be deleted twice", async () => {
    const stdin = "kind: job\nscope: shop\nname: gone\n";
    const { out, calls, code } = await cli(["delete", "-f", "-"], { server, stdin });
    expect([out, code, did(calls)]).toEqual(["  job/shop/gone is not there\n", 0, []]);
  });

  test("--dry-run and a no delete nothing", async () => {
    expect(did((await berth("delete", "shop/web", "--dry-run")).calls)).toEqual([]);
    const refused = await cli(["delete", "shop/web"], { server, typed: ["\n"] });
    expect([refused.code, did(refused.calls)]).toEqual([5, []]);
  });

  test.each([
    [[], "delete this?"],
    [["--prune"], "delete and wipe this for good?"],
  ])("with %p and without a terminal it needs a yes", async (flags, question) => {
    const without = { server, autoApprove: false };
    const { code, err, calls } = await cli(["delete", "shop/web", ...flags], without);
    expect([code, did(calls)]).toEqual([5, []]);
    expect(err).toBe(`error: there is no terminal to ask "${question}": add -y to answer yes; nothing was changed\n`);
    expect(did((await cli(["delete", "shop/web", "-y", ...flags], without)).calls)).toHaveLength(1);
    expect(did((await cli(["delete", "shop/web", ...flags], { server, autoApprove: true })).calls)).toHaveLength(1);
  });

  test.each([
    [["delete"], "say what to delete"],
    [["delete", "a", "b", "c"], '"c" is one word too many'],
    [["delete", "deployments"], "say which deployments"],
    [["delete", "-f", "x.yaml", "shop"], '"shop" is one word too many'],
  ])("%p is wrong usage", async (argv, text) => {
    const { code, err } = await berth(...argv);
    expect(err).toContain(text);
    expect(code).toBe(2);
  });
});

describe("config", () => {
  test("set sends all keys in one call and echoes no value", async () => {
    const { out, calls } = await cli(["config", "set", "shop/web", "A=x=y", "TOKEN=-"], { server, stdin: "s3cret\n" });
    expect(did(calls)).toMatchObject([
      { path: "/config", query: { scope: "shop", name: "web" }, body: { A: "x=y", TOKEN: "s3cret" } },
    ]);
    expect(out).toBe(
      "set A, TOKEN on shop/web\nrestarting deployment/shop/web\nthe restart goes on; follow it: berth get pods shop/web -w\n",
    );
  });

  test("set again after --no-restart says who restarts and why, and what becomes of a failed release", async () => {
    const notes = ["deployment/shop/web: release a failed and is tried again as release b"];
    const { out } = await cli(["config", "set", "shop/web", "A=1"], {
      server: () => ({ changed: [], restarting: ["deployment/shop/web"], notes }),
    });
    expect(out).toBe(
      `nothing changed on shop/web\nrestarting deployment/shop/web: it was made before the last change\nthe restart goes on; follow it: berth get pods shop/web -w\n${notes[0]}\n`,
    );
  });

  test("set --dry-run says which keys change and who would restart", async () => {
    const { out, calls } = await cli(["config", "set", "shop/web", "A=1", "--dry-run"], { server });
    expect(calls[0]?.query).toMatchObject({ dry_run: "true" });
    expect(out).toBe("would change A on shop/web\nwould restart deployment/shop/web\nnothing was changed\n");
  });

  test("the colon form, a scope alone, and --no-restart", async () => {
    const { calls } = await berth("config:set", "shop", "A=1", "--no-restart");
    expect(did(calls)).toMatchObject([{ query: { scope: "shop", restart: "false" }, body: { A: "1" } }]);
  });

  describe("set where nothing is stored", () => {
    const set = (stored: unknown, ...more: string[]) =>
      cli(["config", "set", "shop/wbe", "A=1", ...more], {
        server: ({ path }: Call) => (path === "/config" ? { changed: ["A"], restarting: [] } : stored),
      });

    test("warns, and is no error", async () => {
      const { code, out, err } = await set([]);
      expect([code, out]).toEqual([0, "set A on shop/wbe\n"]);
      expect(err).toBe("! nothing is stored under shop/wbe yet: it is kept until something is\n");
    });

    test.each([
      ["something is stored", [manifests[0]], []],
      ["nobody can say", refusal(500, "disk"), []],
      ["the answer is JSON", [], ["-o", "json"]],
    ])("says nothing where %s", async (_, stored, more) => {
      expect(await set(stored, ...more)).toMatchObject({ code: 0, err: "" });
    });
  });

  test("unset takes several keys in one call", async () => {
    expect(did((await berth("config", "unset", "shop", "A", "B")).calls)).toMatchObject([{ body: { A: "", B: "" } }]);
  });

  test("unset says which keys were not set", async () => {
    const unset = (...keys: string[]) =>
      cli(["config", "unset", "shop/web", ...keys], { server: () => ({ changed: ["EXTRA"], restarting: [] }) });
    const { code, out, err } = await unset("EXTRA", "NOPE");
    expect([code, out, err]).toEqual([0, "unset EXTRA on shop/web\n", "! not set on shop/web: NOPE\n"]);
    expect((await unset("EXTRA")).err).toBe("");
  });

  test("get prints the value alone, several as KEY=VALUE, and fails on what is not set", async () => {
    expect((await berth("config", "get", "shop/web", "TOKEN")).out).toBe("s3cret\n");
    expect((await berth("config", "get", "shop/web")).out).toBe("MODE=prod\nTOKEN=s3cret\n");
    expect((await berth("config", "get", "shop/web", "TOKEN", "MODE")).out).toBe("TOKEN=s3cret\nMODE=prod\n");
    expect((await berth("config", "get", "shop/web", "NONE")).code).toBe(1);
    expect((await berth("config", "get", "shop/web", "TOKEN", "NONE")).err).toBe("error: not set on shop/web: NONE\n");
  });

  test("list shows digests and the level, no value", async () => {
    const { out } = await berth("config", "list", "shop/web");
    expect(out).toBe(
      `KEY    DIGEST     SET ON\nMODE   ${digestOf("prod")}  shop\nTOKEN  ${digestOf("s3cret")}  shop/web\n`,
    );
  });

  test.each([
    [["config"], "say what to do"],
    [["config", "sett", "shop", "A=1"], 'unknown command "config sett": did you mean "set"?'],
    [["config", "set"], "config set needs a SCOPE"],
    [["config", "set", "shop"], "config set needs KEY=VALUE"],
    [["config", "set", "shop", "A=-", "B=-"], "A and B cannot both be -"],
    [["config", "unset", "shop", "A=hunter2"], "takes keys alone"],
    [["config", "set", "shop", "TOKEN", "hunter2"], "word 1 after shop is not KEY=VALUE"],
  ])("%p is wrong usage and repeats no secret", async (argv, text) => {
    const { code, err, calls } = await berth(...argv);
    expect(err).toContain(text);
    expect(err).not.toContain("hunter2");
    expect([code, calls]).toEqual([2, []]);
  });
});

describe("restart, stop, start", () => {
  test("restart does not block in the server: it waits for the operation", async () => {
    const { out, err, calls, code } = await berth("restart", "shop/web");
    expect(calls[0]).toMatchObject({ path: "/restart", query: { scope: "shop", name: "web", wait: "false" } });
    expect(out).toBe("restarting deployment/shop/web, no longer frozen: a1b2c\n");
    expect(err).toContain("✓ deployment/shop/web is ready");
    expect(code).toBe(0);
  });

  test("an operation that failed ends with 1 and its error", async () => {
    const failing = (call: Call) =>
      call.path === "/operations/op1" ? { state: "failed", error: "deadline passed" } : server(call);
    const { code, err } = await cli(["restart", "web", "-k", "deployments"], { server: failing });
    expect(code).toBe(1);
    expect(err).toContain("deployment/shop/web is not ready: deadline passed");
  });

  test("a failure from before the restart does not end the wait for it", async () => {
    let looks = 0;
    const crashing = (call: Call) => {
      if (call.path === "/describe")
        return { manifest: manifests[0], status: { phase: "failing", observed_revision: 7 }, pods: [] };
      if (call.path === "/operations/op1") return { state: looks++ < 2 ? "running" : "succeeded" };
      return server(call);
    };
    expect((await cli(["restart", "shop/web"], { server: crashing })).code).toBe(0);
  });

  test("--no-wait returns at once", async () => {
    expect((await berth("restart", "shop/web", "--no-wait")).calls).toHaveLength(1);
  });

  test("stop one replica, all replicas, with and without freezing", async () => {
    expect((await berth("stop", "shop/web.a1b2c")).out).toBe("stopped shop-web.a1b2c, frozen until start\n");
    const all = await berth("stop", "shop/web", "--no-freeze");
    expect(all.out).toBe("stopped shop-web.a1b2c\nstopped shop-web.d3e4f\n");
    expect(did(all.calls).map(({ query }) => query.freeze)).toEqual(["false", "false"]);
  });

  test("start of a resource leaves those that run alone, and says when all of them do", async () => {
    const { calls } = await berth("start", "shop/web");
    expect(did(calls).map(({ path }) => path)).toEqual(["/pods/shop-web.d3e4f/start"]);
    expect(did((await berth("start", "shop/web.a1b2c")).calls)).toHaveLength(1);
    expect(await berth("start", "data/queue")).toMatchObject({ code: 0, out: "nothing to start: all of it runs\n" });
  });

  test("of several pods one may be gone by now, the only one may not", async () => {
    const rolling = (call: Call) =>
      call.path === "/pods/shop-web.a1b2c/stop" ? refusal(404, "no container") : server(call);
    const { code, out } = await cli(["stop", "shop/web"], { server: rolling });
    expect([code, out]).toEqual([0, "stopped shop-web.d3e4f, frozen until start\n"]);
    expect((await cli(["stop", "shop/web.a1b2c"], { server: rolling })).code).toBe(1);
  });

  test("start of an ordinal that has to wait says so", async () => {
    const waits = { name: "data-queue.2", recreated: false, unfroze: true };
    const { out } = await cli(["start", "data/queue.2"], {
      server: (call: Call) => (call.path.endsWith("/start") ? waits : server(call)),
    });
    expect(out).toBe("data-queue.2 is no longer frozen; it starts once the replicas below it are ready\n");
  });

  test("start of a resource also starts frozen replicas whose containers are gone", async () => {
    const frozen_ids = ["10", "2", "0"];
    const stopped = (pods: unknown[]) => (call: Call) => {
      if (call.path === "/describe") return { manifest: {}, status: { frozen_ids }, pods };
      if (call.path === "/pods") return { pods, degraded: [] };
      return server(call);
    };
    const all = await cli(["start", "data/queue"], { server: stopped([]) });
    expect(did(all.calls).map(({ path }) => path)).toEqual(
      ["0", "2", "10"].map((id) => `/pods/data-queue.${id}/start`),
    );
    const here = pod("data-queue.0", { kind: "statefulset", replica_id: "0", running: false, frozen: true });
    const some = await cli(["start", "data/queue"], { server: stopped([here]) });
    expect(did(some.calls)).toHaveLength(3);
    expect(await berth("start", "data/none")).toMatchObject({
      code: 1,
      err: expect.stringContaining('no pods of "data/none"'),
    });
  });

  test("start a replica whose container is gone", async () => {
    const { out, calls } = await berth("start", "shop/web.zzzzz");
    expect(did(calls).map(({ path }) => path)).toEqual(["/pods/shop-web.zzzzz/start"]);
    expect(out).toBe("starting a new shop-web.zzzzz, no longer frozen\n");
  });

  test("-o json: one pod is the API's envelope, several are a list", async () => {
    const one = JSON.parse((await berth("stop", "shop/web.a1b2c", "-o", "json")).out);
    expect(one).toEqual({ status: "ok", data: { name: "shop-web.a1b2c", freeze: true } });
    const two = JSON.parse((await berth("stop", "shop/web", "-o", "json")).out);
    expect(two.data.pods).toHaveLength(2);
  });

  test("a whole scope is refused, nothing is stopped", async () => {
    const { code, err, calls } = await berth("stop", "shop");
    expect([code, did(calls)]).toEqual([2, []]);
    expect(err).toContain('"shop" names a whole scope');
  });
});

test("events: a line each, filters passed on", async () => {
  const event = {
    seq: 4,
    at: "2026-01-02T03:04:05.6Z",
    actor: "ana@laptop",
    action: "config.set",
    kind: "deployment",
    scope: "shop",
    name: "web",
    detail: { keys: ["A"] },
  };
  const { out, calls } = await cli(["events", "shop/web", "-n", "5"], { server: () => ({ events: [event] }) });
  expect(out).toBe(
    [
      "TIME                  WHO         WHAT        ON                   DETAIL",
      "2026-01-02 03:04:05Z  ana@laptop  config.set  deployment/shop/web  keys=A",
      "",
    ].join("\n"),
  );
  expect(calls[0]?.query).toEqual({ scope: "shop", name: "web", limit: "5" });
});
