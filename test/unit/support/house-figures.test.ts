import { describe, expect, test } from "bun:test";
import { houseFigures, placesOf } from "../../support/house-figures.ts";
import { source } from "../../support/source.ts";

function figuresOf(files: Record<string, string>, tests: Record<string, string> = {}) {
  return houseFigures({
    sources: Object.entries(files).map(([path, text]) => source(path, text)),
    tests: Object.entries(tests).map(([path, text]) => ({ path, text })),
    others: [{ path: "src/ui/style/a.css", text: "a {\n}\n" }],
  });
}

const body = (lines: number) => "  work();\n".repeat(lines);
const inner = (lines: number) => "      work();\n".repeat(lines);

describe("the figures of the house", () => {
  test("count lines and files of all kinds, and what is small and long among the sources", () => {
    const figures = figuresOf({ "src/a.ts": "a;\n".repeat(24), "plugins/b.ts": "b;\n".repeat(251) });
    expect(figures).toMatchObject({ lines: 24 + 251 + 2, files: 3, smallFiles: 1, longFiles: 1 });
  });

  test("find files that one other imports; a test that imports them does not count", () => {
    const figures = figuresOf(
      {
        "src/a.ts": 'import { b } from "./b.ts";\nimport { c } from "./c.ts";',
        "src/b.ts": 'import type { C } from "./c.ts";\nexport const b = 1;',
        "src/c.ts": "export const c = 1;",
      },
      { "test/b.test.ts": 'import { b } from "../src/b.ts";' },
    );
    expect(figures.oneImporter).toBe(1);
  });

  test("find interfaces that stand in one place beside their imports", () => {
    const once = "interface Parts {\n  a: string;\n}\nfunction f(parts: Parts) {}\n";
    expect(figuresOf({ "src/a.ts": once }).interfacesUsedOnce).toBe(1);
    expect(figuresOf({ "src/a.ts": `${once}const g = (parts: Parts) => {};\n` }).interfacesUsedOnce).toBe(0);
    expect(figuresOf({ "src/a.ts": once }, { "test/a.ts": "const parts: Parts = x;" }).interfacesUsedOnce).toBe(0);
  });

  test.each([
    ["a function", `export async function f(a: string): Promise<void> {\n${body(50)}}\n`, 1],
    ["a short one", `function f() {\n${body(48)}}\n`, 0],
    ["a short argument before another block", `const a = list.map((item) => {\n${body(3)}});\n${body(60)}}\n`, 0],
    ["a long argument", `const a = list.map((item) => {\n${body(50)}});\n`, 1],
    ["an arrow", `const f = (a: string) => {\n${body(50)}};\n`, 1],
    [
      "a function inside that is long",
      `function f() {\n${body(20)}  function g() {\n${inner(60)}  }\n${body(20)}}\n`,
      1,
    ],
    ["functions inside that are short", `function f() {\n${`  g(() => {\n${inner(20)}  });\n`.repeat(5)}}\n`, 0],
    [
      "methods of what it makes",
      `function f() {\n  return {\n${`    g() {\n${inner(20)}    },\n`.repeat(5)}  };\n}\n`,
      0,
    ],
    [
      "lines between the functions inside",
      `function f() {\n${`  g(() => {\n${inner(3)}  });\n${body(12)}`.repeat(5)}}\n`,
      1,
    ],
    ["a long list of parameters", `function f(\n${"  a: string,\n".repeat(30)}): void {\n${body(30)}}\n`, 1],
    ["a condition that is long", `function f() {\n${body(2)}}\nif (a) {\n${body(60)}}\n`, 0],
  ])("find functions of more than 50 lines: %s", (_, text, count) => {
    expect(figuresOf({ "src/a.ts": text }).longFunctions).toBe(count);
  });

  test("name the places in a file that count", () => {
    const long = `function f() {\n${body(50)}}\n${"a;\n".repeat(200)}`;
    expect(placesOf("src/a.ts", long)).toEqual([
      { figure: "longFiles", place: "src/a.ts has 252 lines" },
      { figure: "longFunctions", place: "src/a.ts: function f() {" },
    ]);
    expect(placesOf("src/b.ts", "a;\n")).toEqual([{ figure: "smallFiles", place: "src/b.ts has 1 lines" }]);
    expect(placesOf("src/removed.ts", "")).toEqual([]);
    expect(placesOf("src/c.ts", "a;\n".repeat(100))).toEqual([]);
  });

  test("count fields that are left out by a spread", () => {
    const text = "const a = { ...(b === undefined ? {} : { b }), ...(c ? { c } : {}) };";
    expect(figuresOf({ "src/a.ts": text }).optionalSpreads).toBe(1);
  });
});
