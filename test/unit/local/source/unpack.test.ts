import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Header, pack } from "tar-stream";
import { unpack } from "../../../../src/local/source/unpack.ts";
import { zip } from "../../../support/zip.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "berth-unpack-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const inflation = { ratioMax: 100, freeBytes: 1_000_000 };
const limits = { filesMax: 20, bytesMax: 100_000, inflation, guessModes: false };

type Member = Partial<Header> & { name: string; text?: string };

async function tar(members: readonly Member[]): Promise<Uint8Array> {
  const archive = pack();
  for (const { text, ...header } of members) archive.entry(header as Header, text ?? "");
  archive.finalize();
  return Buffer.concat((await Array.fromAsync(archive as AsyncIterable<Uint8Array>)) as Uint8Array[]);
}

async function unpacked(bytes: Uint8Array, more: Partial<typeof limits> = {}): Promise<string[]> {
  const file = join(folder, "upload");
  writeFileSync(file, bytes);
  return unpack(file, join(folder, "tree"), { ...limits, ...more });
}
const inTree = (path: string) => join(folder, "tree", path);

const files: Member[] = [
  { name: "./app/", type: "directory" },
  { name: "./app/Dockerfile", text: "FROM a" },
  { name: "./app/run.sh", text: "#!/bin/sh", mode: 0o755 },
  { name: "./app/.env", text: "SECRET=1" },
  { name: "./app/node_modules/x/a.js", text: "a" },
  { name: "./app/.git/config", text: "x" },
  { name: "./app/latest", type: "symlink", linkname: "run.sh" },
];

describe("an archive", () => {
  test.each([
    ["tar", (bytes: Uint8Array) => bytes],
    ["tar.gz", (bytes: Uint8Array) => gzipSync(bytes)],
  ])("as %s is written without secrets, dependencies and history", async (_, pressed) => {
    expect(await unpacked(pressed(await tar(files)))).toEqual(["app/.env"]);
    expect(readFileSync(inTree("app/latest"), "utf8")).toBe("#!/bin/sh");
    expect(statSync(inTree("app/run.sh")).mode & 0o111).not.toBe(0);
    for (const path of ["app/.env", "app/node_modules", "app/.git"]) expect(existsSync(inTree(path))).toBe(false);
  });

  test("keeps modes and empty folders, whatever the umask is", async () => {
    const before = process.umask(0o077);
    try {
      await unpacked(
        await tar([
          { name: "tmp/pids/", type: "directory" },
          { name: "locked/", type: "directory", mode: 0o500 },
          { name: "locked/a", text: "a" },
          { name: "key", text: "k", mode: 0o600 },
          { name: "sub/b", text: "b", mode: 0o4755 },
        ]),
      );
    } finally {
      process.umask(before);
    }
    const mode = (path: string) => statSync(inTree(path)).mode & 0o7777;
    expect(["tmp/pids", "locked", "locked/a", "key", "sub", "sub/b"].map(mode)).toEqual([
      ...[0o755, 0o700, 0o644, 0o600, 0o755, 0o755],
    ]);
  });

  test("as zip is written with modes and links", async () => {
    const members = [
      { name: "app/", text: "" },
      { name: "app/run.sh", text: "#!/bin/sh\n".repeat(2_000), mode: 0o100755 },
      { name: "app/latest", text: "run.sh", mode: 0o120777 },
      { name: "app/prod.env", text: "SECRET=1" },
    ];
    expect(await unpacked(zip(members))).toEqual(["app/prod.env"]);
    expect(readFileSync(inTree("app/latest"), "utf8")).toHaveLength(20_000);
    expect(statSync(inTree("app/run.sh")).mode & 0o111).not.toBe(0);
  });

  test("of a browser has no modes: what begins like a program is one", async () => {
    await unpacked(
      await tar([
        { name: "gradlew", text: "#!/bin/sh" },
        { name: "a.txt", text: "a" },
      ]),
      {
        guessModes: true,
      },
    );
    expect([statSync(inTree("gradlew")).mode & 0o111, statSync(inTree("a.txt")).mode & 0o111]).toEqual([0o111, 0]);
  });

  test.each<[string, Member[], string]>([
    ["a link out of the folder", [{ name: "a", type: "symlink", linkname: "../../etc/passwd" }], "out of the folder"],
    ["a link to an absolute place", [{ name: "a", type: "symlink", linkname: "/etc/passwd" }], "out of the folder"],
    [
      "a link that leads out through another one",
      [
        { name: "b", type: "symlink", linkname: "." },
        { name: "x/a", type: "symlink", linkname: "../b/.." },
      ],
      "leads out of the folder",
    ],
    ["a path out of the folder", [{ name: "../a", text: "a" }], "leads out of the folder"],
    ["a name with a line break", [{ name: "a\nb", text: "a" }], "control character"],
    ["a device", [{ name: "null", type: "character-device" }], "not a file, a folder or a link"],
    ["a hard link", [{ name: "a", type: "link", linkname: "b" }], "not a file, a folder or a link"],
    [
      "a file twice",
      [
        { name: "a", text: "1" },
        { name: "a", text: "2" },
      ],
      "a name twice",
    ],
    [
      "too many files",
      Array.from({ length: 21 }, (_, index) => ({ name: `f${index}`, text: "" })),
      "more than 20 files",
    ],
    ["too many bytes", [{ name: "a", text: "0".repeat(100_001) }], "more than 100000 bytes"],
  ])("with %s is refused", async (_, members, why) => {
    await expect(unpacked(gzipSync(await tar(members)))).rejects.toThrow(why);
  });

  test.each<[string, Uint8Array, string]>([
    ["a zip bomb", zip([{ name: "a", text: "0".repeat(5_000_000) }]), "more than 100000 bytes"],
    ["a zip link out of the folder", zip([{ name: "a", text: "../../etc", mode: 0o120777 }]), "out of the folder"],
    ["an encrypted zip", zip([{ name: "a", text: "a", flags: 1 }]), "encrypted"],
    ["a zip without its end", zip([{ name: "a", text: "a" }]).subarray(0, 40), "broken"],
    ["what is no archive", Buffer.from("<html>".repeat(500)), "neither tar nor zip"],
    ["half an archive", gzipSync(Buffer.alloc(5_000, "a")).subarray(0, 20), "broken"],
  ])("%s is refused", async (_, bytes, why) => {
    await expect(unpacked(bytes)).rejects.toThrow(why);
  });
});
