import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Layout, layoutOf } from "../../../../src/base/disk/layout.ts";
import { makeFolders, prepareRoot } from "../../../../src/base/disk/root.ts";
import { diskRoot } from "../../../support/disk-root.ts";

let layout: Layout;
let remove: () => void;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
});
afterEach(() => remove());

const modeOf = (path: string) => statSync(path).mode & 0o777;

test("every path of the layout is under the root", () => {
  for (const path of Object.values(layoutOf("/srv/box"))) expect(path).toStartWith("/srv/box");
});

test("folders with secrets are for the owner alone, also when someone loosened them", async () => {
  chmodSync(layout.run, 0o777);
  await prepareRoot(layout);
  for (const folder of [layout.run, layout.backups, layout.logs]) expect(modeOf(folder)).toBe(0o700);
  for (const folder of [layout.apps, layout.volumes]) expect(modeOf(folder)).toBe(0o755);
  expect(modeOf(layout.assets)).toBe(0o711);
});

test("a root that we make lets the users of plugins through, whatever the umask, and nobody look", async () => {
  rmSync(layout.root, { recursive: true });
  const before = process.umask(0o077);
  await prepareRoot(layout).finally(() => process.umask(before));
  expect(modeOf(layout.root)).toBe(0o711);
});

test("the root's own mode is the operator's", async () => {
  chmodSync(layout.root, 0o710);
  await prepareRoot(layout);
  expect(modeOf(layout.root)).toBe(0o710);
});

test("half-written files are cleared, others are not", async () => {
  const half = join(layout.assets, ".abc.0123456789abcdef.tmp");
  const whole = join(layout.assets, "mine.tmp");
  for (const file of [half, whole]) writeFileSync(file, "x");
  await prepareRoot(layout);
  expect([existsSync(half), existsSync(whole)]).toEqual([false, true]);
});

test("a folder that cannot be made is named", async () => {
  rmSync(layout.apps, { recursive: true });
  writeFileSync(layout.apps, "a file");
  await expect(makeFolders(layout)).rejects.toMatchObject({
    name: "Failure",
    message: expect.stringContaining("apps"),
  });
});
