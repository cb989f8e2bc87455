import { expect, test } from "bun:test";
import { parseArguments, readReference, wholeNumber } from "../../../../plugins/kit/arguments.ts";

const flags = { values: ["replica", "command"], switches: ["force"], short: { c: "command" } };

test("words, values in both forms, switches, and what follows --", () => {
  expect(parseArguments(["data/main", "--replica", "1", "--command=a=b", "--force", "--", "-x"], flags)).toEqual({
    words: ["data/main"],
    values: { replica: "1", command: "a=b" },
    on: new Set(["force"]),
    rest: ["-x"],
  });
  expect(parseArguments(["-c", "select 1"], flags).values).toEqual({ command: "select 1" });
});

test("what is not known is refused, and a value must be there", () => {
  expect(() => parseArguments(["--forse"], flags)).toThrow(
    'unknown flag "--forse"; there are: --replica, --command, --force',
  );
  expect(() => parseArguments(["--force=1"], flags)).toThrow("unknown flag");
  expect(() => parseArguments(["-x"], flags)).toThrow('unknown flag "-x"');
  expect(() => parseArguments(["--replica"], flags)).toThrow("--replica needs a value");
});

test("a reference is SCOPE/NAME", () => {
  expect(readReference("data/main", "postgres")).toEqual({ scope: "data", name: "main" });
  expect(() => readReference(undefined, "postgres")).toThrow("say which postgres: SCOPE/NAME");
  for (const word of ["main", "a/b/c", "../x", "A/b", "a/"]) {
    expect(() => readReference(word, "app")).toThrow(`"${word}" names no app; write SCOPE/NAME`);
  }
});

test("numbers are whole", () => {
  expect(wholeNumber("12", "keep")).toBe(12);
  expect(wholeNumber(undefined, "keep")).toBeUndefined();
  for (const text of ["-1", "1.5", "x", ""])
    expect(() => wholeNumber(text, "keep")).toThrow("--keep needs a whole number");
});

test("what asks takes -y as well as --yes", () => {
  expect(parseArguments(["a/b", "-y"], { switches: ["yes"] }).on).toEqual(new Set(["yes"]));
  expect(() => parseArguments(["-y"], { switches: ["force"] })).toThrow('unknown flag "-y"');
});
