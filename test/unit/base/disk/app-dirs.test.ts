import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { removeAppDir, removeVolumeDir } from "../../../../src/base/disk/app-dirs.ts";
import type { Layout } from "../../../../src/base/disk/layout.ts";
import { diskRoot } from "../../../support/disk-root.ts";

let layout: Layout;
let remove: () => void;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
});
afterEach(() => remove());

test("a folder goes with all it holds, its neighbours stay", async () => {
  for (const path of ["apps/shop-web/deep/er", "apps/shop-web2", "volumes/shop-web/data"]) {
    mkdirSync(join(layout.root, path), { recursive: true });
  }
  expect(await removeAppDir(layout, "shop-web")).toBe(true);
  expect(existsSync(join(layout.apps, "shop-web"))).toBe(false);
  expect(existsSync(join(layout.apps, "shop-web2"))).toBe(true);
  expect(await removeVolumeDir(layout, "shop-web")).toBe(true);
  expect(existsSync(join(layout.volumes, "shop-web"))).toBe(false);
});

test("what was not there is told", async () => {
  expect(await removeAppDir(layout, "shop-web")).toBe(false);
});

test("links are removed and never followed", async () => {
  const outside = join(layout.backups, "precious");
  mkdirSync(outside);
  writeFileSync(join(outside, "file"), "keep me");
  symlinkSync(outside, join(layout.apps, "shop-web"));
  mkdirSync(join(layout.apps, "shop-api"));
  symlinkSync(outside, join(layout.apps, "shop-api", "link"));
  expect(await removeAppDir(layout, "shop-web")).toBe(true);
  expect(await removeAppDir(layout, "shop-api")).toBe(true);
  expect(existsSync(join(layout.apps, "shop-web"))).toBe(false);
  expect(existsSync(join(outside, "file"))).toBe(true);
});

test("nothing is removed when the folder of all apps leads elsewhere", async () => {
  const elsewhere = join(layout.backups, "apps");
  renameSync(layout.apps, elsewhere);
  mkdirSync(join(elsewhere, "shop-web"));
  symlinkSync(elsewhere, layout.apps);
  await expect(removeAppDir(layout, "shop-web")).rejects.toMatchObject({ code: "conflict" });
  expect(existsSync(join(elsewhere, "shop-web"))).toBe(true);
  rmSync(layout.apps);
});

test("names that are no folder of an app are refused", async () => {
  for (const name of ["", ".", "..", "../run", "a/b", "a\0b"]) {
    await expect(removeAppDir(layout, name)).rejects.toMatchObject({ code: "invalid" });
  }
  expect(existsSync(layout.run)).toBe(true);
});
