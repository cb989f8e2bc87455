import { expect, test } from "bun:test";
import { readEnvFile } from "../../../../src/client/manifests/env-file.ts";
import { type Fault, formatFaults } from "../../../../src/client/manifests/source.ts";

const read = (text: string) => {
  const faults: Fault[] = [];
  return { variables: readEnvFile({ name: "web.env", text }, faults), faults };
};

test.each([
  ["A=1", "1"],
  ["A = 1 ", "1"],
  ["export A=1", "1"],
  ["A=", ""],
  ["A=a b # comment", "a b"],
  ["A=a#b", "a#b"],
  ["A= # nothing", ""],
  ["A=#1a2b", "#1a2b"],
  ["A=#1a2b # a password", "#1a2b"],
  ["A=# nothing", ""],
  ["A=#", ""],
  ["A= #nothing", ""],
  ["A='a # \\n b'", "a # \\n b"],
  ['A="a\\nb \\"c\\" \\\\"', 'a\nb "c" \\'],
  ['A="x" # comment', "x"],
  ["A=a=b", "a=b"],
  ["A=$HOME", "$HOME"],
  ["A=1\r", "1"],
])("%p", (line, value) => {
  expect(read(line)).toEqual({ variables: { A: value }, faults: [] });
});

test("a key is what a manifest takes for one", () => {
  const text = "spring.datasource.url=jdbc:x\nA-B=1\n";
  expect(read(text)).toEqual({ variables: { "spring.datasource.url": "jdbc:x", "A-B": "1" }, faults: [] });
  expect(read("1A=1").faults).toHaveLength(1);
});

test("comments and blank lines are nothing; the last of two wins", () => {
  expect(read("# x\n\n  \nA=1\nB=2\nA=3\n").variables).toEqual({ A: "3", B: "2" });
});

test("a quoted value may have several lines", () => {
  const text = 'KEY="-----BEGIN KEY-----\r\nMII\\"x\r\n-----END KEY-----" # pem\r\nB=\'1\n\n2\'\nC=3\n';
  expect(read(text)).toEqual({
    variables: { KEY: '-----BEGIN KEY-----\nMII"x\n-----END KEY-----', B: "1\n\n2", C: "3" },
    faults: [],
  });
});

test("text after a closing quote is a fault", () => {
  const { variables, faults } = read("A='it's'\nB=2\n");
  expect(variables).toEqual({ B: "2" });
  expect(faults.map(({ message }) => message)).toEqual([
    'the value of A goes on after its closing quote: write \\" inside of double quotes',
  ]);
});

test("every bad line is told with its place, and the good ones are read", () => {
  const { variables, faults } = read("A=1\n  no variable\nB='open\n");
  expect(variables).toEqual({ A: "1" });
  expect(formatFaults(faults, 10)).toBe(
    [
      "web.env:2:3: not a variable: write KEY=VALUE",
      "  2 |   no variable",
      "    |   ^^^^^^^^^^^",
      "",
      "web.env:3:1: the quote in the value of B is not closed",
      "  3 | B='open",
      "    | ^^^^^^^",
    ].join("\n"),
  );
});
