import { describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pack } from "tar-stream";
import { type Call, cli, pod, refusal } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const web = "shop-web.a1b2c";
const stats: Record<string, object> = {
  "/etc/app": { kind: "folder" },
  "/etc/hosts": { kind: "file" },
  "/link": { kind: "link", link_target: "/etc/app" },
  "/dev/null": { kind: "other" },
};

async function archive(): Promise<Response> {
  const tar = pack();
  tar.entry({ name: "app/a.txt" }, "one");
  tar.entry({ name: "app/out", type: "symlink", linkname: "/etc/passwd" });
  tar.finalize();
  return binary(await bytesOf(tar));
}

function binary(bytes: Buffer): Response {
  return new Response(bytes, { headers: { "Content-Type": "application/octet-stream" } });
}

async function bytesOf(tar: ReturnType<typeof pack>): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const part of tar as unknown as AsyncIterable<Uint8Array>) parts.push(part);
  return Buffer.concat(parts);
}

function server({ path, query }: Call): unknown {
  if (path === "/pods") return { pods: query.name === "web" ? [pod(web)] : [], degraded: [] };
  const there = stats[query.path ?? ""];
  if (path === `/pods/${web}/files/stat`) {
    return there === undefined
      ? refusal(404, `"${query.path}" does not exist in ${web}`)
      : { path: query.path, size_bytes: 3, mode: "644", ...there };
  }
  return path === `/pods/${web}/files` ? archive() : undefined;
}

const cp = (cwd: string, ...words: string[]) => cli(["cp", ...words], { server, cwd });

describe("from a pod", () => {
  test("a folder goes into a folder that is here, and a link out of it is left out", async () => {
    using at = folder({});
    const { out, err, code } = await cp(at.path, "shop/web:/etc/app", ".");
    expect([out, code]).toEqual([`copied 1 file (3B) to ${join(at.path, "app")}\n`, 0]);
    expect(err).toBe('! left out: app/out is a link that leads to "/etc/passwd", out of the folder\n');
    expect(readFileSync(join(at.path, "app/a.txt"), "utf8")).toBe("one");
  });

  test("or gets the name that is written; a link that is named is followed", async () => {
    using at = folder({});
    const { out, calls } = await cp(at.path, "shop/web:/link", "mine", "-o", "json");
    expect(JSON.parse(out).data).toEqual({ files: 1, bytes: 3, target: join(at.path, "mine") });
    expect(calls.at(-1)).toMatchObject({ path: `/pods/${web}/files`, query: { path: "/etc/app" } });
  });

  test("- prints one file, and refuses a folder", async () => {
    using at = folder({});
    const hosts = pack();
    hosts.entry({ name: "hosts" }, "127.0.0.1 here\n");
    hosts.finalize();
    const scene = async (call: Call) =>
      call.path === `/pods/${web}/files` ? binary(await bytesOf(hosts)) : server(call);
    const printed = await cli(["cp", "shop/web:/etc/hosts", "-"], { server: scene, cwd: at.path });
    expect([printed.code, printed.out, printed.err]).toEqual([0, "127.0.0.1 here\n", ""]);
    const refused = await cp(at.path, "shop/web:/etc/app", "-");
    expect([refused.code, refused.out]).toEqual([1, ""]);
    expect(refused.err).toContain('"/etc/app" of shop-web.a1b2c is a folder: - takes one file');
    expect(existsSync(join(at.path, "-"))).toBe(false);
  });

  test("asks before it writes into what is here already", async () => {
    using at = folder({ "app/mine": "1", hosts: "mine" });
    expect(await cp(at.path, "shop/web:/etc/app", ".")).toMatchObject({ code: 5 });
    expect(await cp(at.path, "shop/web:/etc/hosts", ".")).toMatchObject({ code: 5 });
    expect([existsSync(join(at.path, "app/a.txt")), readFileSync(join(at.path, "hosts"), "utf8")]).toEqual([
      false,
      "mine",
    ]);
    expect(await cp(at.path, "shop/web:/etc/app", ".", "-y")).toMatchObject({ code: 0 });
    expect(readFileSync(join(at.path, "app/a.txt"), "utf8")).toBe("one");
  });

  test.each([
    [["shop/web:/none", "."], 1, '"/none" does not exist in shop-web.a1b2c'],
    [["shop/web:/dev/null", "."], 1, '"/dev/null" of shop-web.a1b2c is a device or a socket'],
    [["shop/web:/", "."], 2, "name a folder in it"],
    [["shop/web:/etc/app", "none/x"], 1, '"none" is not a folder here'],
    [["shop/web:/etc/app", "new/"], 1, '"new/" is not a folder here'],
    [["shop/web:/etc/app", "file"], 1, "is there already, and is not a folder"],
    [["shop/none:/etc/app", "."], 1, 'no pods of "shop/none"'],
  ])("%p fails, and nothing is written", async (words, code, text) => {
    using at = folder({ file: "mine" });
    const outcome = await cp(at.path, ...words);
    expect([outcome.code, outcome.err]).toEqual([code, expect.stringContaining(text)]);
    expect(existsSync(join(at.path, "app"))).toBe(false);
  });
});

describe("to a pod", () => {
  test.each([
    [["none", "shop/web:/etc/app"], '"none" does not exist'],
    [["dir", "shop/web:/etc/hosts"], '"/etc/hosts" is not a folder in shop-web.a1b2c'],
    [["file", "shop/web:/none/"], '"/none" does not exist in shop-web.a1b2c'],
    [["file", "shop/web:/etc/hosts/"], '"/etc/hosts" is not a folder in shop-web.a1b2c'],
  ])("%p fails before anything is sent", async (words, text) => {
    using at = folder({ file: "1", "dir/a": "1" });
    const { code, err } = await cp(at.path, ...words);
    expect([code, err]).toEqual([1, expect.stringContaining(text)]);
  });

  test("stdin needs the name of a file", async () => {
    const typedIn = (to: string) => cli(["cp", "-", to], { server, stdin: "one" });
    expect(await typedIn("shop/web:/etc/app")).toMatchObject({
      code: 1,
      err: expect.stringContaining("is a folder in"),
    });
    expect(await typedIn("shop/web:/tmp/")).toMatchObject({ code: 2, err: expect.stringContaining("has no name") });
    expect(await cli(["cp", "-", "shop/web:/tmp/a"], { server, typed: [] })).toMatchObject({ code: 2, calls: [] });
  });
});

test.each([
  [[], "say what to copy, and where to"],
  [["a"], "say what to copy, and where to"],
  [["a", "b", "c"], "say what to copy, and where to"],
  [["a", "b"], "one of the two places is in a pod"],
  [["shop/a:/x", "shop/b:/x"], "one of the two places is in a pod"],
  [["a", "shop/web:x"], "write an absolute path"],
])("%p is wrong usage", async (words, text) => {
  const { code, err, calls } = await cp("/", ...words);
  expect([code, err, calls]).toEqual([2, expect.stringContaining(text), []]);
});
