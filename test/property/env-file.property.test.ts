import { expect, test } from "bun:test";
import fc from "fast-check";
import { envText } from "../../src/client/env/text.ts";
import { readEnvFile } from "../../src/client/manifests/env-file.ts";
import type { Fault } from "../../src/client/manifests/source.ts";

const read = (text: string) => {
  const faults: Fault[] = [];
  return { variables: readEnvFile({ name: ".env", text }, faults), faults };
};

const keys = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,12}$/).filter((key) => key !== "export");
const awkward = fc.string({
  unit: fc.constantFrom("a", " ", "'", '"', "\\", "$", "#", "\n", "\r", "\t", "=", "{", "\u2028", "é", "n"),
});
const values = fc.oneof(fc.string({ unit: "grapheme" }), awkward);

test("an env file that was written is read as the same variables", () => {
  fc.assert(
    fc.property(fc.dictionary(keys, values, { noNullPrototype: true }), (variables) => {
      expect(read(envText(variables))).toEqual({ variables, faults: [] });
    }),
  );
});

test("a value of several lines in single quotes is read as it stands", () => {
  const text = fc.string({ unit: fc.constantFrom("a", " ", '"', "\\", "$", "#", "\n", "=") });
  fc.assert(
    fc.property(text, (value) => {
      expect(read(`A='${value}' # end\nB=1\n`)).toEqual({ variables: { A: value, B: "1" }, faults: [] });
    }),
  );
});

test("any text is read or its faults are told", () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), awkward), (text) => {
      const { variables, faults } = read(text);
      const hasEntry = text.split("\n").some((line) => !/^\s*(?:#.*)?$/s.test(line));
      expect(Object.keys(variables).length + faults.length > 0).toBe(hasEntry);
    }),
  );
});
