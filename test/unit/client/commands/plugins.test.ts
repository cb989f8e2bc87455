import { describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { type Call, cli, refusal, type Scene } from "../../../support/cli.ts";

/** A plugin as the server tells about it; `change` overrides. */
function plugin(name: string, change: Record<string, unknown> = {}) {
  return {
    name,
    version: "1.2",
    description: `about ${name}`,
    homepage: "",
    aliases: [],
    kinds: [name],
    commands: [
      { name: "hello", help: "says hello" },
      { name: "wipe", destructive: true },
    ],
    env: {},
    origin: "installed",
    enabled: true,
    source: `ana/${name}`,
    installed_at: "2026-01-01T00:00:00.000Z",
    permissions: { actions: ["run_job"], scopes: ["data"], docker: false },
    full_grant: false,
    ...change,
  };
}

const list = [
  plugin("pg", { aliases: ["db"] }),
  plugin("redis", { origin: "bundled", source: undefined, enabled: false }),
];

function server(call: Call) {
  const { method, path } = call;
  if (method === "GET" && path === "/plugins") return { plugins: list, errors: ["odd: plugin.yml line 1"] };
  if (path === "/plugins/runs") return { runs: [] };
  if (path === "/plugins/install") return plugin("pg");
  if (method === "DELETE") return { name: "pg", removed: true };
  return plugin("pg");
}

const play = (argv: string[], scene: Scene = {}) => cli(["plugins", ...argv], { server, ...scene });
const sent = (calls: Call[]) => calls.map(({ method, path, query, body }) => [method, path, query, body]);

describe("plugins list", () => {
  test("shows what is there, and what cannot be used", async () => {
    for (const argv of [[], ["list"]]) {
      const { out, err, code } = await play(argv);
      expect(out).toMatch(/^pg +1\.2 +db +installed +ana\/pg +about pg$/m);
      expect(out).toMatch(/^redis +1\.2 +- +bundled, disabled +- +about redis$/m);
      expect([err, code]).toEqual(["✗ odd: plugin.yml line 1\n", 0]);
    }
    expect((await play([], { server: () => ({ plugins: [], errors: [] }) })).out).toBe("no plugins\n");
  });
});

describe("plugins info", () => {
  test("tells where it came from, what it may do and its commands", async () => {
    const { out } = await play(["info", "pg"]);
    expect(out).toContain("source     ana/pg");
    expect(out).toContain("run_job; in data; does not use the container engine");
    expect(out).toContain("pg:hello  says hello");
    expect(out).toContain("pg:wipe   (asks first)");
    const all = await play(["info", "pg"], { server: () => plugin("pg", { full_grant: true }) });
    expect(all.out).toContain("do everything (its plugin.yml asks for no permissions)");
    const permissions = { actions: [], scopes: ["data"], docker: false, root: false, backup: true };
    const dumps = await play(["info", "pg"], { server: () => plugin("pg", { permissions }) });
    expect(dumps.out).toContain("does not use the container engine; backs up its blocks by commands in their pods");
  });
});

describe("plugins install", () => {
  test.each([
    [["ana/pg"], { source: "ana/pg" }],
    [["ana/pg", "--version", "1.2"], { source: "ana/pg", version: "1.2" }],
    [["https://x.example/a.git", "--replace"], { source: "https://x.example/a.git", replace: true }],
    [["/abs", "--link"], { source: "/abs", link: true }],
    [["./here"], { source: "/work/here" }],
    [["../up"], { source: "/up" }],
  ])("%p sends the source as the server sees it", async (argv, body) => {
    const { calls, out, err } = await play(["install", ...argv], { cwd: "/work" });
    expect(sent(calls)).toEqual([["POST", "/plugins/install", {}, body]]);
    expect(out).toBe(argv.includes("--link") ? "linked pg 1.2\n" : "installed pg 1.2\n");
    expect(err).toBe("  it may run_job; in data; does not use the container engine\n");
  });

  test("takes a word that names a folder here as that", async () => {
    const cwd = mkdtempSync(`${tmpdir()}/berth-cwd-`);
    Bun.spawnSync(["mkdir", "-p", `${cwd}/ana/pg`]);
    const { calls } = await play(["install", "ana/pg"], { cwd });
    expect(calls[0]?.body).toEqual({ source: `${cwd}/ana/pg` });
    rmSync(cwd, { recursive: true });
  });

  test.each([[["install"]], [["install", "a", "b"]], [["install", "one two"]], [["instal", "x"]], [["info"]]])(
    "%p is wrong usage, and nothing is asked",
    async (argv) => {
      const { code, calls } = await play(argv);
      expect([code, calls]).toEqual([2, []]);
    },
  );
});

describe("plugins update", () => {
  test("of all leaves out what is not installed, and one that fails keeps no other from it", async () => {
    const many = [plugin("a"), plugin("b"), plugin("c", { origin: "linked" })];
    const { code, calls, out, err } = await play(["update"], {
      server: ({ path }) => {
        if (path === "/plugins") return { plugins: many, errors: [] };
        return path === "/plugins/a/update" ? refusal(403, "wants more") : plugin("b", { version: "2" });
      },
    });
    expect(calls.map(({ path }) => path)).toEqual(["/plugins", "/plugins/a/update", "/plugins/b/update"]);
    expect([code, out]).toEqual([1, "updated from 1.2 to b 2\n"]);
    expect(err).toContain("✗ a: wants more\n");
  });

  test("of one takes a version; without news it says so", async () => {
    const { calls, out } = await play(["update", "db", "--version", "1.2"]);
    expect(sent(calls)[1]).toEqual(["POST", "/plugins/db/update", { version: "1.2" }, undefined]);
    expect(out).toBe("already the newest: pg 1.2\n");
    expect((await play(["update", "--version", "1"])).code).toBe(2);
  });
});

describe("the rest", () => {
  test.each([
    ["rollback", "rolled back to pg 1.2\n"],
    ["enable", "enabled pg 1.2\n"],
    ["disable", "disabled pg 1.2\n"],
  ])("plugins %s asks the server for it", async (verb, out) => {
    const outcome = await play([verb, "pg"]);
    expect([sent(outcome.calls), outcome.out]).toEqual([[["POST", `/plugins/pg/${verb}`, {}, undefined]], out]);
  });

  describe("plugins accept", () => {
    const changes = {
      ...{ name: "pg", version: "1.2", digest: "d".repeat(64), left: 3 },
      files: [
        {
          path: "bin/a\u001b[31m",
          change: "changed",
          size: 9,
          sha256: "e".repeat(64),
          diff: ["@@ line 1", "-a", "+\u001b]0;x"],
        },
        { path: "bin/b", change: "added", size: 9, sha256: "f".repeat(64) },
        { path: "lib/c", change: "removed", diff: ["@@ line 1", "-c"], left: 4 },
      ],
    };
    const serving = (seen: unknown) => (call: Call) => (call.path === "/plugins/pg/changes" ? seen : plugin("pg"));
    const accept = (seen: unknown, scene: Scene, ...more: string[]) =>
      play(["accept", "pg", ...more], { server: serving(seen), ...scene });

    test("shows what was changed, asks, and names the digest of what it showed", async () => {
      const yes = await accept(changes, { typed: ["y"] });
      expect(yes).toMatchObject({ code: 0, out: "accepted the changes of pg 1.2\n" });
      expect(sent(yes.calls)).toEqual([
        ["GET", "/plugins/pg/changes", {}, undefined],
        ["POST", "/plugins/pg/accept", {}, { expect: changes.digest }],
      ]);
      for (const text of ["changed bin/a [31m", "    + ]0;x", "added bin/b (9 bytes", "no text to compare"]) {
        expect(yes.err).toContain(text);
      }
      expect(yes.err).toContain("and 4 more lines");
      expect(yes.err).toContain("and 3 more changed files");
      expect(yes.err).not.toContain("runs as");
      expect(yes.err).not.toMatch(/\u001b\]|\u001b\[31m\n/);
      const no = await accept(changes, { typed: ["n"] });
      expect([no.code, no.calls.length]).toEqual([5, 1]);
    });

    test("of a changed plugin.yml shows the grant as an install does", async () => {
      const grant = { actions: ["run_job"], scopes: ["data"], docker: true, root: false, server_env: ["S3_KEY"] };
      const { err } = await accept({ ...changes, grant, full_grant: false, more: ["docker"] }, { typed: ["y"] });
      expect(err).toMatch(/may +run_job; in data; uses the container engine; reads S3_KEY of the server's environment/);
      expect(err).toMatch(/new +docker/);
      expect(err).toMatch(/runs as +the user of the server/);
    });

    test("asks nothing where nothing was changed, and needs -y without a terminal", async () => {
      const none = await accept({ ...changes, files: [], left: 0 }, {});
      expect(none).toMatchObject({ code: 0, out: "nothing was changed in pg\n" });
      expect((await accept(changes, {})).code).toBe(5);
      const blind = await accept(changes, {}, "-y");
      expect([blind.code, blind.calls.length]).toEqual([0, 2]);
      expect(blind.err).toContain("added bin/b");
    });
  });

  describe("plugins config", () => {
    const vars = { A: "********", B: "********" };
    const config = (...argv: string[]) => {
      const serving = ({ method }: Call) =>
        method === "GET" ? { plugin: "pg", vars } : { plugin: "pg", changed: ["A"] };
      return play(["config", "pg", ...argv], { server: serving });
    };
    const body = (outcome: { calls: Call[] }) => outcome.calls.map((call) => [call.method, call.path, call.body]);

    test("shows the keys", async () => {
      expect((await config()).out).toMatch(/^KEY +VALUE\nA +\*+\nB +\*+\n$/);
      const none = await play(["config", "pg"], { server: () => ({ plugin: "pg", vars: {} }) });
      expect(none.out).toBe("nothing is set for pg\n");
    });

    test("sets and unsets in one call", async () => {
      const outcome = await config("A=1=2", "--unset", "B", "--unset", "C");
      expect(body(outcome)).toEqual([["POST", "/plugins/pg/config", { vars: { A: "1=2", B: "", C: "" } }]]);
      expect(outcome.out).toBe("changed A for pg; its next run has it\n");
    });

    test("refuses words that are no pairs without repeating them", async () => {
      for (const argv of [["secret"], ["=x"], ["A=1", "--unset", "A"], ["--unset", "A=1"]]) {
        const { code, err, calls } = await config(...argv);
        expect([code, calls.length]).toEqual([2, 0]);
        expect(err).not.toContain("secret");
      }
    });
  });

  test("plugins remove asks on a terminal, and not with -y", async () => {
    expect((await play(["remove", "pg"], { typed: ["n"] })).code).toBe(5);
    expect(await play(["remove", "pg"], { typed: ["y"] })).toMatchObject({ code: 0, out: "removed pg\n" });
    expect((await play(["remove", "pg", "-y"], { typed: [] })).code).toBe(0);
    const gone = (call: Call) => (call.method === "DELETE" ? { name: "pg", removed: false } : server(call));
    const none = await play(["remove", "pg"], { server: gone, autoApprove: true });
    expect([none.code, none.err]).toEqual([1, 'error: no plugin "pg" is installed; see: berth plugins\n']);
  });

  test("plugins runs shows how they ended", async () => {
    const run = {
      run_id: "r1",
      plugin: "pg",
      version: "1.2",
      command: "backup",
      args: ["d/m"],
      actor: "ana@laptop",
      status: "failed",
      started_at: "2026-01-01T23:00:00.000Z",
      error: "disk full",
      applied: [],
      tail: ["x"],
    };
    const { out, calls } = await play(["runs", "pg", "-n", "5"], { server: () => ({ runs: [run] }) });
    expect(calls[0]?.query).toEqual({ plugin: "pg", limit: "5" });
    expect(out).toMatch(/^r1 +pg +backup d\/m +failed +60m +ana@laptop +disk full$/m);
    expect((await play(["runs"])).out).toBe("no runs yet\n");
  });
});
