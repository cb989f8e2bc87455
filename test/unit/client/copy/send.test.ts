import { describe, expect, test } from "bun:test";
import { appendFileSync, chmodSync, mkdirSync, statSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { extract } from "tar-stream";
import { archiveOf, type CopyCount } from "../../../../src/client/copy/send.ts";
import { folder } from "../../../support/files.ts";

interface Told {
  leftOut: string[];
  count: CopyCount;
}

function archive(path: string, name: string, limits = { filesMax: 100, bytesMax: 1_000_000 }) {
  const told: Told = { leftOut: [], count: { files: 0, bytes: 0 } };
  const sending = {
    path,
    name,
    limits,
    onLeftOut: (left: string, why: string) => void told.leftOut.push(`${left} ${why}`),
    onProgress: (count: CopyCount) => void Object.assign(told.count, count),
  };
  return { told, parts: archiveOf(sending, statSync(path)) };
}

/** Name, kind, permissions, and content or where a link leads. */
async function entriesOf(parts: AsyncIterable<Uint8Array>): Promise<string[]> {
  const entries = extract();
  const source = Readable.from(parts);
  source.on("error", (error) => entries.destroy(error));
  source.pipe(entries);
  const rows: string[] = [];
  for await (const entry of entries) {
    let text = "";
    for await (const part of entry) text += Buffer.from(part as Uint8Array).toString();
    const { name, type, mode, linkname, uid, gid } = entry.header;
    rows.push(`${name} ${type} ${mode.toString(8)} ${uid}:${gid} ${type === "symlink" ? linkname : text}`);
  }
  return rows;
}

test("a folder with all that is in it; links are links, and owners are left to the pod", async () => {
  using at = folder({ "app/a.txt": "one", "app/deep/run.sh": "two", "app/empty": "" });
  chmodSync(join(at.path, "app/deep/run.sh"), 0o4755);
  for (const name of ["app/a.txt", "app/empty"]) chmodSync(join(at.path, name), 0o640);
  chmodSync(join(at.path, "app"), 0o750);
  chmodSync(join(at.path, "app/deep"), 0o755);
  mkdirSync(join(at.path, "app/none"), { mode: 0o700 });
  symlinkSync("/etc/passwd", join(at.path, "app/out"));
  const { parts, told } = archive(join(at.path, "app"), "there");
  expect(await entriesOf(parts)).toEqual([
    "there directory 750 0:0 ",
    "there/a.txt file 640 0:0 one",
    "there/deep directory 755 0:0 ",
    "there/deep/run.sh file 755 0:0 two",
    "there/empty file 640 0:0 ",
    "there/none directory 700 0:0 ",
    "there/out symlink 777 0:0 /etc/passwd",
  ]);
  expect(told).toEqual({ leftOut: [], count: { files: 4, bytes: 6 } });
});

test("a file alone gets the name that it has in the pod", async () => {
  using at = folder({ "dump.sql": "select 1" });
  utimesSync(join(at.path, "dump.sql"), 1, 1);
  chmodSync(join(at.path, "dump.sql"), 0o600);
  expect(await entriesOf(archive(join(at.path, "dump.sql"), "x").parts)).toEqual(["x file 600 0:0 select 1"]);
});

test("a file that grows meanwhile is sent as long as it was", async () => {
  using at = folder({ "log.txt": "12345" });
  const path = join(at.path, "log.txt");
  const { parts } = archive(path, "log.txt");
  appendFileSync(path, "6789");
  expect((await entriesOf(parts))[0]).toEndWith(" 12345");
});

test("a socket is left out, and what else there is goes on", async () => {
  using at = folder({ "run/a": "1" });
  const path = join(at.path, "run/app.sock");
  const server = Bun.listen({ unix: path, socket: { data: () => undefined } });
  const { parts, told } = archive(join(at.path, "run"), "run");
  expect(await entriesOf(parts)).toHaveLength(2);
  expect(told.leftOut).toEqual(["run/app.sock is neither a file nor a folder"]);
  server.stop(true);
});

describe("limits", () => {
  const fails = async (limits: { filesMax: number; bytesMax: number }) => {
    using at = folder({ "app/a": "12345", "app/b": "12345" });
    const { parts } = archive(join(at.path, "app"), "app", limits);
    return await entriesOf(parts).then(
      () => "",
      (error: Error) => error.message,
    );
  };

  test("of files and of bytes end the copy", async () => {
    expect(await fails({ filesMax: 1, bytesMax: 100 })).toBe("a copy has at most 1 files");
    expect(await fails({ filesMax: 9, bytesMax: 9 })).toBe("a copy has at most 9 bytes");
    expect(await fails({ filesMax: 2, bytesMax: 10 })).toBe("");
  });
});

test("a file that became shorter ends the copy", async () => {
  using at = folder({ "a.txt": "12345" });
  const path = join(at.path, "a.txt");
  const { parts } = archive(path, "a.txt");
  writeFileSync(path, "1");
  expect(await entriesOf(parts).then(String, (error: Error) => error.message)).toContain("became shorter");
});
