import { describe, expect, test } from "bun:test";
import { type Call, cli, refusal, type Scene } from "../../../../support/cli.ts";

const digest = "ab".repeat(32);
const permissions = { actions: ["config_set", "run_job"], scopes: ["data"], docker: true };

const fields = {
  name: "pg",
  version: "1.2",
  description: "databases",
  homepage: "",
  aliases: [],
  kinds: ["pg"],
  commands: [{ name: "psql" }],
  env: {},
  source: "ana/pg",
};

/** What came in; `change` overrides. */
const plugin = (change: Record<string, unknown> = {}) => ({
  ...fields,
  origin: "installed",
  enabled: true,
  installed_at: "2026-01-01T00:00:00.000Z",
  permissions,
  full_grant: false,
  warnings: [],
  ...change,
});

const preview = (change: Record<string, unknown> = {}) => ({
  ...fields,
  preview: true,
  commit: "c0ffee",
  digest,
  grant: permissions,
  full_grant: false,
  hooks: ["install"],
  warnings: [],
  ...change,
});

interface Script extends Scene {
  shown?: unknown;
  result?: unknown;
  /** Answers to an update without a grant. */
  refused?: unknown;
}

/** A server that answers previews with `shown` and everything else with `result`. */
function play(argv: string[], { shown = preview(), result = plugin(), refused, ...scene }: Script = {}) {
  const server = ({ method, path, body }: Call) => {
    if (method === "GET") return { plugins: [plugin({ version: "1.1" })], errors: [] };
    const asked = (body ?? {}) as Record<string, unknown>;
    if (asked.preview === true) return shown;
    return path.endsWith("/update") && asked.grant === undefined ? (refused ?? result) : result;
  };
  return cli(["plugins", ...argv], { server, ...scene });
}

const bodies = (calls: Call[]) => calls.filter(({ method }) => method === "POST").map(({ body }) => body);

