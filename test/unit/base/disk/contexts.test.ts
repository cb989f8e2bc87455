import { describe, expect, test } from "bun:test";
import { readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Readable } from "node:stream";
import { extract, pack } from "tar-stream";
import { type Contexts, createContexts } from "../../../../src/base/disk/contexts.ts";
import { contextDigest } from "../../../../src/base/pure/source-tree.ts";
import { sha256Hex } from "../../../../src/base/pure/digest.ts";
import type { Failure } from "../../../../src/base/wire/failure.ts";
import { folder } from "../../../support/files.ts";

const limits = {
  inflation: { ratioMax: 100, freeBytes: 1_000_000 },
  ...{ packedBytesMax: 4_096, bytesMax: 10_000, filesMax: 3, keptBytesMax: 250, unfinishedMs: 1_000 },
  timedAppsMax: 2,
};
const app = "shop/web";

type Header = Parameters<ReturnType<typeof pack>["entry"]>[0];

async function archive(entries: [Header, string?][]): Promise<Uint8Array> {
  const tar = pack();
  for (const [header, text] of entries) tar.entry(header, text ?? "");
  tar.finalize();
  const parts: Uint8Array[] = [];
  for await (const part of tar) parts.push(part as Uint8Array);
  return new Uint8Array(gzipSync(Buffer.concat(parts)));
}

const digestOf = (files: Record<string, string>) =>
  contextDigest(
    Object.entries(files).map(([path, text]) => ({ path, kind: "file", mode: 0o644, digest: sha256Hex(text) })),
  );
const filesOf = (files: Record<string, string>) =>
  archive(Object.entries(files).map(([name, text]) => [{ name, mode: 0o644 }, text]));

async function headersOf(bytes: AsyncIterable<Uint8Array>) {
  const found: Record<string, { time: number; mode: number | undefined; text: string }> = {};
  const tar = Readable.from(bytes).pipe(extract());
  for await (const entry of tar) {
    const parts: Uint8Array[] = [];
    for await (const part of entry) parts.push(part as Uint8Array);
    const { name, mode, mtime } = entry.header;
    found[name] = { time: (mtime?.getTime() ?? 0) / 1000, mode, text: Buffer.concat(parts).toString() };
  }
  return found;
}
const contentOf = async (bytes: AsyncIterable<Uint8Array>) =>
  Object.fromEntries(Object.entries(await headersOf(bytes)).map(([name, { text }]) => [name, text]));

describe("the times of files", () => {
  const built = async (contexts: Contexts, files: Record<string, string>, at: { app?: string; now: number }) => {
    const digest = digestOf(files);
    await contexts.append(digest, await filesOf(files), { offset: 0, last: true });
    const headers = await headersOf(contexts.read(digest, { app, ...at }));
    return Object.fromEntries(Object.entries(headers).map(([name, { time }]) => [name, time]));
  };

  test("stay with the content, and grow with a change, also when the clock went back or the server restarted", async () => {
    using place = folder({});
    const contexts = createContexts(place.path, limits);
    expect(await built(contexts, { a: "1", b: "1" }, { now: 10_000 })).toEqual({ a: 10, b: 10 });
    expect(await built(contexts, { a: "1", b: "2" }, { now: 20_000 })).toEqual({ a: 10, b: 20 });
    expect(await built(contexts, { a: "1", b: "2" }, { now: 30_000 })).toEqual({ a: 10, b: 20 });
    const next = createContexts(place.path, limits);
    expect(await built(next, { a: "1", b: "3" }, { now: 5_000 })).toEqual({ a: 10, b: 21 });
    // Gone and back as something else.
    expect(await built(next, { a: "1" }, { now: 5_000 })).toEqual({ a: 10 });
    expect(await built(next, { a: "1", b: "4" }, { now: 5_000 })).toEqual({ a: 10, b: 22 });
    expect(await built(next, { a: "1", b: "4" }, { app: "shop/other", now: 7_000 })).toEqual({ a: 7, b: 7 });
  });

  test("of the apps that were not built for the longest are forgotten, and a broken file is none", async () => {
    using place = folder({});
    const contexts = createContexts(place.path, { ...limits, keptBytesMax: 10_000 });
    for (const name of ["x/a", "x/b", "x/c"]) await built(contexts, { a: "1" }, { app: name, now: 1_000 });
    const times = () => readdirSync(place.path).filter((name) => name.endsWith(".times"));
    for (const [index, name] of times().entries()) utimesSync(join(place.path, name), index, index);
    const [oldest, ...others] = times();
    await contexts.collect(2_000);
    expect([times(), times().includes(oldest ?? "")]).toEqual([others, false]);
    for (const name of times()) writeFileSync(join(place.path, name), "broken");
    for (const name of ["x/a", "x/b", "x/c"]) {
      expect(await built(contexts, { a: "1" }, { app: name, now: 9_000 })).toEqual({ a: 9 });
    }
  });
});

