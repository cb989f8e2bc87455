import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { untar } from "../../../../src/orchestration/plugins/untar.ts";
import { failureText } from "../../../support/failure.ts";
import { tarball } from "../../../support/release-server.ts";

let base: string;
let folder: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "berth-untar-"));
  folder = join(base, "in");
  Bun.spawnSync(["mkdir", folder]);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const inflation = { ratioMax: 100, freeBytes: 1_000_000 };
const limits = { filesMax: 100, bytesMax: 1_000_000, inflation };
const unpack = (bytes: Uint8Array<ArrayBuffer>, max = limits) => untar(new Blob([bytes]).stream(), folder, max);

interface Entry {
  path: string;
  type?: string;
  link?: string;
  content?: string;
  mode?: number;
}

/** A ustar archive, whatever is in it. */
function archive(entries: Entry[]): Uint8Array<ArrayBuffer> {
  const parts = entries.flatMap(({ path, type = "0", link = "", content = "", mode = 0o644 }) => {
    const header = Buffer.alloc(512);
    header.write(path, 0);
    header.write(`${mode.toString(8).padStart(7, "0")}\0`, 100);
    header.write(`${Buffer.byteLength(content).toString(8).padStart(11, "0")}\0`, 124);
    header.write("        ", 148);
    header.write(type, 156);
    header.write(link, 157);
    header.write("ustar\x0000", 257);
    const sum = header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
    const body = Buffer.alloc(Math.ceil(Buffer.byteLength(content) / 512) * 512);
    body.write(content);
    return [header, body];
  });
  return Bun.gzipSync(Buffer.concat([...parts, Buffer.alloc(1024)]));
}

describe("an archive", () => {
  test("of a host is unpacked without its outer folder, and its comment told", async () => {
    const long = `${"deep/".repeat(30)}file`;
    const bytes = tarball({ "plugin.yml": "name: x\n", "bin/x": "#!/bin/sh\n", [long]: "long", empty: "" }, "repo");
    expect(await unpack(bytes)).toEqual({ comment: "a".repeat(40) });
    expect(readFileSync(join(folder, "plugin.yml"), "utf8")).toBe("name: x\n");
    expect(readFileSync(join(folder, long), "utf8")).toBe("long");
    expect(statSync(join(folder, "bin/x")).mode & 0o777).toBe(0o755);
    expect(statSync(join(folder, "empty")).size).toBe(0);
  });

  test("of GNU tar with names longer than a header is read as well", async () => {
    const name = `${"n".repeat(150)}.txt`;
    const made = Bun.spawnSync(
      ["sh", "-c", `mkdir -p src/top && echo hi > src/top/${name} && tar --format=gnu -C src -czf - top`],
      { cwd: base },
    );
    await unpack(new Uint8Array(made.stdout));
    expect(readdirSync(folder)).toEqual([name]);
  });

  test("keeps links inside", async () => {
    await unpack(
      archive([
        { path: "t/a", content: "x" },
        { path: "t/b", type: "2", link: "a" },
      ]),
    );
    expect(lstatSync(join(folder, "b")).isSymbolicLink()).toBe(true);
  });
});

describe("a hostile archive", () => {
  test.each<[string, Entry[], string]>([
    ["a path that leads out", [{ path: "t/../../evil", content: "x" }], "leads out of the package"],
    [
      "a file behind a link",
      [
        { path: "t/d", type: "2", link: "../.." },
        { path: "t/d/evil", content: "x" },
      ],
      "",
    ],
    [
      "a link behind a link",
      [
        { path: "t/d", type: "2", link: "../.." },
        { path: "t/d/evil", type: "2", link: "x" },
      ],
      "below a link",
    ],
    [
      "a file over a link",
      [
        { path: "t/d", type: "2", link: "../evil" },
        { path: "t/d", content: "x" },
      ],
      "",
    ],
    ["a hard link", [{ path: "t/h", type: "1", link: "/etc/passwd" }], "neither a file, a folder nor a link"],
    ["a device", [{ path: "t/h", type: "3" }], "neither a file, a folder nor a link"],
  ])("with %s writes nothing outside", async (_, entries, text) => {
    expect(await failureText(unpack(archive(entries)))).toContain(text);
    expect([existsSync(join(base, "evil")), existsSync(join(folder, "evil"))]).toEqual([false, false]);
    expect(readdirSync(base)).toEqual(["in"]);
  });

  test("of an absolute path stays inside", async () => {
    await unpack(archive([{ path: "/evil-name-of-a-test", content: "x" }]));
    expect(existsSync("/evil-name-of-a-test")).toBe(false);
  });

  test("that grows is refused in the middle, in bounded time", async () => {
    const bomb = archive([{ path: "t/zeros", content: "0".repeat(50_000_000) }]);
    expect(bomb.byteLength).toBeLessThan(500_000);
    expect(await failureText(unpack(bomb))).toBe("too_large: the package is larger than 1000000 bytes");
    const many = archive(Array.from({ length: 101 }, (_, index) => ({ path: `t/${index}` })));
    expect(await failureText(unpack(many))).toContain("more than 100 files");
  });

  test.each([
    ["no gzip", new TextEncoder().encode("hello")],
    ["no tar", Bun.gzipSync(Buffer.alloc(2048, 65))],
    ["an end too early", archive([{ path: "t/a", content: "x".repeat(3000) }]).subarray(0, 60)],
    ["nothing", new Uint8Array(0)],
  ] as [string, Uint8Array<ArrayBuffer>][])("that is %s is told", async (_, bytes) => {
    expect(await failureText(unpack(bytes))).toStartWith("invalid: broken archive");
  });
});
