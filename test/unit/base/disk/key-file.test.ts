import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { loadKey } from "../../../../src/base/disk/key-file.ts";
import type { Layout } from "../../../../src/base/disk/layout.ts";
import { diskRoot } from "../../../support/disk-root.ts";

let layout: Layout;
let remove: () => void;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
});
afterEach(() => remove());

test("a first start makes 32 random bytes for the owner alone, later starts read them", async () => {
  const made = await loadKey(layout);
  writeFileSync(layout.database, "made with the key");
  expect(made.reveal()).toHaveLength(32);
  expect(statSync(layout.key).mode & 0o777).toBe(0o600);
  expect((await loadKey(layout)).reveal()).toEqual(made.reveal());
  expect(readdirSync(layout.root).filter((name) => name.startsWith("."))).toEqual([]);
});

test("two roots have two keys", async () => {
  const other = await diskRoot();
  expect((await loadKey(other.layout)).reveal()).not.toEqual((await loadKey(layout)).reveal());
  other.remove();
});

test("two starts at once agree on one key or one of them fails", async () => {
  const results = await Promise.allSettled([loadKey(layout), loadKey(layout)]);
  const keys = results.flatMap((result) => (result.status === "fulfilled" ? [result.value.reveal()] : []));
  writeFileSync(layout.database, "made with the key");
  const kept = (await loadKey(layout)).reveal();
  for (const key of keys) expect(key).toEqual(kept);
});

test.each(["database", "identityDatabase", "observabilityDatabase"] as const)(
  "no key is made beside a %s",
  async (which) => {
    writeFileSync(layout[which], "");
    await expect(loadKey(layout)).rejects.toMatchObject({
      code: "conflict",
      message: `database "${layout[which]}" is there but its key "${layout.key}" is missing: put the key file back, or restore a backup with \`berth restore FILE\``,
    });
    expect(existsSync(layout.key)).toBe(false);
  },
);

test("a key whose database has gone is no new installation", async () => {
  await loadKey(layout);
  await expect(loadKey(layout)).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining(`database "${layout.database}" is missing: put the database back`),
  });
});

test("users that have gone are missed where there is an index of them", async () => {
  await loadKey(layout);
  writeFileSync(layout.database, "made with the key");
  await loadKey(layout);
  writeFileSync(layout.identityIndex, "");
  await expect(loadKey(layout)).rejects.toMatchObject({
    code: "conflict",
    message: expect.stringContaining(`the users' database "${layout.identityDatabase}" is missing`),
  });
  writeFileSync(layout.identityDatabase, "");
  await loadKey(layout);
});

test("a file that holds something else is refused and left as it is", async () => {
  for (const text of [
    "",
    "short",
    Buffer.alloc(31).toString("base64"),
    Buffer.alloc(33).toString("base64"),
    "%".repeat(44),
  ]) {
    writeFileSync(layout.key, text);
    await expect(loadKey(layout)).rejects.toMatchObject({ code: "invalid" });
    expect(readFileSync(layout.key, "utf8")).toBe(text);
  }
});

test("a key that others may read is closed to them", async () => {
  await loadKey(layout);
  writeFileSync(layout.database, "made with the key");
  chmodSync(layout.key, 0o644);
  await loadKey(layout);
  expect(statSync(layout.key).mode & 0o777).toBe(0o600);
});

test("the key never prints", async () => {
  const key = await loadKey(layout);
  const text = readFileSync(layout.key, "utf8").trim();
  expect(`${key} ${Bun.inspect(key)} ${JSON.stringify(key)}`).not.toContain(text);
});
