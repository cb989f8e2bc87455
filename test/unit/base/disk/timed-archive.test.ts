import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { expect, test } from "bun:test";
import { extract, pack } from "tar-stream";
import { timedArchive } from "../../../../src/base/disk/timed-archive.ts";
import { waitFor } from "../../../support/wait.ts";

type Header = Parameters<ReturnType<typeof pack>["entry"]>[0];

async function packed(entries: [Header, string?][]): Promise<Buffer> {
  const tar = pack();
  for (const [header, text] of entries) tar.entry(header, text ?? "");
  tar.finalize();
  return gzipSync(await new Response(tar as never).arrayBuffer());
}

const times = (seconds: Record<string, number>) =>
  new Map(Object.entries(seconds).map(([path, time]) => [path, { mark: "", time }]));

test("files, links, folders and long names keep all but their times", async () => {
  const long = `${"deep/".repeat(60)}ü.txt`;
  const bytes = await packed([
    [{ name: "a", mode: 0o600 }, "x".repeat(200_000)],
    [{ name: "empty", mode: 0o644 }, ""],
    [{ name: "to-a", type: "symlink", linkname: "a" }],
    [{ name: "tmp/pids/", type: "directory", mode: 0o700 }],
    [{ name: long, mode: 0o755 }, "y"],
  ]);
  const found: unknown[] = [];
  const given = times({ a: 11, empty: 12, "to-a": 13, "tmp/pids": 14, [long]: 15 });
  for await (const entry of Readable.from(timedArchive(Readable.from([bytes]), given)).pipe(extract())) {
    const { name, type, mode, mtime, linkname } = entry.header;
    let size = 0;
    for await (const part of entry) size += (part as Uint8Array).length;
    found.push([name, type, mode, (mtime?.getTime() ?? 0) / 1000, size, linkname ?? null]);
  }
  expect(found).toEqual([
    ["a", "file", 0o600, 11, 200_000, null],
    ["empty", "file", 0o644, 12, 0, null],
    ["to-a", "symlink", expect.any(Number), 13, 0, "a"],
    ["tmp/pids/", "directory", 0o700, 14, 0, null],
    [long, "file", 0o755, 15, 1, null],
  ]);
});

test("a reader that stops early ends the source; a broken archive is an error", async () => {
  const bytes = await packed([
    [{ name: "a" }, crypto.getRandomValues(Buffer.alloc(60_000)).toString("hex").repeat(20)],
  ]);
  let ended = false;
  async function* source() {
    try {
      for (let at = 0; at < bytes.length; at += 1_000) yield bytes.subarray(at, at + 1_000);
    } finally {
      ended = true;
    }
  }
  for await (const _ of timedArchive(source(), times({}))) break;
  await waitFor("the source to end", () => ended);
  const broken = async () => {
    for await (const _ of timedArchive(Readable.from([bytes.subarray(0, 20_000)]), times({})));
  };
  expect(broken()).rejects.toThrow();
});
