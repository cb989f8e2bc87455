import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gitEnvironment, gitText, runGit } from "../../../../src/local/push/git.ts";
import { treeList, writeTree } from "../../../../src/local/push/tree.ts";
import { folder } from "../../../support/files.ts";

const limits = { filesMax: 100, bytesMax: 10_000 };

/** A commit of what `make` leaves in a folder, in a repository of its own. */
async function committed(
  make: (path: string) => void | Promise<void>,
  index?: (env: Record<string, string>) => Promise<void>,
) {
  const place = folder({});
  const repository = join(place.path, "repository");
  const source = join(place.path, "source");
  mkdirSync(source);
  await runGit(["init", "-q", "--bare", repository], { env: gitEnvironment(repository) });
  await make(source);
  const who = { GIT_AUTHOR_NAME: "a", GIT_AUTHOR_EMAIL: "a", GIT_COMMITTER_NAME: "a", GIT_COMMITTER_EMAIL: "a" };
  const env = { ...gitEnvironment(repository), GIT_WORK_TREE: source, ...who };
  await runGit(["add", "-A", "-f"], { env });
  await index?.(env);
  const tree = (await gitText(["write-tree"], env)).trim();
  const commit = (await gitText(["commit-tree", tree, "-m", "x"], env)).trim();
  const target = join(place.path, "target");
  const write = (bounds = limits) =>
    writeTree(commit, { folder: target, index: join(place.path, "index"), env: gitEnvironment(repository) }, bounds);
  return { write, target, repository, [Symbol.dispose]: () => place[Symbol.dispose]() };
}

test("files, modes and links of a commit are written", async () => {
  using it = await committed((path) => {
    mkdirSync(join(path, "bin"));
    writeFileSync(join(path, "bin/run"), "#!/bin/sh\n", { mode: 0o755 });
    writeFileSync(join(path, "naïve name"), "x");
    symlinkSync("bin/run", join(path, "link"));
  });
  expect(await it.write()).toEqual({ files: 3, submodules: [], usesLfs: false });
  expect(readFileSync(join(it.target, "link"), "utf8")).toBe("#!/bin/sh\n");
  expect(existsSync(join(it.target, "naïve name"))).toBe(true);
});

test.each([
  ["/etc/passwd", "a link"],
  ["../../x", "a link"],
])("a link to %s is refused", async (target) => {
  using it = await committed((path) => symlinkSync(target, join(path, "leak")));
  await expect(it.write()).rejects.toThrow(`"leak" leads to "${target}", out of the folder`);
});

test("a link that leads out through another link is refused", async () => {
  using it = await committed((path) => {
    mkdirSync(join(path, "deep/er"), { recursive: true });
    mkdirSync(join(path, "top"));
    writeFileSync(join(path, "top/x"), "");
    symlinkSync("../../top", join(path, "deep/er/up"));
    // By its text deep/index, by the links of the folder the index of git, beside it.
    symlinkSync("up/../../index", join(path, "deep/er/leak"));
  });
  await expect(it.write()).rejects.toThrow('"deep/er/leak" leads out of the folder');
});

test("no filter of the repository runs, and no hook", async () => {
  using it = await committed((path) => {
    writeFileSync(join(path, ".gitattributes"), "* filter=evil\n*.bin filter=lfs\n");
    writeFileSync(join(path, ".gitconfig"), `[filter "evil"]\n\tsmudge = touch ${path}/ran\n`);
    mkdirSync(join(path, "hooks"));
    writeFileSync(join(path, "hooks/post-checkout"), `#!/bin/sh\ntouch ${path}/ran\n`, { mode: 0o755 });
  });
  expect((await it.write()).usesLfs).toBe(true);
  expect(existsSync(join(it.target, "../source/ran"))).toBe(false);
});

test("a submodule is told, and stays an empty folder", async () => {
  using it = await committed(
    (path) => writeFileSync(join(path, "a"), ""),
    (env) => runGit(["update-index", "--add", "--cacheinfo", `160000,${"a".repeat(40)},vendor/x`], { env }),
  );
  expect((await it.write()).submodules).toEqual(["vendor/x"]);
});

test("more files or bytes than the limits are refused before they are written", async () => {
  using it = await committed((path) => {
    for (const name of ["a", "b", "c"]) writeFileSync(join(path, name), name.repeat(100));
  });
  await expect(it.write({ filesMax: 2, bytesMax: 10_000 })).rejects.toThrow("more than 2 files");
  await expect(it.write({ filesMax: 3, bytesMax: 299 })).rejects.toThrow("more than 299 bytes of files");
  expect(existsSync(it.target)).toBe(false);
});

test.each([
  ["../x", "leads out of the folder"],
  ["a/../../x", "leads out of the folder"],
  ["/etc/passwd", "is not a path below the folder"],
  ["a\nb", "has a control character"],
  ["a\\b", "has a control character or a backslash"],
  [`${"a/".repeat(600)}b`, "is longer than"],
])("a tree that names %j is refused", (path, why) => {
  const list = treeList(limits);
  expect(() => list.take(Buffer.from(`100644 blob ${"a".repeat(40)}      12\t${path}\0`))).toThrow(why);
});

test("a list that comes in parts is read as one", () => {
  const list = treeList(limits);
  const bytes = Buffer.from(`100644 blob ${"a".repeat(40)} 1\té\0${"120000"} blob ${"b".repeat(40)} 2\tl\0`);
  for (const byte of bytes) list.take(Uint8Array.of(byte));
  expect(list.end()).toEqual({ files: 2, bytes: 3, links: ["l"], submodules: [] });
});
