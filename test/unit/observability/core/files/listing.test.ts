import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listCommand, readListing } from "../../../../../src/observability/core/files/listing.ts";

test("the command lists a folder of this machine, whatever its names are", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-listing-"));
  const names = [
    "a file",
    "two\nlines",
    "-rf",
    ".hidden",
    "..dots",
    "'quote\"",
    "\u001b[31mred",
    "$(reboot)",
    "*",
    "é",
  ];
  for (const name of names) writeFileSync(join(folder, name), "12345");
  mkdirSync(join(folder, "sub"));
  symlinkSync("two\nlines", join(folder, "link"));
  symlinkSync("nowhere", join(folder, "broken"));
  chmodSync(join(folder, "a file"), 0o4755);
  const list = (max: number) => {
    const run = Bun.spawnSync(listCommand(folder, max));
    return { code: run.exitCode, listing: readListing(run.stdout) };
  };
  const { listing } = list(100);
  expect(listing?.leftOut).toBe(0);
  expect(listing?.entries.map(({ name }) => name).toSorted()).toEqual([...names, "sub", "link", "broken"].toSorted());
  const of = (name: string) => listing?.entries.find((entry) => entry.name === name);
  expect(of("a file")).toMatchObject({ kind: "file", size_bytes: 5, mode: "4755" });
  expect(of("sub")).toMatchObject({ kind: "folder" });
  expect(of("link")).toMatchObject({ kind: "link", link_target: "two\nlines" });
  expect(of("broken")).toMatchObject({ kind: "link", link_target: "nowhere" });
  expect(listing?.entries[0]?.name).toBe("sub");
  const few = list(4);
  expect([few.listing?.entries.length, few.listing?.leftOut]).toEqual([4, names.length + 3 - 4]);
  rmSync(folder, { recursive: true });
});

test("an empty folder has no entries, and one that is missing fails", () => {
  const folder = mkdtempSync(join(tmpdir(), "berth-listing-"));
  const run = Bun.spawnSync(listCommand(folder, 10));
  expect(readListing(run.stdout)).toEqual({ entries: [], leftOut: 0 });
  rmSync(folder, { recursive: true });
  expect(Bun.spawnSync(listCommand(folder, 10)).exitCode).toBe(3);
});

test.each([
  "",
  "hello",
  "./a\0\0x\0\0",
  "./a\0\x001\0\0",
  "./a\0\x001\0\x0081a4 5 x\n",
  "./a/b\0\x001\0\x0081a4 5 5\n",
])("output %j of a container that does as it likes is no listing", (text) =>
  expect(readListing(new TextEncoder().encode(text))).toBeUndefined(),
);
