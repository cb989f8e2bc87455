import { spawnSync } from "node:child_process";
import { expect, test } from "bun:test";
import fc from "fast-check";
import { pickFiles } from "../../src/ui/text/picked-files.ts";
import { readFolder } from "../../src/client/build/folder.ts";
import { createSent } from "../../src/client/build/sent.ts";
import { folder } from "../support/files.ts";

const limits = { filesMax: 1000, bytesMax: 1_000_000, textBytesMax: 10_000 };
const names = fc.constantFrom("a", "b", "a.log", "keep.log");
const places = fc.constantFrom("", "x/", "y/", "x/y/", "x/y/x/");
const paths = fc.tuple(places, names).map(([place, name]) => place + name);
const lines = fc.constantFrom(
  ...["*.log", "!keep.log", "!*.log", "a", "!a", "/b", "!/b", "x", "!x", "x/", "!x/", "x/*", "!x/y", "!x/y/"],
  ...["y", "!y/", "*", "!*/", "**/a", "!**/keep.log", "/x/*", "!/x/y/", "x/**", "!x/**", "[ab]", "!y/a", "# a", ""],
);
const texts = fc.array(lines, { maxLength: 4 }).map((all) => `${all.join("\n")}\n`);
const trees = fc.record({
  paths: fc.uniqueArray(paths, { minLength: 1, maxLength: 12 }),
  rules: fc.dictionary(places, texts, { noNullPrototype: true, maxKeys: 4 }),
});

function git(cwd: string, ...args: string[]): string {
  const env = { PATH: process.env.PATH ?? "", HOME: cwd, GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null" };
  const { status, stdout, stderr } = spawnSync("git", args, { cwd, encoding: "utf8", env });
  if (status !== 0) throw new Error(stderr);
  return stdout;
}

test("the files that a build gets are those that git would add, whichever folder a .gitignore is in", async () => {
  await fc.assert(
    fc.asyncProperty(trees, async ({ paths: all, rules }) => {
      const ignores = Object.entries(rules).map(([place, text]) => [`${place}.gitignore`, text]);
      const files: Record<string, string> = {
        ...Object.fromEntries(all.map((path) => [path, "-"])),
        ...Object.fromEntries(ignores),
      };
      using place = folder(files);
      git(place.path, "init", "-q");
      const wanted = git(place.path, "ls-files", "-co", "--exclude-standard", "-z")
        .split("\0")
        .filter(Boolean)
        .toSorted();
      const { entries } = await readFolder(place.path, [], limits);
      expect(
        entries
          .filter(({ kind }) => kind === "file")
          .map(({ path }) => path)
          .toSorted(),
      ).toEqual(wanted);
      const isSent = createSent(place.path, limits);
      expect(Object.keys(files).filter(isSent).toSorted()).toEqual(wanted);
      const picked = Object.keys(files).map((path) => ({
        webkitRelativePath: `root/${path}`,
        text: () => Promise.resolve(files[path] ?? ""),
      }));
      expect((await pickFiles(picked)).files.map(({ path }) => path).toSorted()).toEqual(wanted);
    }),
    { numRuns: Math.min(Number(process.env.BERTH_TEST_CASES ?? 30), 500) },
  );
});
