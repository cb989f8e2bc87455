import { describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Answer, type Call, cli, refusal, type Scene } from "../../../support/cli.ts";

const postgres = {
  name: "postgres",
  version: "1.2",
  description: "databases",
  homepage: "",
  aliases: ["pg"],
  kinds: ["postgres", "pg"],
  commands: [
    { name: "expand" },
    { name: "psql", help: "opens a session" },
    { name: "promote", help: "makes a replica the primary", destructive: true, long: true, timeout: "5m" },
    { name: "backups:capture", help: "makes a backup" },
  ],
  env: {},
  origin: "bundled",
  enabled: true,
  permissions: { actions: [], scopes: ["*"], docker: true },
  full_grant: true,
};

/** Of an answer that leaves nothing for the client to do. */
const nothingLocal = { exec_local: [], fetch_file: [] };

interface Script extends Scene {
  /** `data` of the dispatch. */
  result?: unknown;
  plugins?: unknown[];
  /** What comes for a file that is fetched. */
  file?: () => unknown;
}

/** A server with the postgres plugin; on this machine when the endpoint is a socket. */
function play(argv: string[], { result, plugins = [postgres], file, ...scene }: Script = {}) {
  const server = (call: Call) => {
    if (call.path === "/plugins") return { plugins, errors: [] };
    if (call.path === "/system")
      return { root: "/no/such/root", installation: "i", engine: { host: "unix:///d.sock" } };
    if (call.path.startsWith("/plugins/runs/")) return file?.();
    if (call.path.startsWith("/plugin/"))
      return result ?? { message: "done", applied: [], ...nothingLocal, run_id: "r" };
    return undefined;
  };
  return cli(argv, { server, ...scene });
}

const dispatched = (calls: Call[]) => calls.filter(({ path }) => path.startsWith("/plugin/"));

describe("a command of a plugin", () => {
  test.each([
    [["pg:psql", "data/main"], "/plugin/pg/psql", ["data/main"]],
    [["pg", "psql", "data/main", "-c", "select 1"], "/plugin/pg/psql", ["data/main", "-c", "select 1"]],
    [["pg:backups:capture", "d/m", "--", "-x"], "/plugin/pg/backups%3Acapture", ["d/m", "--", "-x"]],
    [["postgres", "psql", "-h", "--yes", "pg:psql"], "/plugin/postgres/psql", ["-h", "--yes", "pg:psql"]],
    [["--endpoint", "http://127.0.0.1:9", "pg:psql"], "/plugin/pg/psql", []],
  ])("%p gets the operator's words as they are", async (argv, path, args) => {
    const { code, out, calls } = await play(argv);
    expect([code, out]).toEqual([0, "done\n"]);
    expect(dispatched(calls)).toMatchObject([{ method: "POST", path, body: { args } }]);
  });

  test("shows what was done, and its progress on stderr", async () => {
    const lines = [
      { type: "progress", text: "one" },
      { type: "progress", text: "two\u001b[2J" },
      {
        type: "result",
        code: 200,
        status: "ok",
        data: { message: "m", applied: ["run_job a/b"], ...nothingLocal, run_id: "r" },
      },
    ];
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    const result = new Response(body, { headers: { "Content-Type": "application/x-ndjson" } });
    const { code, out, err } = await play(["pg:psql"], { result });
    expect([code, out]).toEqual([0, "m\n"]);
    expect(err).toBe("one\ntwo [2J\n✓ run_job a/b\n");
  });

  test("fails as the server says, also in the middle of its progress", async () => {
    expect(await play(["pg:psql"], { result: refusal(400, "no such database") })).toMatchObject({
      code: 1,
      err: "error: no such database\n",
    });
    const body = `${JSON.stringify({ type: "result", code: 400, status: "error", error: "late" })}\n`;
    const result = new Response(body, { headers: { "Content-Type": "application/x-ndjson" } });
    expect(await play(["pg:psql"], { result })).toMatchObject({ code: 1, err: "error: late\n" });
    const cut = new Response('{"type":"progress","text":"x"}\n', {
      headers: { "Content-Type": "application/x-ndjson" },
    });
    expect((await play(["pg:psql"], { result: cut })).err).toContain(
      "the connection ended while the plugin was running",
    );
  });

  const streamed = (...lines: object[]) => {
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    return new Response(body, { headers: { "Content-Type": "application/x-ndjson" } });
  };

  test("that failed ends with its own exit code, and what it said on stderr stands once", async () => {
    const said = { type: "progress", text: "looking" };
    const exited = (code: number, output: string) => ({
      status: "error",
      error: "some words for people",
      reason: "PluginExited",
      fields: { plugin: "pg", command: "psql", exit_code: code, output },
    });
    const failed = (code: number, output: string) => ({ ...exited(code, output), type: "result", code: 400 });
    const first = await play(["pg:psql"], { result: streamed(said, failed(3, "looking")) });
    expect([first.code, first.err]).toEqual([3, 'looking\nerror: plugin "pg" psql exited 3\n']);
    const second = await play(["pg:psql"], { result: streamed(said, failed(2, "no such database\nlooking")) });
    expect([second.code, second.err]).toEqual([2, 'looking\nerror: plugin "pg" psql exited 2: no such database\n']);
    const answer = exited(2, "no such database");
    const json = await play(["-o", "json", "pg:psql"], { result: new Answer(400, answer) });
    const error = 'plugin "pg" psql exited 2: no such database';
    expect([json.code, JSON.parse(json.out)]).toEqual([2, { ...answer, error }]);
  });

  test("that answers with an error and exit code 0 says it once", async () => {
    const answer = {
      ...{ type: "result", code: 400, status: "error", error: 'plugin "pg" psql: no such database' },
      ...{
        reason: "PluginExited",
        fields: { plugin: "pg", command: "psql", exit_code: 0, output: "no such database" },
      },
    };
    const plain = await play(["pg:psql"], { result: streamed(answer) });
    expect([plain.code, plain.err]).toEqual([1, 'error: plugin "pg" psql failed: no such database\n']);
    const said = { type: "progress", text: "no such database" };
    const twice = await play(["pg:psql"], { result: streamed(said, answer) });
    expect([twice.code, twice.err]).toEqual([1, 'no such database\nerror: plugin "pg" psql failed\n']);
  });

  test("whose message it said on stderr as well shows it once on a terminal, and in full to a program", async () => {
    const result = () =>
      streamed(
        { type: "progress", text: "made b1" },
        { type: "progress", text: "and checked it" },
        {
          ...{ type: "result", code: 200, status: "ok" },
          data: { message: "made b1\nand checked it", applied: [], ...nothingLocal, run_id: "r" },
        },
      );
    const person = await play(["pg:psql"], { result: result(), typed: [], live: true });
    expect([person.code, person.out]).toEqual([0, ""]);
    expect(person.err).toContain("made b1");
    const piped = await play(["pg:psql"], { result: result() });
    expect(piped.out).toBe("made b1\nand checked it\n");
    // stderr goes to a file: the terminal has not shown it.
    expect((await play(["pg:psql"], { result: result(), typed: [] })).out).toBe("made b1\nand checked it\n");
  });

  test("with -o json is the answer alone, and nothing is run here", async () => {
    const result = {
      message: "",
      applied: [],
      ...nothingLocal,
      run_id: "r",
      exec_local: [{ command: ["rm", "-rf", "/"] }],
    };
    const { code, out } = await play(["pg:psql", "-o", "json"], { result, runLocal: async () => 9 });
    expect([code, JSON.parse(out)]).toEqual([0, { status: "ok", data: result }]);
  });
});

