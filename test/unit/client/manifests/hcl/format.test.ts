// biome-ignore-all lint/suspicious/noTemplateCurlyInString: manifests hold such text
import { describe, expect, test } from "bun:test";
import { formatHcl } from "../../../../../src/client/manifests/hcl/format.ts";
import type { Fault } from "../../../../../src/client/manifests/source.ts";

function format(text: string): string | undefined {
  return formatHcl({ name: "x.hcl", text }, 64, []);
}

describe("formatHcl", () => {
  test.each([
    ["blanks between words", 'app   "s" "w"{\n}\n', 'app "s" "w" {\n}\n'],
    ["the = of neighbours", "a=1\nlong   =  2\n", "a    = 1\nlong = 2\n"],
    ["no further than an empty line or a comment", "a=1\n\nlong=2\n#c\nb=3\n", "a = 1\n\nlong = 2\n#c\nb = 3\n"],
    ["nor than a value of several lines", "a=1\nlong={\nx=1\n}\nb=2\n", "a = 1\nlong = {\n  x = 1\n}\nb = 2\n"],
    ["wide letters", "größe=1\n名=2\n", "größe = 1\n名    = 2\n"],
    ["comments of neighbours", "a=1#x\nlong=2 //  y  \n", "a    = 1 #x\nlong = 2 //  y\n"],
    ["a comment alone is indented", "b {\n# x\n}\n", "b {\n  # x\n}\n"],
    ["a comment of several lines stays", "/* a\n     b */ x=1\n", "/* a\n     b */ x = 1\n"],
    ["lists", "a=[ 1 ,2,[ ] ,]\n", "a = [1, 2, [],]\n"],
    ["objects on a line", "a={x=1,y:2}\nb={ }\n", "a = { x = 1, y: 2 }\nb = {}\n"],
    ["calculation", "a=1+2*-3\nb=! (true&&false)\n", "a = 1 + 2 * -3\nb = !(true && false)\n"],
    ["a difference and a sign", "a=1-1\nb=(2)- -1\n", "a = 1 - 1\nb = (2) - -1\n"],
    ["a condition in an object", 'a={x:true?"y":"z"}\n', 'a = { x: true ? "y" : "z" }\n'],
    ["calls", 'a=file( "x" )\n', 'a = file("x")\n'],
    ["brackets opened together", "a=[{\nx=1\n},{\nx=2\n}]\n", "a = [{\n  x = 1\n}, {\n  x = 2\n}]\n"],
    ["one level for a line", "a=[[\n1\n]\n]\n", "a = [[\n  1\n]\n]\n"],
    ["empty lines", "\n\na=1\n\n\n\nb {\n\nc=1\n\n}\n\n", "a = 1\n\nb {\n  c = 1\n}\n"],
    ["a heredoc stays as it is", "b {\na=<<-E\n  x  y\n E\n}\n", "b {\n  a = <<-E\n  x  y\n E\n}\n"],
    ["texts stay as they are", 'a="x  ${ 1+1 }"\n', 'a = "x  ${ 1+1 }"\n'],
    ["ends of lines", "\uFEFFa=1\r\nb=2", "a = 1\nb = 2\n"],
    ["nothing", "\n \n", ""],
  ])("%s", (_, text, expected) => {
    expect(format(text)).toBe(expected);
    expect(format(expected)).toBe(expected);
  });

  test("a text with faults is not formatted", () => {
    const faults: Fault[] = [];
    expect(formatHcl({ name: "x.hcl", text: "a = \n" }, 64, faults)).toBeUndefined();
    expect(faults).toHaveLength(1);
  });
});
