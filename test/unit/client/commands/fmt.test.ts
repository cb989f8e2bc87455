import { chmodSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const rough = 'asset "x" {\na=1\n}\n';
const neat = 'asset "x" {\n  a = 1\n}\n';

describe("fmt", () => {
  test("formats the files of a folder, and names those that it changed", async () => {
    using place = folder({ "a.hcl": rough, "d/b.hcl": neat, "d/c.hcl": rough, "d/d.yaml": "a:   1\n", "e.vd": rough });
    const read = (name: string) => readFileSync(join(place.path, name), "utf8");
    const check = await cli(["fmt", "--check"], { cwd: place.path });
    expect(check).toMatchObject({ code: 1, out: "a.hcl\nd/c.hcl\ne.vd\n", err: "", calls: [] });
    expect(read("a.hcl")).toBe(rough);
    expect(await cli(["fmt"], { cwd: place.path })).toMatchObject({ code: 0, out: "a.hcl\nd/c.hcl\ne.vd\n" });
    expect([read("a.hcl"), read("d/c.hcl"), read("d/d.yaml")]).toEqual([neat, neat, "a:   1\n"]);
    expect(await cli(["fmt", "--check"], { cwd: place.path })).toMatchObject({ code: 0, out: "" });
    expect(JSON.parse((await cli(["fmt", "-o", "json"], { cwd: place.path })).out).data).toEqual({ changed: [] });
  });

  test("keeps the mode of a file, and a link to it", async () => {
    using place = folder({ "a.hcl": rough });
    chmodSync(join(place.path, "a.hcl"), 0o640);
    symlinkSync("a.hcl", join(place.path, "b.hcl"));
    expect(await cli(["fmt", "b.hcl"], { cwd: place.path })).toMatchObject({ code: 0, out: "b.hcl\n" });
    expect(readFileSync(join(place.path, "a.hcl"), "utf8")).toBe(neat);
    expect(statSync(join(place.path, "a.hcl")).mode & 0o777).toBe(0o640);
  });

  test("what it does not touch, it says", async () => {
    using place = folder({ "a.yaml": "a:   1\n", "bad.hcl": "a = \n", "good.hcl": rough });
    const yaml = await cli(["fmt", "a.yaml"], { cwd: place.path });
    expect(yaml).toMatchObject({ code: 0, err: "a.yaml: left alone, only HCL files are formatted\n" });
    const both = await cli(["fmt", "bad.hcl", "good.hcl"], { cwd: place.path });
    expect([both.code, both.out]).toEqual([1, "good.hcl\n"]);
    expect(both.err).toStartWith("bad.hcl:1:5: expected a value on this line");
    writeFileSync(join(place.path, "bytes.hcl"), new Uint8Array([0x23, 0xff, 0x0a]));
    expect(await cli(["fmt", "bytes.hcl"], { cwd: place.path })).toMatchObject({
      code: 1,
      err: 'error: "bytes.hcl" is not UTF-8 text: it is left as it is\n',
    });
    using empty = folder({});
    expect(await cli(["fmt"], { cwd: empty.path })).toMatchObject({
      code: 0,
      err: "no HCL file in this folder or below\n",
    });
  });

  test("standard input goes to standard output", async () => {
    expect(await cli(["fmt", "-"], { stdin: rough })).toMatchObject({ code: 0, out: neat });
    expect(await cli(["fmt", "-", "--check"], { stdin: rough })).toMatchObject({ code: 1, out: "" });
    expect(await cli(["fmt", "-", "--check"], { stdin: neat })).toMatchObject({ code: 0, out: "" });
    expect(await cli(["fmt", "-", "a.hcl"], { stdin: neat })).toMatchObject({ code: 2 });
    expect((await cli(["fmt", "-"], { stdin: "a = \n" })).err).toStartWith("stdin:1:5: ");
  });
});
