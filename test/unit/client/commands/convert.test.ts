import { describe, expect, test } from "bun:test";
import { cli } from "../../../support/cli.ts";
import { folder } from "../../../support/files.ts";

const yaml = "kind: job\nscope: s\nname: a\nspec:\n  image: x\n";
const hcl = 'job "s" "a" {\n  image = "x"\n}\n';

describe("convert", () => {
  test("prints a file in the other language, and asks no server", async () => {
    using place = folder({ "a.yaml": yaml, "a.hcl": hcl });
    const { path: cwd } = place;
    expect(await cli(["convert", "a.yaml", "--to", "hcl"], { cwd })).toEqual({ code: 0, out: hcl, err: "", calls: [] });
    expect(await cli(["convert", "a.hcl", "--to", "yaml"], { cwd })).toMatchObject({ code: 0, out: yaml });
    const both = await cli(["convert", "a.yaml", "a.hcl", "--to", "yaml"], { cwd });
    expect(both.out).toBe(`${yaml}---\n${yaml}`);
    const json = await cli(["convert", "a.yaml", "--to", "hcl", "-o", "json"], { cwd });
    expect(JSON.parse(json.out).data).toEqual({ text: hcl });
  });

  test("standard input", async () => {
    const outcome = await cli(["convert", "-", "--format", "hcl", "--to", "yaml"], { stdin: hcl });
    expect(outcome).toMatchObject({ code: 0, out: yaml });
  });

  test.each([
    [["a.yaml"], 2, "error: say the language: --to hcl or --to yaml\n"],
    [["a.yaml", "--to", "toml"], 2, 'error: --to is hcl or yaml, not "toml"\n'],
    [["--to", "hcl"], 2, "error: say which manifests: convert FILE --to hcl|yaml\n"],
    [["none.yaml", "--to", "hcl"], 1, 'error: "none.yaml" does not exist\n'],
  ])("%p ends with %p", async (words, code, err) => {
    expect(await cli(["convert", ...words])).toMatchObject({ code, err });
  });
});
