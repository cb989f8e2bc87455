import { afterEach, beforeEach, expect, test } from "bun:test";
import { copyFileSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { writeBackup } from "../../../../src/base/disk/backup.ts";
import { readBackup } from "../../../../src/base/disk/backup-file.ts";
import type { Layout } from "../../../../src/base/disk/layout.ts";
import { secret } from "../../../../src/base/words/secret.ts";
import { diskRoot } from "../../../support/disk-root.ts";

let layout: Layout;
let remove: () => void;
let target: string;
let into: string;
let identityInto: string;
let observabilityInto: string;
beforeEach(async () => {
  ({ layout, remove } = await diskRoot());
  target = join(layout.backups, "one.backup");
  into = join(layout.root, "restored.db");
  identityInto = join(layout.root, "restored-identity.db");
  observabilityInto = join(layout.root, "restored-observability.db");
  // Longer than two pieces of a file, and not a multiple of one.
  writeFileSync(layout.database, Buffer.alloc(2_500_001, "desired state "));
});
afterEach(() => remove());

const key = secret<Uint8Array>(Uint8Array.from({ length: 32 }, (_, index) => index));
const keyText = Buffer.from(key.reveal());
const source = {
  copyDatabase: (to: string) => copyFileSync(layout.database, to),
  copyBeside: {},
};
const now = Date.parse("2026-01-02T03:04:05.678Z");
const passphrase = secret("open sesame");

const write = (phrase = undefined as typeof passphrase | undefined) =>
  writeBackup({ ...source, key, passphrase: phrase, target, now });
const read = (phrase = undefined as typeof passphrase | undefined) =>
  readBackup(target, {
    into,
    besideInto: { identity: identityInto, observability: observabilityInto },
    passphrase: phrase,
  });

test("with and without a passphrase, what comes back is what went in", async () => {
  for (const phrase of [undefined, passphrase]) {
    await write(phrase);
    const content = await read(phrase);
    expect(content.key.reveal()).toEqual(key.reveal());
    expect(content.createdAt).toBe(now);
    expect(readFileSync(into).equals(readFileSync(layout.database))).toBe(true);
    expect(statSync(target).mode & 0o777).toBe(0o600);
    expect(statSync(into).mode & 0o777).toBe(0o600);
    expect(readdirSync(layout.backups)).toEqual(["one.backup"]);
    await Bun.file(into).delete();
  }
});

test("a sealed backup shows neither the key nor the content, an open one says what it is", async () => {
  await write(passphrase);
  const sealed = readFileSync(target);
  expect(sealed.includes("desired state")).toBe(false);
  expect(sealed.includes(keyText)).toBe(false);
  const [first, second] = sealed.toString("latin1").split("\n");
  expect(first).toBe("berth-backup 1");
  expect(JSON.parse(second ?? "")).toMatchObject({ created_at: "2026-01-02T03:04:05.678Z", sealed: true });
});

test("the wrong passphrase, or none, is refused and leaves nothing behind", async () => {
  await write(passphrase);
  await expect(read(secret("sesame"))).rejects.toMatchObject({
    code: "invalid",
    message: expect.stringContaining("does not open with this passphrase"),
  });
  await expect(read()).rejects.toThrow("is sealed: give its passphrase");
  expect(existsSync(into)).toBe(false);
});

test("a byte altered anywhere, or a cut-off end, is refused", async () => {
  await write(passphrase);
  const whole = readFileSync(target);
  for (const at of [20, 300, 1_000_000, whole.length - 40, whole.length - 1]) {
    const altered = Buffer.from(whole);
    altered[at] = (altered[at] ?? 0) ^ 1;
    writeFileSync(target, altered);
    await expect(read(passphrase)).rejects.toMatchObject({ name: "Failure", code: "invalid" });
  }
  for (const length of [0, 10, 100, 1_000, whole.length - 1]) {
    writeFileSync(target, whole.subarray(0, length));
    await expect(read(passphrase)).rejects.toMatchObject({ name: "Failure", code: "invalid" });
  }
  expect(existsSync(into)).toBe(false);
});

test("another file, a missing one and a later format are told apart", async () => {
  await expect(read()).rejects.toThrow("cannot be read");
  writeFileSync(target, "SQLite format 3\0 and so on\n\n");
  await expect(read()).rejects.toThrow(`"${target}" is not a backup made by berth`);
  writeFileSync(target, "berth-backup 4\n{}\n");
  await expect(read()).rejects.toThrow('has format "berth-backup 4": restore it with the berth that made it');
});

test("a backup that fails half-way leaves the former one and no half file", async () => {
  await write();
  const former = readFileSync(target);
  const failing = writeBackup({
    copyDatabase: () => {
      throw new Error("no copy");
    },
    ...{ copyBeside: {}, key, passphrase, target, now },
  });
  await expect(failing).rejects.toThrow("no copy");
  expect(readFileSync(target).equals(former)).toBe(true);
  expect(readdirSync(layout.backups)).toEqual(["one.backup"]);
});

test("the identity database comes back beside the other, whatever the sizes of both", async () => {
  for (const bytes of [0, 1, 4_096, 1_000_003]) {
    writeFileSync(layout.identityDatabase, Buffer.alloc(bytes, "users "));
    const copyIdentity = (to: string) => copyFileSync(layout.identityDatabase, to);
    for (const phrase of [undefined, passphrase]) {
      await writeBackup({ ...source, copyBeside: { identity: copyIdentity }, key, passphrase: phrase, target, now });
      expect(readFileSync(target, "latin1").startsWith("berth-backup 2\n")).toBe(true);
      const content = await read(phrase);
      expect(content).toMatchObject({ createdAt: now, holds: ["identity"] });
      expect(content.key.reveal()).toEqual(key.reveal());
      expect(readFileSync(into).equals(readFileSync(layout.database))).toBe(true);
      expect(readFileSync(identityInto).equals(readFileSync(layout.identityDatabase))).toBe(true);
      expect(statSync(identityInto).mode & 0o777).toBe(0o600);
      await Promise.all([Bun.file(into).delete(), Bun.file(identityInto).delete()]);
    }
  }
});

test.each([
  [["observability"], 3],
  [["identity", "observability"], 3],
] as const)("with %j beside it, each comes back in its place", async (names, version) => {
  const paths = { identity: layout.identityDatabase, observability: layout.observabilityDatabase };
  const fresh = { identity: identityInto, observability: observabilityInto };
  for (const [index, name] of names.entries()) writeFileSync(paths[name], Buffer.alloc(5_000 + index, `${name} `));
  const copies = names.map((name) => [name, (to: string) => copyFileSync(paths[name], to)]);
  for (const phrase of [undefined, passphrase]) {
    await writeBackup({ ...source, copyBeside: Object.fromEntries(copies), key, passphrase: phrase, target, now });
    expect(readFileSync(target, "latin1").startsWith(`berth-backup ${version}\n`)).toBe(true);
    expect((await read(phrase)).holds).toEqual([...names]);
    expect(readFileSync(into).equals(readFileSync(layout.database))).toBe(true);
    for (const name of names) {
      expect(readFileSync(fresh[name]).equals(readFileSync(paths[name]))).toBe(true);
      expect(statSync(fresh[name]).mode & 0o777).toBe(0o600);
      await Bun.file(fresh[name]).delete();
    }
    await Bun.file(into).delete();
  }
});

test("a backup without users is of the former format, which an older berth restores", async () => {
  await write();
  expect(readFileSync(target, "latin1").startsWith("berth-backup 1\n")).toBe(true);
  expect((await read()).holds).toEqual([]);
  expect(existsSync(identityInto)).toBe(false);
});

test("a head that does not fit its format is refused", async () => {
  await write();
  const whole = readFileSync(target, "latin1");
  writeFileSync(target, whole.replace("berth-backup 1", "berth-backup 2"), "latin1");
  await expect(read()).rejects.toThrow("is damaged (its head)");
});
