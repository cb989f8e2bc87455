import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, test } from "bun:test";
import { codeBlocks } from "../support/pages.ts";

const checkout = join(import.meta.dir, "../..");
const page = readFileSync(join(checkout, "CONTRIBUTING.md"), "utf8");

/** The first commands of the page, without their comments. */
const commands = (codeBlocks(page)[0]?.body ?? "")
  .trim()
  .split("\n")
  .map((line) => line.replace(/\s+#.*/, ""));

/** What is added to a command so that it changes nothing and takes a second: it still is this command that runs. */
const narrowed: Record<string, string> = {
  "bun install": "--frozen-lockfile --dry-run",
  "bun test ./test/unit/version.test.ts": "",
  "bun test ./test/unit": "--shard=1/300",
  "bun run check": "'shell syntax'",
  "bun run fmt": "--check test/unit/docs-contributing.test.ts",
};

const folder = mkdtempSync(join(tmpdir(), "berth-contributing-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs a command as a person does who has just typed it: with the Bun of this test, and no engine for tests. */
function run(command: string, cwd: string) {
  const { BERTH_TEST_DOCKER_HOST: _, ...env } = process.env;
  const bin = join(folder, "bin");
  mkdirSync(bin, { recursive: true });
  writeFileSync(join(bin, "bun"), `#!/bin/sh\nexec "${process.execPath}" "$@"\n`, { mode: 0o755 });
  const { exitCode, stdout, stderr } = Bun.spawnSync(["sh", "-c", command], {
    cwd,
    env: { ...env, PATH: `${bin}:${env.PATH ?? ""}` },
  });
  return { exitCode, output: `${stdout}${stderr}` };
}

describe("the first commands of CONTRIBUTING.md", () => {
  test("are those that this file knows how to run", () => {
    expect(commands.filter((command) => command !== "bun test")).toEqual(Object.keys(narrowed));
  });

  test.each(Object.entries(narrowed))("%s %s", (command, options) => {
    const { exitCode, output } = run(`${command} ${options}`, checkout);
    expect(exitCode, output).toBe(0);
  });
});

describe("test/check where bun is not on PATH", () => {
  const bare = join(folder, "bare");
  mkdirSync(join(bare, "test"), { recursive: true });
  cpSync(join(checkout, "test/check"), join(bare, "test/check"));
  const check = () => {
    const { exitCode, stdout, stderr } = Bun.spawnSync(["sh", "test/check", "figures of the house"], {
      cwd: bare,
      env: { PATH: "/usr/bin:/bin" },
    });
    return { exitCode, out: String(stdout), err: String(stderr) };
  };

  test("says how to get one, and takes the one of the checkout", () => {
    const err = "error: bun is not on PATH and not in node_modules/.bin: npm install puts it there\n";
    expect(check()).toEqual({ exitCode: 1, out: "", err });
    const bin = join(bare, "node_modules/.bin");
    mkdirSync(bin, { recursive: true });
    writeFileSync(join(bin, "bun"), "#!/bin/sh\n", { mode: 0o755 });
    expect(check()).toMatchObject({ exitCode: 0, err: "" });
  });
});

describe("bun test without a file", () => {
  const clone = join(folder, "clone");
  for (const path of ["package.json", "bunfig.toml", "test/support/plain-run.ts"]) {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    cpSync(join(checkout, path), join(clone, path));
  }
  const write = (path: string, body: string) => {
    mkdirSync(dirname(join(clone, path)), { recursive: true });
    writeFileSync(join(clone, path), `import { test } from "bun:test";\ntest("${path}", () => { ${body} });\n`);
  };
  const pure = ["test/architecture.test.ts", "test/unit/a.test.ts", "test/property/a.test.ts", "test/http/a.test.ts"];
  for (const path of pure) write(path, "");
  for (const ring of ["contract", "integration", "ingress", "plugins", "fault", "e2e"]) {
    write(`test/${ring}/a.test.ts`, 'throw new Error("needs root")');
  }

  test.each(["", "--timeout 30000 --bail", "-t test"])(
    "runs what needs no root, and says how to run the rest: %s",
    (flags) => {
      const { exitCode, output } = run(`bun test ${flags}`, clone);
      for (const path of pure) expect(output).toContain(`(pass) ${path}`);
      expect(output).toContain("4 pass");
      expect(output).toContain("test/run e2e");
      expect(exitCode, output).toBe(0);
    },
  );

  test("fails when one of them fails", () => {
    write("test/unit/b.test.ts", 'throw new Error("broken")');
    const { exitCode, output } = run("bun test", clone);
    rmSync(join(clone, "test/unit/b.test.ts"));
    expect(output).toContain("(fail) test/unit/b.test.ts");
    expect(exitCode).toBe(1);
  });

  test("runs any file or ring that is named", () => {
    for (const target of ["./test/e2e/a.test.ts", "./test/e2e", "e2e", "--timeout 30000 ./test/e2e"]) {
      const { exitCode, output } = run(`bun test ${target}`, clone);
      expect(output).toContain("needs root");
      expect(exitCode).toBe(1);
    }
  });
});
