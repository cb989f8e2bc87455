import { readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { type Call, cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const own: Record<string, string> = { MODE: "prod", TOKEN: "s3 cret" };

function server({ method, query, body }: Call): unknown {
  if (method === "POST") return { changed: Object.keys(body as object), restarting: ["deployment/shop/web"] };
  return { vars: query.merge === "true" ? { ...own, REGION: "eu" } : own };
}

const env = (cwd: string, ...words: string[]) => cli(["env", ...words], { server, cwd });
const sent = (calls: Call[]) => calls.filter(({ method }) => method === "POST");

describe("env pull", () => {
  test("writes what is set on the app to .env, for nobody else to read", async () => {
    using at = folder({});
    const { out, code } = await env(at.path, "pull", "shop/web");
    expect([out, code]).toEqual(["wrote 2 variables to .env\n", 0]);
    expect(readFileSync(join(at.path, ".env"), "utf8")).toBe("# config of shop/web\nMODE=prod\nTOKEN='s3 cret'\n");
    expect(statSync(join(at.path, ".env")).mode & 0o777).toBe(0o600);
  });

  test("--merged writes the config of the scope too; - is stdout", async () => {
    const { out } = await env("/", "pull", "shop/web", "-", "--merged");
    expect(out).toBe("# config of shop/web\nMODE=prod\nREGION=eu\nTOKEN='s3 cret'\n");
  });

  test("asks before it writes over a file, and shows no value", async () => {
    using at = folder({ ".env": "MODE=test\nOLD=1\n" });
    const refused = await env(at.path, "pull", "shop/web");
    expect(refused.code).toBe(5);
    expect(refused.err).toStartWith("+ TOKEN\n~ MODE\n- OLD\n");
    expect(refused.err).not.toContain("s3");
    expect(readFileSync(join(at.path, ".env"), "utf8")).toBe("MODE=test\nOLD=1\n");
    const yes = await cli(["env", "pull", "shop/web"], { server, cwd: at.path, typed: ["y"] });
    expect(yes.code).toBe(0);
    expect(readFileSync(join(at.path, ".env"), "utf8")).toContain("MODE=prod");
  });

  test("a file with the same variables stays, and becomes private", async () => {
    using at = folder({ ".env": "# mine\nTOKEN='s3 cret'\nMODE=prod\n" });
    const { out, code } = await env(at.path, "pull", "shop/web");
    expect([out, code]).toEqual([".env has the same 2 variables\n", 0]);
    expect(readFileSync(join(at.path, ".env"), "utf8")).toStartWith("# mine");
    expect(statSync(join(at.path, ".env")).mode & 0o777).toBe(0o600);
  });

  test("a link stays a link", async () => {
    using at = folder({ "real.env": "" });
    symlinkSync("real.env", join(at.path, ".env"));
    expect((await env(at.path, "pull", "shop/web", "-y")).code).toBe(0);
    expect(readFileSync(join(at.path, "real.env"), "utf8")).toContain("MODE=prod");
  });

  test("a name that nothing has is an error; an app without config gets an empty file", async () => {
    using at = folder({});
    const empty = (found: object[]) => (call: Call) => (call.path === "/config" ? { vars: {} } : found);
    const mistyped = await cli(["env", "pull", "shop/wbe"], { server: empty([]), cwd: at.path });
    expect(mistyped).toMatchObject({ code: 1, err: expect.stringContaining('no resource "shop/wbe"') });
    const app = { kind: "deployment", scope: "shop", name: "web", spec: {} };
    const none = await cli(["env", "pull", "shop/web"], { server: empty([app]), cwd: at.path });
    expect(none).toMatchObject({ code: 0, err: "! nothing is set on shop/web\n" });
  });

  test("a place that cannot be written is named", async () => {
    using at = folder({});
    expect((await env(at.path, "pull", "shop/web", "none/.env")).err).toStartWith('error: cannot write "none/.env"');
    expect((await env(at.path, "pull", "shop/web", ".")).err).toBe('error: "." is not a file: name another place\n');
  });
});

describe("env push", () => {
  test("makes the config equal to the file in one call", async () => {
    using at = folder({ ".env": "MODE=test\nNEW=1\n" });
    const { out, err, calls } = await env(at.path, "push", "shop/web", "-y");
    expect(err).toBe("+ NEW\n~ MODE\n- TOKEN\n");
    expect(out).toBe(
      "changed 3 keys of shop/web\nrestarting deployment/shop/web\nthe restart goes on; follow it: berth get pods shop/web -w\n",
    );
    expect(sent(calls)).toMatchObject([
      { query: { scope: "shop", name: "web" }, body: { NEW: "1", MODE: "test", TOKEN: "" } },
    ]);
  });

  test("compares with what is set on the app itself, not with the scope's", async () => {
    using at = folder({ ".env": "MODE=prod\nTOKEN='s3 cret'\n" });
    const { out, calls } = await env(at.path, "push", "shop/web");
    expect(out).toBe("shop/web has all of .env already\n");
    expect(sent(calls)).toEqual([]);
  });

  test("does nothing without a yes", async () => {
    using at = folder({ ".env": "MODE=test\n" });
    const { code, err, calls } = await env(at.path, "push", "shop/web");
    expect(code).toBe(5);
    expect(err).toContain('"Change 2 keys of shop/web, 1 of them unset?"');
    expect(sent(calls)).toEqual([]);
  });

  test("KEY= is the empty string, and a key that the file does not have is unset", async () => {
    using at = folder({ ".env": "MODE=\nALSO=''\n" });
    const { calls } = await env(at.path, "push", "shop/web", "-y", "--no-restart");
    expect(sent(calls)).toMatchObject([
      { query: { restart: "false", empty: "ALSO,MODE" }, body: { ALSO: "", MODE: "", TOKEN: "" } },
    ]);
  });

  test("a fault of the file is shown at its place, and nothing is sent", async () => {
    using at = folder({ ".env": "MODE=test\nnot a variable\n" });
    const { code, err, calls } = await env(at.path, "push", "shop/web", "-y");
    expect(code).toBe(1);
    expect(err).toStartWith(".env:2:1: not a variable: write KEY=VALUE\n");
    expect(calls).toEqual([]);
  });
});

describe("env import", () => {
  test("keeps every other key, and asks only before it replaces a value", async () => {
    using at = folder({ "prod.env": "NEW=1\n" });
    const added = await env(at.path, "import", "shop/web", "prod.env");
    expect(sent(added.calls)).toMatchObject([{ body: { NEW: "1" } }]);
    writeFileSync(join(at.path, "prod.env"), "MODE=test\n");
    const refused = await env(at.path, "import", "shop/web", "prod.env");
    expect([refused.code, sent(refused.calls)]).toEqual([5, []]);
    const yes = await env(at.path, "import", "shop/web", "prod.env", "-y");
    expect(sent(yes.calls)).toMatchObject([{ body: { MODE: "test" } }]);
  });

  test("reads stdin", async () => {
    const { calls } = await cli(["env", "import", "shop", "-"], { server, stdin: "export NEW=1\n" });
    expect(sent(calls)).toMatchObject([{ query: { scope: "shop" }, body: { NEW: "1" } }]);
  });

  test("-o json is the answer of the server", async () => {
    const { out } = await cli(["env", "import", "shop", "-", "-o", "json"], { server, stdin: "NEW=1\n" });
    expect(JSON.parse(out)).toMatchObject({ status: "ok", data: { changed: ["NEW"] } });
  });
});

test.each([
  [["env"], "say what to do: env pull, env push or env import"],
  [["env", "psuh", "shop"], 'unknown command "env psuh": did you mean "push"?'],
  [["env", "pull"], "env pull needs a SCOPE or SCOPE/NAME"],
  [["env", "pull", "shop", ".env", "more"], '"more" is one word too many'],
])("%p is wrong usage", async (argv, text) => {
  const { code, err } = await cli(argv, { server });
  expect([code, err]).toEqual([2, expect.stringContaining(text)]);
});
