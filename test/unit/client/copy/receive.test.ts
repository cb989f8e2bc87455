import { describe, expect, test } from "bun:test";
import { existsSync, lstatSync, readFileSync, readlinkSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { pack } from "tar-stream";
import { unpack } from "../../../../src/client/copy/receive.ts";
import { folder } from "../../../support/files.ts";

type Entry = Parameters<ReturnType<typeof pack>["entry"]>[0] & { text?: string };

function archiveOf(entries: Entry[], cut = 0): AsyncIterable<Uint8Array> {
  const archive = pack();
  for (const { text = "", ...header } of entries) archive.entry(header, text);
  archive.finalize();
  return (async function* () {
    const parts: Uint8Array[] = [];
    for await (const part of archive as unknown as AsyncIterable<Uint8Array>) parts.push(part);
    const whole = Buffer.concat(parts);
    yield whole.subarray(0, whole.length - cut);
  })();
}

async function received(entries: Entry[], { into = "got", files = {}, cut = 0, limits = {} as object } = {}) {
  const at = folder(files);
  const leftOut: string[] = [];
  const receiving = {
    target: join(at.path, into),
    limits: { filesMax: 100, bytesMax: 1_000, ...limits },
    onLeftOut: (path: string, why: string) => void leftOut.push(`${path} ${why}`),
    onProgress: () => undefined,
  };
  const outcome = await unpack(archiveOf(entries, cut), receiving).then(
    (count) => ({ count, error: "" }),
    (error: Error) => ({ count: undefined, error: error.message }),
  );
  const text = (path: string) => readFileSync(join(at.path, path), "utf8");
  return { ...outcome, leftOut, path: at.path, text, [Symbol.dispose]: at[Symbol.dispose] };
}

test("a folder gets the name that it has here, and files their permissions without the rest", async () => {
  using got = await received([
    { name: "app", type: "directory" },
    { name: "app/run.sh", mode: 0o4755, text: "one" },
    { name: "app/deep/b", mode: 0o640, text: "two" },
    { name: "app/link", type: "symlink", linkname: "deep/b" },
  ]);
  expect([got.error, got.count, got.leftOut]).toEqual(["", { files: 3, bytes: 6 }, []]);
  expect([got.text("got/run.sh"), got.text("got/link")]).toEqual(["one", "two"]);
  expect(statSync(join(got.path, "got/run.sh")).mode & 0o7777).toBe(0o755);
  expect(statSync(join(got.path, "got/deep/b")).mode & 0o7777).toBe(0o640);
});

test("a file alone becomes the target, also in place of another", async () => {
  using got = await received([{ name: "hosts", text: "new" }], { files: { got: "old" } });
  expect([got.error, got.text("got")]).toEqual(["", "new"]);
});

test("a second name of a file is a file of its own", async () => {
  using got = await received([
    { name: "app/a", text: "one" },
    { name: "app/b", type: "link", linkname: "app/a" },
    { name: "app/c", type: "link", linkname: "../../etc/passwd" },
  ]);
  expect([got.text("got/b"), lstatSync(join(got.path, "got/b")).nlink]).toEqual(["one", 1]);
  expect(got.leftOut).toEqual(["app/c is a second name of a file that is not copied"]);
});

describe("nothing is written outside of the target", () => {
  test.each<[string, Entry]>([
    ["a path that climbs", { name: "app/../../evil", text: "x" }],
    ["an absolute path", { name: "/evil", text: "x" }],
    ["a path with control characters", { name: "app/\x1b[2J", text: "x" }],
  ])("%s is left out", async (_, entry) => {
    using got = await received([entry, { name: "app/good", text: "y" }]);
    expect([got.error, got.leftOut.length, got.text("got/good")]).toEqual(["", 1, "y"]);
    expect(existsSync(join(got.path, "evil"))).toBe(false);
    expect(got.leftOut.join("")).not.toContain("\x1b");
  });

  test.each([["/etc/passwd"], ["../x"], ["deep/../../x"]])("a link to %s is left out", async (linkname) => {
    using got = await received([{ name: "app/out", type: "symlink", linkname }]);
    expect(got.leftOut).toEqual([expect.stringContaining(`app/out is a link that leads to "${linkname}"`)]);
    expect(existsSync(join(got.path, "got/out"))).toBe(false);
  });

  test("a link in the place of the whole copy is left out", async () => {
    using got = await received([{ name: "app", type: "symlink", linkname: "x" }]);
    expect(got.leftOut).toHaveLength(1);
  });

  test("not through a link of the archive, nor through one that was here before", async () => {
    using sent = await received([
      { name: "app/other/x", text: "x" },
      { name: "app/in", type: "symlink", linkname: "other" },
      { name: "app/in/y", text: "y" },
    ]);
    expect(sent.error).toEndWith('got/in" is there already, and is not a folder');
    using at = folder({ "outside/x": "mine", "got/a": "1" });
    symlinkSync("../outside", join(at.path, "got/sub"));
    const receiving = {
      target: join(at.path, "got"),
      limits: { filesMax: 9, bytesMax: 99 },
      onLeftOut: () => undefined,
      onProgress: () => undefined,
    };
    const writing = unpack(archiveOf([{ name: "app/sub/x", text: "theirs" }]), receiving);
    expect(await writing.then(String, (error: Error) => error.message)).toContain("is not a folder");
    expect(readFileSync(join(at.path, "outside/x"), "utf8")).toBe("mine");
    // A file replaces a link, and not what it leads to.
    symlinkSync("../outside/x", join(at.path, "got/f"));
    await unpack(archiveOf([{ name: "app/f", text: "theirs" }]), receiving);
    expect([readFileSync(join(at.path, "outside/x"), "utf8"), readFileSync(join(at.path, "got/f"), "utf8")]).toEqual([
      "mine",
      "theirs",
    ]);
  });

  test("a device is left out", async () => {
    using got = await received([
      { name: "dev/null", type: "character-device", devmajor: 1, devminor: 3 },
      { name: "dev/pipe", type: "fifo" },
      { name: "dev/a", text: "1" },
    ]);
    expect(got.leftOut).toEqual(["dev/null is a character-device", "dev/pipe is a fifo"]);
    expect(got.text("got/a")).toBe("1");
  });
});

test("a folder is never replaced by a file, nor a file by a folder", async () => {
  using folderHere = await received([{ name: "app/a", text: "x" }], { files: { "got/a/b": "1" } });
  expect(folderHere.error).toEndWith('got/a" is there already, and is a folder');
  using fileHere = await received([{ name: "app/a/b", text: "x" }], { files: { "got/a": "1" } });
  expect(fileHere.error).toEndWith('got/a" is there already, and is not a folder');
});

test("what is too large, too many, or cut off in the middle of a file fails", async () => {
  using large = await received([{ name: "a", text: "x".repeat(11) }], { limits: { bytesMax: 10 } });
  expect(large.error).toBe("a copy has at most 10 bytes");
  const three = ["a", "b", "c"].map((name) => ({ name: `app/${name}`, text: "1" }));
  using many = await received(three, { limits: { filesMax: 2 } });
  expect(many.error).toBe("a copy has at most 2 files");
  using cut = await received([{ name: "a", text: "x".repeat(900) }], { cut: 1024 + 600 });
  expect(cut.error).not.toBe("");
});

test("links keep what they say", async () => {
  using got = await received([
    { name: "app/bin/sh", type: "symlink", linkname: "../lib/sh" },
    { name: "app/self", type: "symlink", linkname: "./bin" },
  ]);
  expect([readlinkSync(join(got.path, "got/bin/sh")), readlinkSync(join(got.path, "got/self"))]).toEqual([
    "../lib/sh",
    "./bin",
  ]);
});
