import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Assets, createAssets } from "../../../../src/base/disk/assets.ts";
import type { Layout } from "../../../../src/base/disk/layout.ts";
import { diskRoot } from "../../../support/disk-root.ts";

let layout: Layout;
let remove: () => void;
let assets: Assets;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
  assets = createAssets(layout.assets);
});
afterEach(() => remove());

const bytes = new TextEncoder().encode("listen 80;");
const sha256 = createHash("sha256").update(bytes).digest("hex");

test("put stores the bytes under their digest, readable for every user of a container", async () => {
  expect(await assets.put(bytes)).toBe(sha256);
  expect(assets.path(sha256)).toBe(join(layout.assets, sha256));
  expect(readFileSync(assets.path(sha256), "utf8")).toBe("listen 80;");
  expect(statSync(assets.path(sha256)).mode & 0o777).toBe(0o644);
});

test("putting the same again leaves the file alone: pods have it mounted", async () => {
  await assets.put(bytes);
  const { ino } = statSync(assets.path(sha256));
  await assets.put(bytes);
  expect(statSync(assets.path(sha256)).ino).toBe(ino);
});

test("a file that was edited is told, and made whole by the next put", async () => {
  expect(await assets.verify(sha256)).toBe("missing");
  await assets.put(bytes);
  expect(await assets.verify(sha256)).toBe("ok");
  writeFileSync(assets.path(sha256), "listen 81;");
  expect(await assets.verify(sha256)).toBe("altered");
  await assets.put(bytes);
  expect(await assets.verify(sha256)).toBe("ok");
});

test("a program has its mode, and is another file than the same text without one", async () => {
  const plain = await assets.put(bytes);
  const program = await assets.put(bytes, 0o755);
  expect(program).not.toBe(plain);
  const modes = [plain, program].map((digest) => statSync(assets.path(digest)).mode & 0o777);
  expect(modes).toEqual([0o644, 0o755]);
  expect(await assets.verify(program)).toBe("ok");
  expect(await assets.read(program)).toEqual(Buffer.from(bytes));
  chmodSync(assets.path(program), 0o644);
  expect(await assets.verify(program)).toBe("altered");
  await assets.put(bytes, 0o755);
  expect(statSync(assets.path(program)).mode & 0o777).toBe(0o755);
});

test("list shows digests only, remove is fine with a missing one", async () => {
  await assets.put(bytes);
  writeFileSync(join(layout.assets, "README"), "not an asset");
  expect(await assets.list()).toEqual([sha256]);
  await assets.remove(sha256);
  await assets.remove(sha256);
  expect(await assets.list()).toEqual([]);
});

test("only a digest names a file", async () => {
  for (const name of ["../key", "", sha256.toUpperCase(), `${sha256}0`]) {
    expect(() => assets.path(name)).toThrow("is not a sha256 digest");
    await expect(assets.remove(name)).rejects.toMatchObject({ code: "invalid" });
  }
});

test("read gives the bytes while they are what their name says", async () => {
  expect(await assets.read(sha256)).toBeUndefined();
  await assets.put(bytes);
  expect(Buffer.from((await assets.read(sha256)) ?? []).toString()).toBe("listen 80;");
  writeFileSync(assets.path(sha256), "listen 81;");
  expect(await assets.read(sha256)).toBeUndefined();
});

test("a plain file whose text begins like that of a mode is another file, whoever stores which first", async () => {
  const program = new TextEncoder().encode("#!/bin/sh\necho mine\n");
  const forged = new TextEncoder().encode("mode 755\n#!/bin/sh\necho mine\n");
  const [theirs, ours] = [await assets.put(forged), await assets.put(program, 0o755)];
  expect(theirs).not.toBe(ours);
  expect(readFileSync(assets.path(ours), "utf8")).toBe("#!/bin/sh\necho mine\n");
  expect(statSync(assets.path(ours)).mode & 0o777).toBe(0o755);
  expect(readFileSync(assets.path(theirs), "utf8")).toStartWith("mode 755\n");
});
