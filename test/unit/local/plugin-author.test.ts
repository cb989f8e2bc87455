import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pluginInitCommand } from "../../../src/local/plugin-init.ts";
import { pluginLintCommand } from "../../../src/local/plugin-lint.ts";
import { pluginTestCommand } from "../../../src/local/plugin-test.ts";
import { writeTree } from "../../support/plugin-yard.ts";
import { said } from "../../support/said.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-author-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Exit code, and what was printed. */
async function ended(work: () => Promise<number>): Promise<{ code: number; out: string }> {
  const { result: code, out } = await said(work);
  return { code, out };
}

const init = (...args: string[]) => ended(() => pluginInitCommand(args));
const lint = (...args: string[]) => ended(() => pluginLintCommand(args));
const run = (...args: string[]) => ended(() => pluginTestCommand(args));

describe("plugins init", () => {
  // Python is no part of the set-up of the tests; where it is missing, the other languages show the mechanism.
  const ready = ["ts", "bash", ...(Bun.which("python3") === null ? [] : ["python"])];
  test.each(ready)("--lang %s writes a plugin without a fault whose tests pass", async (lang) => {
    const dir = join(folder, "made");
    expect((await init("my-thing", "--lang", lang, "--dir", dir)).code).toBe(0);
    expect(await lint(dir)).toEqual({ code: 0, out: "errors: 0, warnings: 0\n" });
    expect(await run(dir)).toEqual({ code: 0, out: "ok   expand.json\nok   hello.json\n2 passed, 0 failed\n" });
    for (const file of ["plugin.yml", "README.md", "schema.json"]) {
      expect(readFileSync(join(dir, file), "utf8")).not.toContain("__");
    }
  });

  test("--lang go says that it has to be built", async () => {
    const dir = join(folder, "made");
    await init("my-thing", "--lang", "go", "--dir", dir);
    const { code, out } = await lint(dir);
    expect([code, out]).toEqual([
      1,
      'error    the entrypoint "bin/my-thing" is not there: build it first\nerrors: 1, warnings: 0\n',
    ]);
    expect(readFileSync(join(dir, "README.md"), "utf8")).toContain("go build -o bin/my-thing .");
    const tested = await run(dir);
    expect(tested.code).toBe(1);
    expect(tested.out).toContain(`it is not built; run: cd "${dir}" && CGO_ENABLED=0 go build -o bin/my-thing .`);
  });

  test("--lang python names its program, and keeps what Python compiles out of the package", async () => {
    const dir = join(folder, "made");
    await init("my-thing", "--lang", "python", "--dir", dir);
    expect(readFileSync(join(dir, "plugin.yml"), "utf8")).toMatch(
      /entrypoint: main\.py\n(.*\n)*.*programs: \[python3\]/,
    );
    expect(readFileSync(join(dir, ".gitignore"), "utf8")).toBe("__pycache__/\n");
  });

  test("writes over nothing, and refuses names that no plugin can have", async () => {
    writeTree(folder, { mine: "mine" });
    await expect(pluginInitCommand(["x", "--dir", folder])).rejects.toThrow("is not empty");
    for (const [name, text] of [
      ["../x", "is not a valid plugin name"],
      ["job", "is a kind of the server itself"],
    ] as const) {
      await expect(pluginInitCommand([name])).rejects.toThrow(text);
    }
    await expect(pluginInitCommand(["x", "--lang", "cobol"])).rejects.toThrow(
      'no template for "cobol": ts, bash, python, go',
    );
    await expect(pluginInitCommand([])).rejects.toThrow("say what it is called");
    expect(existsSync("job")).toBe(false);
  });
});

describe("plugins lint", () => {
  test("tells what is wrong and what could be better", async () => {
    writeTree(folder, {
      "plugin.yml": "name: x\nversoin: 1\ncommands: [{name: a, hlep: x}, b]\nschema: s.json\nkinds: [y]\n",
      "bin/a": "#!/bin/sh\n",
      "s.json": '{"type": "object", "allOf": []}',
    });
    chmodSync(join(folder, "bin/a"), 0o644);
    const { code, out } = await lint(folder, "-o", "json");
    expect(code).toBe(1);
    expect(JSON.parse(out).data).toEqual({
      errors: ['the command "b" has no program: neither bin/b nor commands/b'],
      warnings: [
        'plugin.yml: nothing reads "versoin"; did you mean "version"',
        'plugin.yml commands[0]: nothing reads "hlep"; did you mean "help"',
        "plugin.yml has no version: two versions look the same",
        "plugin.yml has no description: lists show nothing about it",
        "plugin.yml has no permissions: everything is granted at install",
        "plugin.yml has no protocol: a server that speaks another one cannot tell",
        "no help for a, b",
        "s.json allOf has no effect",
        "bin/a is not executable: chmod +x it",
      ],
    });
  });

  test("tells that a name is taken by the client", async () => {
    writeTree(folder, { "plugin.yml": "name: logs\naliases: [ps, fine]\n", "bin/a": "#!/bin/sh\n" });
    const { warnings } = JSON.parse((await lint(folder, "-o", "json")).out).data;
    const named = warnings.filter((text: string) => text.includes("is a command of berth"));
    expect(named.map((text: string) => text.slice(0, 6))).toEqual(['"logs"', '"ps" i']);
  });

  test("tells every fault of plugin.yml, and of a folder that is none", async () => {
    writeTree(folder, { "plugin.yml": "name: X Y\nprotocol: 9" });
    const { code, out } = await lint(folder);
    expect(code).toBe(1);
    expect(out).toContain('error    plugin.yml name: "X Y" is not a valid name');
    expect(out).toContain("error    plugin.yml protocol: the plugin speaks protocol 9");
    expect((await lint(join(folder, "none"))).out).toContain("holds no plugin");
  });
});