describe("destructive commands", () => {
  test.each(["-h", "--help"])("%s is answered by what the plugin declares, and nothing is run", async (flag) => {
    const { code, out, calls } = await play(["pg:promote", flag]);
    expect([code, out]).toEqual([0, expect.stringContaining("perhaps it says more: berth pg:promote -h --yes")]);
    expect(dispatched(calls)).toEqual([]);
    expect(dispatched((await play(["pg:promote", "d/m", flag, "--yes"])).calls)).toHaveLength(1);
  });

  test.each([
    [["pg:promote", "d/m"], ["y"], 0],
    [["pg:promote", "d/m"], ["n"], 5],
    [["pg:promote", "d/m"], undefined, 5],
    [["pg:promote", "d/m", "--yes"], undefined, 0],
    [["pg:promote", "d/m", "-y"], undefined, 0],
    [["--yes", "pg:promote", "d/m"], undefined, 0],
    [["pg:promote", "d/m", "--", "--yes"], undefined, 5],
    [["pg:psql", "d/m"], undefined, 0],
  ])("%p with the answer %p ends with %d", async (argv, typed, wanted) => {
    const { code, calls } = await play(argv, typed === undefined ? {} : { typed });
    expect([code, dispatched(calls).length]).toEqual([wanted, wanted === 0 ? 1 : 0]);
  });
});

