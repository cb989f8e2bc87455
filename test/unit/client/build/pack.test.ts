import { afterEach, beforeEach, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { createGunzip } from "node:zlib";
import { extract } from "tar-stream";
import { readFolder } from "../../../../src/client/build/folder.ts";
import { packFolder } from "../../../../src/client/build/pack.ts";
import { CommandFailure } from "../../../../src/client/basics/failures.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "pack-"));
  mkdirSync(join(root, "deep"));
  writeFileSync(join(root, "deep/empty"), "");
  writeFileSync(join(root, "app.js"), "x".repeat(300_000));
  writeFileSync(join(root, "up.log"), "one\n");
  symlinkSync("app.js", join(root, "link"));
});
afterEach(() => rmSync(root, { recursive: true }));

const look = () => readFolder(root, [], { filesMax: 100, bytesMax: 10_000_000, textBytesMax: 1_000_000 });

async function packed(folder: Awaited<ReturnType<typeof look>>): Promise<string[]> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of packFolder(folder)) chunks.push(chunk);
  const names: string[] = [];
  for await (const entry of Readable.from(chunks)
    .pipe(createGunzip())
    .pipe(extract() as never) as ReturnType<typeof extract>) {
    let bytes = 0;
    for await (const chunk of entry) bytes += (chunk as Uint8Array).length;
    names.push(`${entry.header.name} ${bytes}`);
  }
  return names;
}

test("a folder is packed whole, and gives the same bytes each time", async () => {
  const folder = await look();
  expect(await packed(folder)).toEqual(["app.js 300000", "deep/empty 0", "link 0", "up.log 4"]);
  const bytes = async () => Buffer.concat(await Array.fromAsync(packFolder(folder))).toString("hex");
  expect(await bytes()).toBe(await bytes());
});

const log = () => join(root, "up.log");
const changed = '"up.log" changed while it was packed. Try again, or leave it out in .berthignore.';
test.each([
  ["grew", () => appendFileSync(log(), "two\n"), changed],
  ["shrank", () => truncateSync(log(), 1), changed],
  ["was emptied", () => truncateSync(log(), 0), changed],
  ["has other contents of the same size", () => writeFileSync(log(), "two\n"), changed],
  ["was removed", () => rmSync(log()), 'cannot read "up.log": it was removed meanwhile. Try again'],
  [
    "became a folder",
    () => {
      rmSync(log());
      mkdirSync(log());
    },
    'cannot read "up.log": ',
  ],
])("a file that %s since the folder was looked at ends in a sentence that names it", async (_, change, text) => {
  const folder = await look();
  change();
  const error = await packed(folder).catch((it: unknown) => it);
  expect(error).toBeInstanceOf(CommandFailure);
  expect(String(error)).toContain(text);
});
