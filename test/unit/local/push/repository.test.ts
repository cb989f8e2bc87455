import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { openRepository, pushTarget, targetText } from "../../../../src/local/push/repository.ts";
import { folder } from "../../../support/files.ts";

test.each([
  ["shop", "shop"],
  ["/shop", "shop"],
  ["/~/shop.git", "shop"],
  ["shop/api", "shop/api"],
  ["/shop/api.git/", "shop/api"],
])("%s is the repository %s", (path, name) => {
  expect(targetText(pushTarget(path))).toBe(name);
});

test.each([
  [""],
  ["/"],
  ["a/b/c"],
  ["../shop"],
  ["shop/.."],
  ["Shop"],
  ["/etc/passwd"],
  ["shop/a;b"],
  ["-x"],
  ["a\nb"],
])("%j is no repository", (path) => {
  // "/etc/passwd" is one: the app "passwd" of the scope "etc", below the folder of repositories.
  if (path === "/etc/passwd") expect(pushTarget(path)).toEqual({ scope: "etc", name: "passwd" });
  else expect(() => pushTarget(path)).toThrow("is not a repository");
});

test("is made once, for a group, without hooks; what a killed push left is cleared after a day", async () => {
  using place = folder({});
  const path = await openRepository(place.path, { scope: "shop", name: undefined });
  expect(path).toBe(join(place.path, "shop.git"));
  expect(existsSync(join(path, "hooks"))).toBe(false);
  expect(readFileSync(join(path, "HEAD"), "utf8")).toBe("ref: refs/heads/main\n");
  expect(statSync(path).mode & 0o2070).toBe(0o2070);
  for (const name of ["berth-work.old", "berth-work.new"]) mkdirSync(join(path, name));
  utimesSync(join(path, "berth-work.old"), 0, 0);
  await openRepository(place.path, { scope: "shop", name: undefined });
  expect(existsSync(join(path, "berth-work.old"))).toBe(false);
  expect(existsSync(join(path, "berth-work.new"))).toBe(true);
  expect(await openRepository(place.path, { scope: "shop", name: "api" })).toBe(join(place.path, "shop/api.git"));
  expect(statSync(join(place.path, "shop")).mode & 0o7777).toBe(0o2770);
});

test("without its folder says what to do", async () => {
  using place = folder({ "state.db": "x" });
  const opened = openRepository(join(place.path, "repositories"), { scope: "shop", name: undefined });
  await expect(opened).rejects.toThrow("start the server of this version");
  const elsewhere = openRepository("/nowhere/repositories", { scope: "shop", name: undefined });
  await expect(elsewhere).rejects.toThrow(
    "/nowhere is not the folder of a berth server: give --root DIR or BERTH_ROOT",
  );
});