async function failure(work: Promise<unknown>): Promise<Pick<Failure, "code" | "message" | "reason" | "fields">> {
  return await work.then(
    () => {
      throw new Error("it did not fail");
    },
    (error: Failure) => error,
  );
}

describe("an upload", () => {
  const files = { "a.txt": "a", "b/c.txt": "c" };

  test("in parts is checked at the last one, and read back", async () => {
    using place = folder({});
    const contexts = createContexts(place.path, limits);
    const digest = digestOf(files);
    const bytes = await filesOf(files);
    expect(await contexts.state(digest)).toEqual({ complete: false, received: 0 });
    await contexts.append(digest, bytes.subarray(0, 20), { offset: 0, last: false });
    expect(await contexts.state(digest)).toEqual({ complete: false, received: 20 });
    const wrong = await failure(contexts.append(digest, bytes, { offset: 0, last: false }));
    expect([wrong.code, wrong.reason, wrong.fields]).toEqual(["conflict", "ContextOffset", { received: 20 }]);
    const done = await contexts.append(digest, bytes.subarray(20), { offset: 20, last: true });
    expect(done).toEqual({ complete: true, received: bytes.length });
    expect(await contentOf(contexts.read(digest, { app, now: 5_000 }))).toEqual(files);
  });

  test("that is another folder than it says is thrown away", async () => {
    using place = folder({});
    const contexts = createContexts(place.path, limits);
    const digest = digestOf({ other: "x" });
    const { code, message } = await failure(contexts.append(digest, await filesOf(files), { offset: 0, last: true }));
    expect([code, message]).toEqual(["invalid", expect.stringContaining("it changed while it was packed")]);
    expect(readdirSync(place.path)).toEqual([]);
  });

  test("is bounded, packed", async () => {
    using place = folder({});
    const contexts = createContexts(place.path, limits);
    const digest = digestOf(files);
    expect((await failure(contexts.append(digest, new Uint8Array(5_000), { offset: 0, last: false }))).code).toBe(
      "too_large",
    );
  });

  test("needs a digest for its name", async () => {
    using place = folder({});
    const contexts = createContexts(place.path, limits);
    expect((await failure(contexts.state("../../etc"))).code).toBe("invalid");
  });
});

describe("an archive is refused for", () => {
  test.each<[string, [Header, string?][], string]>([
    ["a path that leads out", [[{ name: "../a" }, "x"]], "leads out of the folder"],
    ["a link that leads out", [[{ name: "a", type: "symlink", linkname: "/etc/shadow" }]], "out of the folder"],
    ["a hard link", [[{ name: "a", type: "link", linkname: "b" }]], "which is a link"],
    ["a device", [[{ name: "a", type: "character-device" }]], "which is a character-device"],
    [
      "a name twice",
      [
        [{ name: "a" }, "1"],
        [{ name: "a" }, "2"],
      ],
      '"a" twice',
    ],
    ["a line break in a name", [[{ name: "a\nb" }, "1"]], "control character"],
    ["too many files", ["a", "b", "c", "d"].map((name) => [{ name }, "x"]), "more than 3 files"],
    ["too much when unpacked", [[{ name: "a" }, "x".repeat(20_000)]], "unpacks to more than 10000 bytes"],
  ])("%s", async (_, entries, text) => {
    using place = folder({});
    const contexts = createContexts(place.path, limits);
    const { message } = await failure(
      contexts.append("0".repeat(64), await archive(entries), { offset: 0, last: true }),
    );
    expect(message).toContain(text);
    expect(readdirSync(place.path)).toEqual([]);
  });

  test("what is no archive", async () => {
    using place = folder({});
    const contexts = createContexts(place.path, limits);
    for (const bytes of [new Uint8Array([1, 2, 3]), new Uint8Array(gzipSync("hello")), new Uint8Array()]) {
      const { code } = await failure(contexts.append("0".repeat(64), bytes, { offset: 0, last: true }));
      expect(code).toBe("invalid");
    }
  });
});

test("the least recently used go when there are too many, and uploads that nobody goes on with", async () => {
  using place = folder({});
  const contexts = createContexts(place.path, limits);
  const sets = ["1", "2", "3"].map((text) => ({ f: text }));
  for (const [index, files] of sets.entries()) {
    await contexts.append(digestOf(files), await filesOf(files), { offset: 0, last: true });
    utimesSync(join(place.path, `${digestOf(files)}.tar.gz`), index, index);
  }
  await contexts.append("0".repeat(64), new Uint8Array(3), { offset: 0, last: false });
  await contexts.collect(Date.now() + 5_000);
  const kept = readdirSync(place.path);
  expect(kept).toContain(`${digestOf({ f: "3" })}.tar.gz`);
  expect(kept).not.toContain(`${digestOf({ f: "1" })}.tar.gz`);
  expect(kept.some((name) => name.endsWith(".part"))).toBe(false);
});