describe("plugins install on a terminal", () => {
  test("shows what would come in, asks, and installs what was shown", async () => {
    const { code, out, err, calls } = await play(["install", "ana/pg", "--version", "1.2"], { typed: ["y"] });
    expect(code).toBe(0);
    expect(bodies(calls)).toEqual([
      { source: "ana/pg", version: "1.2", preview: true },
      { source: "ana/pg", version: "1.2", expect: digest },
    ]);
    expect(out).toBe("installed pg 1.2\n");
    expect(err).toBe(
      [
        "pg  databases",
        "  version   1.2",
        "  source    ana/pg",
        "  commit    c0ffee",
        `  sha256    ${digest}`,
        "  may       config_set, run_job; in data; uses the container engine",
        "  runs as   the user of the server, root mostly: a plugin with access to the engine can do everything",
        "  runs now  its install hook",
        "",
        "Install it? [y/N]   it may config_set, run_job; in data; uses the container engine",
        "",
      ].join("\n"),
    );
  });

  test.each([[["n"]], [[""]], [["yeah"]], [[]]])("%p installs nothing and ends with 5", async (typed) => {
    const { code, out, err, calls } = await play(["install", "ana/pg"], { typed });
    expect([code, out, bodies(calls)]).toEqual([5, "", [{ source: "ana/pg", preview: true }]]);
    expect(err).toContain("error: nothing was changed\n");
  });

  test("says that it asks for everything, what it replaces, what is new, and that nothing runs", async () => {
    const shown = preview({
      full_grant: true,
      more: ["exec_local", "scope web"],
      replaces: { version: "", origin: "bundled" },
      hooks: [],
      description: "",
    });
    const { err } = await play(["install", "ana/pg"], { typed: ["n"], shown });
    expect(err).toMatch(/^pg\n/);
    expect(err).toContain("may       do everything (its plugin.yml asks for no permissions)\n");
    expect(err).toContain("new       exec_local, scope web\n");
    expect(err).toContain("replaces  version unknown (bundled)\n");
    expect(err).toContain("runs now  nothing\n");
  });

  test("warns in yellow before it asks, and not again afterwards", async () => {
    const warnings = ["pg_linux_amd64 is taken as it came"];
    const result = plugin({ warnings: [...warnings, "late news"] });
    const scene = { typed: ["y"], color: true, shown: preview({ warnings }), result };
    const { err } = await play(["install", "ana/pg"], scene);
    const yellow = "\u001b[33mwarning:\u001b[39m";
    expect(err.indexOf(`${yellow} pg_linux_amd64 is taken as it came\n`)).toBeLessThan(err.indexOf("Install it?"));
    expect(err.match(/is taken as it came/g)).toHaveLength(1);
    expect(err).toEndWith(`${yellow} late news\n`);
  });

  test("cannot be driven by what a package says", async () => {
    const evil = "x\u001b[2J\nInstall it? [y/N] y";
    const shown = preview({ description: evil, version: evil, hooks: [evil], warnings: [evil], more: [evil] });
    const { err } = await play(["install", "ana/pg"], { typed: ["n"], shown });
    expect(err).not.toContain("\u001b");
    expect(err.match(/^Install it\?/gm)).toHaveLength(1);
  });

  test("asks about a link as such", async () => {
    const { err, out, calls } = await play(["install", "/dev/pg", "--link"], { typed: ["yes"] });
    expect([out, err]).toEqual(["linked pg 1.2\n", expect.stringContaining("Link it? [y/N]")]);
    expect(bodies(calls)[1]).toEqual({ source: "/dev/pg", link: true, expect: digest });
  });

  test("tells what the server says of a package that was swapped, and of one that cannot come in", async () => {
    const swapped = await play(["install", "ana/pg"], { typed: ["y"], result: refusal(409, "is not what was shown") });
    expect(swapped).toMatchObject({ code: 1, err: expect.stringContaining("error: is not what was shown\n") });
    const broken = await play(["install", "ana/pg"], { typed: ["y"], shown: refusal(400, "no such release") });
    expect(broken).toMatchObject({ code: 1, err: "error: no such release\n" });
    expect(bodies(broken.calls)).toHaveLength(1);
  });

  test("says so where an older server has installed it already", async () => {
    const { code, out, err, calls } = await play(["install", "ana/pg"], { typed: ["n"], shown: plugin() });
    expect([code, out, bodies(calls).length]).toEqual([0, "installed pg 1.2\n", 1]);
    expect(err).toContain("warning: the server is older than this client");
  });

  test("keeps stdout for the answer with -o json, and asks on stderr", async () => {
    const { code, out, err } = await play(["install", "ana/pg", "-o", "json"], { typed: ["y"] });
    expect([code, JSON.parse(out)]).toEqual([0, { status: "ok", data: plugin() }]);
    expect(err).toContain("Install it? [y/N]");
    const no = await play(["install", "ana/pg", "-o", "json"], { typed: ["n"] });
    expect([no.code, JSON.parse(no.out)]).toEqual([5, { status: "error", error: "nothing was changed" }]);
  });
});

describe("plugins install without a question", () => {
  test.each([
    ["-y on a terminal", ["-y"], { typed: [] }],
    ["--yes on a terminal", ["--yes"], { typed: [] }],
    ["no terminal", [], {}],
    ["no terminal, with --yes", ["--yes"], {}],
  ])("%s installs at once, tells the grant and warns", async (_, flags, scene) => {
    const result = plugin({ warnings: ["taken as it came"] });
    const { code, out, err, calls } = await play(["install", "ana/pg", ...flags], { ...scene, result });
    expect([code, out, bodies(calls)]).toEqual([0, "installed pg 1.2\n", [{ source: "ana/pg" }]]);
    expect(err).toBe("  it may config_set, run_job; in data; uses the container engine\nwarning: taken as it came\n");
  });

  test("with -o json is the answer alone, warnings in it", async () => {
    const result = plugin({ warnings: ["taken as it came"] });
    const { out, err } = await play(["install", "ana/pg", "-o", "json"], { result });
    expect([JSON.parse(out), err]).toEqual([{ status: "ok", data: result }, ""]);
  });

  test("takes the answer of a server that knows no warnings", async () => {
    const { warnings: _, ...old } = plugin();
    expect(await play(["install", "ana/pg"], { result: old })).toMatchObject({ code: 0, out: "installed pg 1.2\n" });
  });
});

