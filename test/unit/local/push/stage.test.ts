import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { gitEnvironment, gitText, runGit } from "../../../../src/local/push/git.ts";
import { openRepository } from "../../../../src/local/push/repository.ts";
import { repositoriesDigest, stageRepositories } from "../../../../src/local/push/stage.ts";
import { folder } from "../../../support/files.ts";

const who = ["-c", "user.name=Ana", "-c", "user.email=ana@example.com"];

/** A root with the repositories of a scope and of an app, each with a commit. */
async function pushed() {
  const root = folder({ "repositories/left.txt": "", "work/page": "one" });
  const layout = { repositories: join(root.path, "repositories"), copies: join(root.path, "copies") };
  const work = join(root.path, "work");
  const git = (...words: string[]) => runGit([...who, "-C", work, ...words], { env: { PATH: process.env.PATH ?? "" } });
  await git("init", "-q", "-b", "main");
  await git("add", "-A");
  await git("commit", "-q", "-m", "one");
  for (const target of [
    { scope: "shop", name: undefined },
    { scope: "blog", name: "web" },
  ])
    await git("push", "-q", await openRepository(layout.repositories, target), "main");
  return { ...layout, git, work, [Symbol.dispose]: () => root[Symbol.dispose]() };
}

test("what is staged has every branch, tag and HEAD, opens as a repository of the group, and is gone afterwards", async () => {
  using at = await pushed();
  await at.git("tag", "-a", "v1", "-m", "first");
  await at.git("push", "-q", join(at.repositories, "shop.git"), "v1", "main:refs/heads/feature");
  await runGit(["symbolic-ref", "HEAD", "refs/heads/feature"], {
    env: gitEnvironment(join(at.repositories, "shop.git")),
  });
  const refsOf = (repository: string) => gitText(["show-ref", "--head", "-d"], gitEnvironment(repository));
  const staged = await stageRepositories(at);
  expect(readdirSync(staged.folder).sort()).toEqual(["blog", "shop.git"]);
  for (const name of ["shop.git", "blog/web.git"]) {
    expect(await refsOf(join(staged.folder, name))).toBe(await refsOf(join(at.repositories, name)));
    expect(statSync(join(staged.folder, name)).mode & 0o7777).toBe(0o2770);
    expect(readFileSync(join(staged.folder, name, "config"), "utf8")).toContain("sharedrepository");
  }
  expect(statSync(join(staged.folder, "blog")).mode & 0o7777).toBe(0o2770);
  await staged.close();
  expect(existsSync(staged.folder)).toBe(false);
});

test("a repository that got its last commit alone is whole without the history before it", async () => {
  using at = await pushed();
  await at.git("commit", "-q", "--allow-empty", "-m", "two");
  const [repository, clone] = [join(at.repositories, "blog/web.git"), join(at.work, "../clone")];
  await at.git("clone", "-q", "--depth", "1", `file://${at.work}`, clone);
  rmSync(repository, { recursive: true });
  await openRepository(at.repositories, { scope: "blog", name: "web" });
  await runGit(["config", "receive.shallowUpdate", "true"], { env: gitEnvironment(repository) });
  await at.git("-C", clone, "push", "-q", repository, "main");
  expect(existsSync(join(repository, "shallow"))).toBe(true);
  const staged = await stageRepositories(at);
  const copy = gitEnvironment(join(staged.folder, "blog/web.git"));
  expect(await gitText(["log", "--format=%s", "main"], copy)).toBe("two\n");
  await staged.close();
});

test("a copy that is made while somebody pushes and git packs is whole each time", async () => {
  using at = await pushed();
  const repository = join(at.repositories, "shop.git");
  const script = `cd ${at.work}; while [ -d ${at.repositories} ] && [ ! -e ../stop ]; do
    date +%N >page; git ${who.join(" ")} commit -q -a -m next; git push -q ${repository} main "HEAD:refs/tags/t$(date +%N)"
    git -C ${repository} -c gc.pruneExpire=now gc -q; done`;
  const pushing = Bun.spawn(["sh", "-c", script], { stdout: "ignore", stderr: "ignore" });
  try {
    const seen = new Set<string>();
    for (let round = 0; round < 8 || seen.size < 3; round += 1) {
      const staged = await stageRepositories(at);
      seen.add(await gitText(["rev-parse", "main"], gitEnvironment(join(staged.folder, "shop.git"))));
      await runGit(["fsck", "--full", "--strict"], { env: gitEnvironment(join(staged.folder, "shop.git")) });
      await staged.close();
    }
  } finally {
    await Bun.write(join(at.repositories, "../stop"), "");
    await pushing.exited;
  }
});

test("a repository that lacks an object is no copy, and is named; nothing stays", async () => {
  using at = await pushed();
  const repository = join(at.repositories, "blog/web.git");
  for (const pack of readdirSync(join(repository, "objects/pack"))) rmSync(join(repository, "objects/pack", pack));
  for (const fan of readdirSync(join(repository, "objects")).filter((name) => name.length === 2))
    rmSync(join(repository, "objects", fan), { recursive: true });
  await expect(stageRepositories(at)).rejects.toThrow(
    new RegExp(`"blog/web.git" cannot be copied whole: .*; remove ${repository} and push again; until then no`, "s"),
  );
  expect(existsSync(join(at.copies, "repositories"))).toBe(false);
});

test("the digest is another one after each push, and empty where nothing was pushed", async () => {
  using at = await pushed();
  const before = repositoriesDigest(at);
  expect(repositoriesDigest(at)).toBe(before);
  await at.git("push", "-q", join(at.repositories, "shop.git"), "main:refs/tags/v1");
  expect(repositoriesDigest(at)).not.toBe(before);
  using none = folder({ "shop/x": "" });
  expect([repositoriesDigest({ repositories: none.path }), before.length]).toEqual(["", 64]);
});
