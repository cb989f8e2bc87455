import { describe, expect, test } from "bun:test";
import { Readable } from "node:stream";
import { extract, pack } from "tar-stream";
import { ownerOf, textIn, withOwner } from "../../../../../src/orchestration/engine/docker/file-owner.ts";

const accounts: Record<string, string> = {
  "/etc/passwd": "root:x:0:0::/root:/bin/sh\napp:x:77:88::/:/bin/sh\n",
  "/etc/group": "root:x:0:\nstaff:x:99:app\n",
};

test.each([
  ["", 0, 0],
  ["1234", 1234, 0],
  ["1234:5678", 1234, 5678],
  ["77", 77, 88],
  ["app", 77, 88],
  ["app:staff", 77, 99],
  ["app:5", 77, 5],
  ["1234:staff", 1234, 99],
  ["none", 0, 0],
  ["none:none", 0, 0],
])("user %p is %p:%p", async (user, uid, gid) => {
  expect(await ownerOf(user, async (path) => accounts[path])).toEqual({ uid, gid });
});

test("a container without account files has root and numbers", async () => {
  expect(await ownerOf("app", async () => undefined)).toEqual({ uid: 0, gid: 0 });
  expect(await ownerOf("7:8", async () => undefined)).toEqual({ uid: 7, gid: 8 });
});

type Entry = Parameters<ReturnType<typeof pack>["entry"]>[0] & { text?: string };

function archiveOf(entries: Entry[]): AsyncIterable<Uint8Array> {
  const archive = pack();
  for (const { text = "", ...header } of entries) archive.entry(header, text);
  archive.finalize();
  return archive as unknown as AsyncIterable<Uint8Array>;
}

describe("withOwner", () => {
  test("changes the owner of everything, and nothing else", async () => {
    const large = "x".repeat(300_000);
    const long = `${"d".repeat(150)}/${"f".repeat(150)}`;
    const from = archiveOf([
      { name: "app", type: "directory", mode: 0o750, uid: 5, uname: "me" },
      { name: "app/large", mode: 0o640, text: large, uid: 6 },
      { name: "app/empty" },
      { name: "app/link", type: "symlink", linkname: "large" },
      { name: long, text: "deep", pax: { uid: "9", comment: "x" } },
    ]);
    const entries = extract();
    Readable.from(withOwner(from, { uid: 77, gid: 88 })).pipe(entries);
    const rows: unknown[] = [];
    for await (const { header, ...entry } of asRows(entries))
      rows.push([header.name, header.type, header.uid, header.gid, entry.text.length]);
    expect(rows).toEqual([
      ["app", "directory", 77, 88, 0],
      ["app/large", "file", 77, 88, 300_000],
      ["app/empty", "file", 77, 88, 0],
      ["app/link", "symlink", 77, 88, 0],
      [long, "file", 77, 88, 4],
    ]);
  });

  test("a folder or a link that claims to have content is refused", async () => {
    for (const type of ["directory", "symlink"] as const) {
      const entry = Buffer.concat(await Array.fromAsync(archiveOf([{ name: "app", text: "y".repeat(512) }])));
      // Offsets of a tar header: type at 156, target of a link at 157, checksum at 148.
      entry.write(type === "directory" ? "5" : "2x", 156);
      entry.write("        ", 148);
      const sum = entry.subarray(0, 512).reduce((all, byte) => all + byte, 0);
      entry.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
      const owned = Array.fromAsync(withOwner(Readable.from([entry]), { uid: 77, gid: 88 }));
      await expect(owned).rejects.toThrow("the archive is broken");
    }
  });

  async function* asRows(entries: ReturnType<typeof extract>) {
    for await (const entry of entries) {
      let text = "";
      for await (const part of entry) text += Buffer.from(part as Uint8Array).toString();
      yield { header: entry.header, text };
    }
  }

  test("says that an archive is broken", async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.alloc(512, "x");
    }
    const reading = Readable.from(withOwner(broken(), { uid: 0, gid: 0 })).toArray();
    expect(await reading.then(String, (error: Error) => error.message)).toBe("the archive is broken: send it again");
  });

  test("ends with its reader", async () => {
    let ended = false;
    async function* endless(): AsyncGenerator<Uint8Array> {
      const head = Buffer.concat(await Readable.from(archiveOf([{ name: "a", text: "x".repeat(512) }])).toArray());
      try {
        yield head.subarray(0, 1024);
        for (;;) yield head.subarray(0, 1024);
      } finally {
        ended = true;
      }
    }
    for await (const _ of withOwner(endless(), { uid: 0, gid: 0 })) break;
    for (let turn = 0; !ended && turn < 1_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(ended).toBe(true);
  });
});

test("textIn reads the one file of an archive", async () => {
  expect(await textIn(archiveOf([{ name: "passwd", text: "root:x:0:0" }]))).toBe("root:x:0:0");
  expect(await textIn(archiveOf([{ name: "passwd", type: "symlink", linkname: "x" }]))).toBeUndefined();
  expect(await textIn(archiveOf([]))).toBeUndefined();
  expect(await textIn(archiveOf([{ name: "passwd", text: "x".repeat(1024 * 1024 + 1) }]))).toBeUndefined();
});
