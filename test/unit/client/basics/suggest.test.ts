import { describe, expect, test } from "bun:test";
import { localCommands } from "../../../../src/client/basics/local-commands.ts";
import { closest, commandMeant, didYouMean, otherWords } from "../../../../src/client/basics/suggest.ts";
import { verbs } from "../../../../src/client/entry/table.ts";

describe("closest", () => {
  const verbs = ["apply", "diff", "get", "describe", "delete"];

  test("finds the word of one slip, and of a beginning", () => {
    expect(closest("aply", verbs)).toBe("apply");
    expect(closest("desc", verbs)).toBe("describe");
    expect(closest("gte", verbs)).toBe("get");
  });

  test("finds nothing for another word", () => {
    expect(closest("install", verbs)).toBeUndefined();
    expect(closest("xyz", verbs)).toBeUndefined();
  });

  test("didYouMean is empty without a guess", () => {
    expect(didYouMean("dif", verbs)).toBe(': did you mean "diff"?');
    expect(didYouMean("install", verbs)).toBe("");
  });
});

describe("commands of other tools", () => {
  const known = [...verbs, ...localCommands].map(({ name }) => name);

  test("are none of ours, and mean one of ours", () => {
    for (const [word, meant] of Object.entries(otherWords)) {
      expect(known).not.toContain(word);
      for (const command of meant) expect(known).toContain(command.split(" ")[0] ?? "");
    }
  });

  test("are told with what to type, and other words as before", () => {
    expect(commandMeant("rm", known)).toBe(': did you mean "delete"?');
    expect(commandMeant("deploy", known)).toBe(': did you mean "up" or "apply"?');
    expect(commandMeant("tail", known)).toBe(': did you mean "logs -f"?');
    expect(commandMeant("aply", known)).toBe(': did you mean "apply"?');
    expect(commandMeant("constructor", known)).toBe("");
  });
});