describe("plugins test", () => {
  const plugin = (script: string, more: Record<string, string> = {}) =>
    writeTree(folder, {
      "plugin.yml": "name: x\nversion: 1\npermissions: {actions: [config_set], scopes: [data]}\n",
      "bin/go": `#!/bin/sh\n${script}\n`,
      ...more,
    });
  const fixture = (value: unknown) => ({ "tests/one.json": JSON.stringify(value) });

  test("runs a command with its words, input, environment, controller and programs", async () => {
    const script = [
      'read -r line; echo "$1|$BERTH_PROTOCOL|$LEVEL|$(docker ps)" >&2',
      'got=$(curl -s "$BERTH_CONTROLLER_URL/describe?name=a"); test "$HOME" != "" || exit 9',
      'echo "{\\"status\\":\\"ok\\",\\"data\\":{\\"message\\":\\"$1 $LEVEL $(docker ps)\\",\\"got\\":$got}}"',
    ];
    const test = {
      command: "go",
      args: ["a b"],
      env: { LEVEL: "7" },
      controller: { "GET /describe?name=a": { x: 1 } },
      programs: { docker: 'echo "shim $1"' },
      expect: {
        exit: 0,
        message: "a b 7 shim ps",
        data: { message: "<any>", got: { status: "ok", data: { x: 1 } } },
        calls: ["GET /describe?name=a"],
      },
    };
    plugin(script.join("\n"), fixture(test));
    expect(await run(folder)).toEqual({ code: 0, out: "ok   one.json\n1 passed, 0 failed\n" });
  });

  test("tells where an answer differs, and what the server would refuse", async () => {
    const action = { type: "run_job", scope: "other", name: "j" };
    const answer = JSON.stringify({ status: "ok", data: { message: "m", actions: [action] } });
    plugin(`echo '${answer}'`, fixture({ command: "go", expect: { exit: 0, message: "n" } }));
    const { code, out } = await run(folder);
    expect(code).toBe(1);
    expect(out).toContain('the server would refuse it: actions[0] the plugin was not granted "run_job"');
    expect(out).toContain('message: expected "n", got "m"');
  });

  test("writes what is not expected yet, and with --update what has changed", async () => {
    plugin("echo first", fixture({ command: "go" }));
    expect((await run(folder)).out).toContain("ok   one.json (written)");
    const written = () => JSON.parse(readFileSync(join(folder, "tests/one.json"), "utf8")).expect;
    expect(written()).toEqual({ exit: 0, message: "first" });
    plugin('echo \'{"status":"error","error":"no"}\'; exit 3');
    expect((await run(folder)).out).toContain("exit: expected 0, got 3");
    expect((await run(folder, "--update")).code).toBe(0);
    expect(written()).toEqual({ exit: 3, error: "no" });
  });

  test.each([
    ['echo \'{"status":"ok",\'', "is not one whole JSON object"],
    ["kill -9 $$", "it did not end by itself: signalled"],
  ])("%s fails whatever is expected", async (script, text) => {
    plugin(script, fixture({ command: "go", expect: { exit: 0 } }));
    const { code, out } = await run(folder);
    expect(code).toBe(1);
    expect(out).toContain(text);
  });

  test("a broken test file fails, and no tests are an error", async () => {
    plugin("true");
    await expect(pluginTestCommand([folder])).rejects.toThrow("no tests");
    writeTree(folder, { "tests/a.json": "{", "tests/b.json": '{"command": "nope", "expect": {"exit": 0}}' });
    const { out } = await run(folder);
    expect(out).toContain("FAIL a.json");
    expect(out).toContain('the plugin has no command "nope"');
  });
});
