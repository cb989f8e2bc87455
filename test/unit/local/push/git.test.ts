import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { gitEnvironment } from "../../../../src/local/push/git.ts";
import { openRepository } from "../../../../src/local/push/repository.ts";
import { folder } from "../../../support/files.ts";

const source = resolve(import.meta.dir, "../../../../src/local/push/git.ts");

function git(cwd: string, words: readonly string[]) {
  const names = ["AUTHOR", "COMMITTER"].flatMap((who) => [
    [`GIT_${who}_NAME`, "Ana"],
    [`GIT_${who}_EMAIL`, "ana@example.com"],
  ]);
  const all = { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: "/dev/null", ...Object.fromEntries(names) };
  const { exitCode, stdout, stderr } = Bun.spawnSync(["git", ...words], { cwd, env: all });
  return { exitCode, text: `${stdout}${stderr}` };
}

test("a push from a clone that has the last commit alone is taken, and its hook can read the commit", async () => {
  using place = folder({ "app/page": "1", "hook.ts": "" });
  const [app, copy, hooks] = ["app", "copy", "hooks"].map((name) => join(place.path, name)) as [string, string, string];
  git(app, ["init", "-q", "-b", "main"]);
  for (const subject of ["first", "second", "third"]) {
    writeFileSync(join(app, "page"), subject);
    git(app, ["add", "."]);
    git(app, ["commit", "-qm", subject]);
  }
  git(place.path, ["clone", "-q", "--depth", "1", `file://${app}`, copy]);
  const repository = await openRepository(place.path, { scope: "shop", name: undefined });
  // What the hook of a push does: it makes its own environment from the one that git gives it.
  const hook = `import { gitEnvironment, gitText } from ${JSON.stringify(source)};
    const [, commit] = (await Bun.stdin.text()).split(" ");
    const env = gitEnvironment(process.cwd());
    console.error("deploys", (await gitText(["log", "-1", "--format=%s", commit], env)).trim());`;
  writeFileSync(join(place.path, "hook.ts"), hook);
  mkdirSync(hooks);
  writeFileSync(join(hooks, "pre-receive"), `#!/bin/sh\nexec '${process.execPath}' '${join(place.path, "hook.ts")}'\n`);
  chmodSync(join(hooks, "pre-receive"), 0o700);
  const { GIT_DIR: _, ...env } = gitEnvironment(repository, [["core.hooksPath", hooks]]);
  const lines = Object.entries(env).map(([key, value]) => `export ${key}='${value}'`);
  const receive = join(place.path, "receive-pack");
  writeFileSync(receive, ["#!/bin/sh", ...lines, 'exec git receive-pack "$1"'].join("\n"));
  chmodSync(receive, 0o700);
  const push = (from: string) => git(from, ["push", "-q", `--receive-pack=${receive}`, repository, "main"]);
  const pushed = push(copy);
  expect(pushed.text).toContain("deploys third");
  expect(pushed).toMatchObject({ exitCode: 0 });
  const now = git(place.path, ["--git-dir", repository, "log", "-1", "--format=%s", "main"]);
  expect(now.text).toBe("third\n");
  // The whole history may follow.
  writeFileSync(join(app, "page"), "fourth");
  git(app, ["commit", "-qam", "fourth"]);
  expect(push(app)).toMatchObject({ exitCode: 0 });
});
