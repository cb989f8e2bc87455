import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

const src = join(import.meta.dir, "../../../../../src");

/** Where patterns read what a stranger's repository holds: up to a megabyte of it, for the server as well. */
const readers = ["orchestration/core/build/**/*.ts", "client/build/*.ts"];
const more = ["client/manifests/{foreign,env-file,document,files,read}.ts", "local/source/un*.ts"];

const literal =
  /(?<=[(=,:[!?&|{]\s*|=>\s*|return\s+)\/((?:[^/\n\\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuy]*)(?=[\s).,;\]])/g;

const made = /new RegExp\((String\.raw)?`([^`]*)`(?:, "([a-z]*)")?\)/g;

function patternsIn(code: string): RegExp[] {
  const plain = code.replaceAll(/^\s*(?:\/\*\*|\*|\/\/).*$/gm, "");
  const written = [...plain.matchAll(literal)].map(([, source = "", flags = ""]) => [source, flags] as const);
  const built = [...plain.matchAll(made)].map(([, raw, text = "", flags = ""]) => {
    const source = raw === undefined ? text.replaceAll("\\\\", "\\") : text;
    return [source.replaceAll(/\$\{\w+\}/g, "name"), flags] as const;
  });
  expect(built.length).toBe(plain.split("new RegExp(").length - 1);
  return [...written, ...built].map(([source, flags]) => new RegExp(source, flags.includes("g") ? flags : `${flags}g`));
}

/** Beginnings of what a pattern takes, each one piece longer, with one character for each class. */
function beginningsOf({ source }: RegExp): string[] {
  const found = new Set([""]);
  let text = "";
  for (const [piece] of source.matchAll(/\\.|\[\^?(?:[^\]\\]|\\.)*\]|\(\?(?:<?[=!]|:)|\{[\d,]+\}|[\s\S]/g)) {
    if (/^(?:\(|[)|^$*+?]|\{[\d,]+\}|\\b)/.test(piece)) continue;
    const classes: Record<string, string> = {
      "\\s": " ",
      "\\d": "1",
      "\\w": "a",
      "\\S": "a",
      "\\n": "\n",
      "\\t": "\t",
    };
    const inside = /^\[\^?(\\.|[\s\S])/.exec(piece)?.[1] ?? "";
    if (piece.startsWith("[")) text += piece[1] === "^" ? "a" : (classes[inside] ?? inside.at(-1) ?? "");
    else text += piece === "." ? "a" : (classes[piece] ?? piece.at(-1) ?? "");
    found.add(text);
  }
  return [...found];
}

const repeated = [
  ...' \n\ta1.-"#,=(/[{$',
  "a ",
  "a\n",
  "1.",
  "- ",
  "\n-",
  " \n",
  "a.",
  "a,",
  " -",
  "--a ",
  "==1",
  "~=1",
];

/** The least of some tries, in milliseconds: others work on this machine as well. */
function cost(pattern: RegExp, text: string, tries: number): number {
  const times = Array.from({ length: tries }, () => {
    const began = performance.now();
    text.replace(pattern, "");
    return performance.now() - began;
  });
  return Math.min(...times);
}

const noticed = 20;
const length = 10_000;

/** A text for which the work grows faster than its length. */
function slowText(pattern: RegExp): string | undefined {
  for (const begin of beginningsOf(pattern)) {
    for (const part of [...repeated, begin, `${begin}\n`, `${begin} `].filter((text) => text !== "")) {
      for (const end of ["\u0001", ""]) {
        const text = (characters: number) => `${begin}${part.repeat(Math.ceil(characters / part.length))}${end}`;
        // Work that grows by the square of the length takes a 256th of the time for a sixteenth of the text. What grows by
        // the third power takes seconds for the whole.
        if (cost(pattern, text(length / 16), 1) < noticed / 400) continue;
        const grows = () => {
          const took = cost(pattern, text(length), 3);
          return took > noticed && took > 8 * cost(pattern, text(length / 4), 5);
        };
        // A machine that others fill can be slow once.
        if (grows() && grows() && grows()) return JSON.stringify([begin, part, end]);
      }
    }
  }
  return undefined;
}

test("a pattern that is slow is found", () => {
  expect(slowText(/^\s*name\s*=/gm)).toBeDefined();
  expect(slowText(/^[ \t]*name[ \t]*=/gm)).toBeUndefined();
});

const files = [...readers, ...more].flatMap((glob) => [...new Bun.Glob(glob).scanSync(src)]);

test.each(files)("no text of a repository makes a pattern of %s slow", (file) => {
  const patterns = patternsIn(readFileSync(join(src, file), "utf8"));
  expect(files.length).toBeGreaterThan(20);
  expect(patterns.map((pattern) => [pattern, slowText(pattern)]).filter(([, text]) => text !== undefined)).toEqual([]);
});
