import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { readEnvFile } from "../../../../src/ui/text/env-file.ts";

describe("a pasted .env file", () => {
  test("quotes, comments, export, lines that go on", () => {
    const text = `# a comment
export A=1
B="two words" # and a comment
C='$HOME \\n'
D=plain # comment
E="line one
line two"
F="a\\nb \\"c\\""
G=
A=2`;
    expect(readEnvFile(text)).toEqual({
      vars: { A: "2", B: "two words", C: "$HOME \\n", D: "plain", E: "line one\nline two", F: 'a\nb "c"', G: "" },
      faults: [],
    });
  });

  test.each([
    ["A=#1a2b", "#1a2b"],
    ["A=#1a2b # a password", "#1a2b"],
    ["A= # nothing", ""],
    ["A= #nothing", ""],
    ["A=# nothing", ""],
    ["A=#", ""],
  ])("%s has the value that the client reads as well", (line, value) => {
    expect(readEnvFile(line)).toEqual({ vars: { A: value }, faults: [] });
  });

  test("what is not KEY=VALUE is named by its line", () => {
    expect(readEnvFile('A=1\nnonsense\n1X=3\nB="open')).toEqual({
      vars: { A: "1" },
      faults: ["line 2 is not KEY=VALUE", "line 3 is not KEY=VALUE", "line 4: the quote of B does not end"],
    });
  });

  test("any value in double quotes comes back as it was", () => {
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme" }).filter((text) => !text.includes("\r")),
        (value) => {
          const quoted = value.replaceAll("\\", "\\\\").replaceAll('"', '\\"');
          expect(readEnvFile(`KEY="${quoted}"`)).toEqual({ vars: { KEY: value }, faults: [] });
        },
      ),
      { examples: [["\u2028"], ["a \n b"]] },
    );
  });
});