describe("progress of an install", () => {
  const stream = (...lines: unknown[]) =>
    new Response(lines.map((line) => `${JSON.stringify(line)}\n`).join(""), {
      headers: { "Content-Type": "application/x-ndjson" },
    });

  test("is shown as it comes where stderr is a terminal", async () => {
    const lines = [
      { type: "progress", text: "making\u001b[2J ready" },
      { type: "result", code: 200, status: "ok", data: plugin() },
    ];
    const { code, out, err } = await play(["install", "ana/pg"], { live: true, result: stream(...lines) });
    expect([code, out]).toEqual([0, "installed pg 1.2\n"]);
    expect(err).toStartWith("making [2J ready\n");
  });

  test("ends with what failed, or says where to look when it breaks off", async () => {
    const failed = { type: "result", code: 400, status: "error", error: "the hook failed" };
    const scene = { live: true, result: stream({ type: "progress", text: "x" }, failed) };
    expect(await play(["install", "ana/pg"], scene)).toMatchObject({ code: 1, err: "x\nerror: the hook failed\n" });
    const cut = await play(["install", "ana/pg"], { live: true, result: stream({ type: "progress", text: "x" }) });
    expect(cut).toMatchObject({ code: 1, err: expect.stringContaining("berth plugins list") });
  });

  test("is asked for on a terminal alone", async () => {
    const asked: (string | undefined)[] = [];
    const server = () => plugin();
    for (const scene of [{}, { live: true }, { typed: [] as string[] }]) {
      for (const flags of [[], ["-o", "json"]]) {
        const argv = ["plugins", "install", "ana/pg", "-y", ...flags];
        const { calls } = await cli(argv, { server, ...scene });
        asked.push(calls[0]?.accept);
      }
    }
    const wanted = "application/x-ndjson";
    expect(asked).toEqual([undefined, undefined, wanted, undefined, wanted, undefined]);
  });
});

describe("plugins update of what wants more", () => {
  const more = { shown: preview({ more: ["run_job"], hooks: [] }), refused: refusal(403, "1.2 wants more: run_job") };
  const accepted = { expect: digest, grant: permissions };

  test("shows the difference, asks, and passes the grant on", async () => {
    const { code, out, err, calls } = await play(["update", "pg", "--version", "1.2"], { ...more, typed: ["y"] });
    expect([code, out]).toEqual([0, "updated from 1.1 to pg 1.2\n"]);
    expect(bodies(calls)).toEqual([undefined, { preview: true }, accepted]);
    expect(calls.slice(1).map(({ query }) => query)).toEqual(Array(3).fill({ version: "1.2" }));
    expect(err).toContain("  new       run_job\n");
    expect(err).toContain("Grant that and update it? [y/N]");
  });

  test("changes nothing on a no", async () => {
    const { code, calls, err } = await play(["update", "pg"], { ...more, typed: ["n"] });
    expect([code, bodies(calls)]).toEqual([5, [undefined, { preview: true }]]);
    expect(err).toContain("error: nothing was changed\n");
  });

  test("is refused without a terminal, and comes in with --yes", async () => {
    const { code, calls, err } = await play(["update", "pg"], more);
    expect([code, bodies(calls), err]).toEqual([1, [undefined], "error: 1.2 wants more: run_job\n"]);
    const yes = await play(["update", "pg", "--yes"], more);
    expect([yes.code, bodies(yes.calls)]).toEqual([0, [undefined, { preview: true }, accepted]]);
    expect(yes.err).not.toContain("[y/N]");
  });

  test("of all asks about each; a no keeps no other from it", async () => {
    const { code, err, out } = await play(["update"], { ...more, typed: ["n"] });
    expect([code, out]).toEqual([1, ""]);
    expect(err).toEndWith("✗ pg: nothing was changed\n");
  });

  test("tells another refusal as it is", async () => {
    const { code, err, calls } = await play(["update", "pg"], { ...more, shown: preview({ more: [] }), typed: ["y"] });
    expect([code, err, bodies(calls).length]).toEqual([1, "error: 1.2 wants more: run_job\n", 2]);
  });

  test("asks nothing where nothing more is wanted", async () => {
    const { code, calls, err } = await play(["update", "pg"], { typed: [] });
    expect([code, bodies(calls)]).toEqual([0, [undefined]]);
    expect(err).not.toContain("[y/N]");
  });
});