describe("help", () => {
  test("is made from what the plugin declares", async () => {
    for (const argv of [["pg", "-h"], ["pg", "--help"], ["pg"], ["help", "pg"], ["-h", "pg"]]) {
      const { code, out, calls } = await play(argv);
      expect([code, dispatched(calls)]).toEqual([0, []]);
      expect(out).toContain("databases");
      expect(out).toContain("pg:promote          makes a replica the primary (asks first)");
      expect(out).not.toContain("pg:expand");
    }
    for (const argv of [
      ["help", "pg:promote"],
      ["help", "pg", "promote"],
    ]) {
      const { out } = await play(argv);
      expect(out).toContain("berth pg:promote [WORDS]");
      expect(out).toContain("Ends at the latest after 5m.");
    }
    const usage = "SCOPE/NAME [--replica N] [--force]";
    const commands = postgres.commands.map((one) => (one.name === "promote" ? { ...one, usage } : one));
    for (const argv of [
      ["help", "pg:promote"],
      ["pg:promote", "--help"],
      ["pg:promote", "d/m", "--force", "--help"],
    ]) {
      const { code, out, calls } = await play(argv, { plugins: [{ ...postgres, commands }] });
      expect([code, dispatched(calls)]).toEqual([0, []]);
      expect(out).toContain(`  berth pg:promote ${usage}\n`);
      expect(out).not.toContain("perhaps it says more");
    }
    expect(await play(["help", "pg:promot"])).toMatchObject({
      code: 2,
      err: 'error: the plugin "postgres" has no command "promot": did you mean "promote"?\n',
    });
  });

  const long = "SCOPE/NAME [--replica N] [--force] [--no-rejoin] [--reason TEXT] -- WORDS";
  const explained = { ...postgres, commands: [{ name: "link", help: "puts a URL into the config", usage: long }] };
  const unreachable = () => new Response("", { status: 502 });

  test("of a command with usage is answered without running it", async () => {
    for (const argv of [
      ["pg:link", "--help"],
      ["pg:link", "-h"],
      ["pg:link", "d/m", "--help"],
    ]) {
      const { code, out, calls } = await play(argv, { plugins: [explained] });
      expect([code, dispatched(calls)]).toEqual([0, []]);
      expect(out).toContain("berth pg:link SCOPE/NAME [--replica N]");
    }
  });

  test("of a plugin of this executable needs no server, and says so", async () => {
    for (const [argv, text] of [
      [["pg:link", "--help"], "berth pg:link SCOPE/NAME"],
      [["help", "pg:link"], "berth pg:link SCOPE/NAME"],
      [["help", "pg"], "berth pg:COMMAND"],
      [["pg", "-h"], "berth pg:COMMAND"],
    ] as const) {
      const { code, out, err } = await cli([...argv], { server: unreachable, bundled: [explained] });
      expect([code, err]).toEqual([0, expect.stringContaining('this is the help of the plugin "postgres"')]);
      expect(out).toContain(text);
    }
    const { code } = await cli(["other:link", "--help"], { server: unreachable, bundled: [explained] });
    expect(code).not.toBe(0);
  });

  test("is wrapped at the screen, and at a usual one through a pipe", async () => {
    for (const columns of [45, 60]) {
      for (const argv of [["help", "pg:link"], ["help", "pg"], ["help"], ["help", "plugins"], ["help", "apply"]]) {
        const { out } = await play(argv, { plugins: [explained], columns, typed: [] });
        const wide = out.split("\n").filter((line) => Bun.stringWidth(line) > columns);
        // A flag, an example or a form of one long word stays whole, to be pasted.
        expect(wide.filter((line) => !/^ {2}(?:\S|berth )/.test(line))).toEqual([]);
      }
    }
    const up = await cli(["help", "up"], { columns: 60, typed: [] });
    expect(up.out).toContain("or\na folder .berth/ or .voodu/ here, builds what has a build");
    const piped = await cli(["help"], { columns: 45 });
    expect(piped.out.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });

  test("of a plugin that has its own is its own", async () => {
    const plugins = [{ ...postgres, commands: [{ name: "help" }] }];
    const { out, calls } = await play(["pg", "-h"], { plugins });
    expect(out).toBe("done\n");
    expect(dispatched(calls)[0]?.path).toBe("/plugin/pg/help");
  });
});

describe("what is no plugin", () => {
  test("is an unknown command, with the nearest of all", async () => {
    expect(await play(["postgers"])).toMatchObject({
      code: 2,
      err: 'error: unknown command "postgers": did you mean "postgres"?\n',
    });
    expect(await play(["aply"])).toMatchObject({
      code: 2,
      err: 'error: unknown command "aply": did you mean "apply"?\n',
    });
    expect((await play(["zzz"], { server: () => new Answer(404, { status: "error", error: "x" }) })).code).toBe(2);
  });
});

describe("exec_local", () => {
  const result = (...commands: string[][]) => {
    const exec_local = commands.map((command) => ({ command }));
    return { message: "", applied: [], ...nothingLocal, run_id: "r", exec_local };
  };

  test("asks before anything that is not known to be harmless", async () => {
    const ran: string[][] = [];
    const runLocal = async ({ argv }: { argv: readonly string[] }) => {
      ran.push([...argv]);
      return 7;
    };
    const scene = { result: result(["echo", "a b"]), runLocal };
    expect(await play(["pg:psql"], scene)).toMatchObject({ code: 5 });
    expect(await play(["pg:psql"], { ...scene, typed: ["n"] })).toMatchObject({ code: 5 });
    expect(ran).toEqual([]);
    const asked = await play(["pg:psql"], { ...scene, typed: ["y"] });
    expect(asked.code).toBe(7);
    expect(asked.err).toContain("$ echo 'a b'\n");
    expect((await play(["--yes", "pg:psql"], scene)).code).toBe(7);
    expect(ran).toEqual([
      ["echo", "a b"],
      ["echo", "a b"],
    ]);
  });

  test("tells what it runs which app it is about", async () => {
    const seen: Record<string, string>[] = [];
    const runLocal: Scene["runLocal"] = async ({ env }) => {
      seen.push({ ...env });
      return 0;
    };
    await play(["--yes", "pg:psql", "data/main.0", "-x"], { result: result(["echo"]), runLocal });
    await play(["--yes", "pg:psql"], { result: result(["echo"]), runLocal });
    expect(seen.map(({ BERTH_APP: app }) => app)).toEqual(["data-main", undefined]);
  });

  test("stops at the first that fails, with its code", async () => {
    const codes = [0, 3, 0];
    const ran: string[] = [];
    const runLocal = async ({ argv }: { argv: readonly string[] }) => {
      ran.push(argv[1] ?? "");
      return codes.shift() ?? 0;
    };
    const commands = result(["echo", "1"], ["echo", "2"], ["echo", "3"]);
    expect((await play(["--yes", "pg:psql"], { result: commands, runLocal })).code).toBe(3);
    expect(ran).toEqual(["1", "2"]);
  });
});

describe("fetch_file", () => {
  function place() {
    const folder = mkdtempSync(join(tmpdir(), "berth-fetch-"));
    return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
  }
  const wish = (dest_path: string, size_bytes = 7) => ({
    message: "",
    applied: [],
    run_id: "r7",
    exec_local: [],
    fetch_file: [{ remote_path: "/srv/remote", dest_path, size_bytes }],
  });
  const content = (text: string, size = text.length) =>
    new Response(text, { headers: { "Content-Type": "application/octet-stream", "X-Berth-Size": `${size}` } });

  test("copies, says so, and never writes over what is there", async () => {
    using at = place();
    const scene = { cwd: at.folder, result: wish("local"), file: () => content("content") };
    const { code, err, calls } = await play(["pg:psql"], scene);
    expect([code, err]).toEqual([0, "✓ local (7B)\n"]);
    expect(calls.at(-1)?.path).toBe("/plugins/runs/r7/files/0");
    expect(readFileSync(join(at.folder, "local"), "utf8")).toBe("content");
    writeFileSync(join(at.folder, "local"), "mine");
    expect(await play(["pg:psql"], scene)).toMatchObject({ code: 1 });
    expect(readFileSync(join(at.folder, "local"), "utf8")).toBe("mine");
  });

  test.each([
    ["another size than the plugin said", wish("local", 9), content("content"), "has 7 bytes and not 9"],
    ["the end missing", wish("local"), content("cont", 7), "has 4 bytes and not 7"],
    ["a refusal", wish("local"), refusal(404, "it is not there"), "it is not there"],
  ])("leaves nothing of a file with %s", async (_, result, file, text) => {
    using at = place();
    const outcome = await play(["pg:psql"], { cwd: at.folder, result, file: () => file });
    expect([outcome.code, readdirSync(at.folder)]).toEqual([1, []]);
    expect(outcome.err).toContain(text);
  });

  test("asks before it writes outside of the current folder, unless the operator named the place", async () => {
    using at = place();
    const target = join(at.folder, "elsewhere");
    mkdirSync(join(at.folder, "sub"));
    const outside = { cwd: join(at.folder, "sub"), result: wish(target), file: () => content("content") };
    expect((await play(["pg:psql"], outside)).code).toBe(5);
    expect(existsSync(target)).toBe(false);
    expect((await play(["pg:psql", "--to", target], outside)).code).toBe(0);
    expect(existsSync(target)).toBe(true);
    expect((await play(["pg:psql"], { ...outside, cwd: at.folder, result: wish(".bashrc") })).code).toBe(5);
    // A place inside of a word was not named, and a link leads to where it leads.
    const other = join(at.folder, "other");
    expect((await play(["pg:psql", `${other}2`], { ...outside, result: wish(other) })).code).toBe(5);
    expect((await play(["pg:psql", `--to=${other}`], { ...outside, result: wish(other) })).code).toBe(0);
    symlinkSync(at.folder, join(at.folder, "sub/link"));
    expect((await play(["pg:psql"], { ...outside, result: wish("link/third") })).code).toBe(5);
  });
});
