import { describe, expect, test } from "bun:test";
import { type Flag, parseArguments } from "../../../../src/client/basics/arguments.ts";
import { CommandFailure } from "../../../../src/client/basics/failures.ts";

const flags: Flag[] = [
  { name: "file", short: "f", value: "PATH", repeat: true, summary: "" },
  { name: "timeout", value: "TIME", summary: "" },
  { name: "yes", short: "y", aliases: ["auto-approve"], summary: "" },
  { name: "quiet", short: "q", summary: "" },
];

const parse = (...tokens: string[]) => parseArguments(tokens, flags);

function refusalOf(...tokens: string[]): { message: string; exitCode: number } {
  try {
    parse(...tokens);
  } catch (error) {
    if (error instanceof CommandFailure) return error;
  }
  throw new Error("accepted");
}

describe("parseArguments", () => {
  test("words keep their order, flags may stand between them", () => {
    const args = parse("one", "-y", "two", "--timeout", "5s", "three");
    expect(args.words).toEqual(["one", "two", "three"]);
    expect(args.on("yes")).toBe(true);
    expect(args.value("timeout")).toBe("5s");
  });

  test.each([[["-f", "a"]], [["-fa"]], [["-f=a"]], [["--file", "a"]], [["--file=a"]], [["-yf", "a"]], [["-yfa"]]])(
    "%p gives the value a",
    (tokens) => {
      expect(parse(...tokens).values("file")).toEqual(["a"]);
    },
  );

  test("a repeatable flag collects its values in order; a lone dash is a value and a word", () => {
    const args = parse("-f", "b", "-f", "-", "-");
    expect(args.values("file")).toEqual(["b", "-"]);
    expect(args.words).toEqual(["-"]);
  });

  test("-- ends the flags, and a second one is a word", () => {
    const args = parse("a", "--", "-y", "--", "--nope");
    expect(args.words).toEqual(["a", "-y", "--", "--nope"]);
    expect(args.on("yes")).toBe(false);
  });

  test("a value may hold an equals sign and be empty", () => {
    expect(parse("--timeout=a=b").value("timeout")).toBe("a=b");
    expect(parse("--timeout=").value("timeout")).toBe("");
  });

  test("an alias is the flag itself; a switch takes true and false", () => {
    expect(parse("--auto-approve").on("yes")).toBe(true);
    expect(parse("--yes=false").on("yes")).toBe(false);
  });

  test("what is absent is off, undefined and empty", () => {
    const args = parse();
    expect([args.on("yes"), args.value("timeout"), args.values("file")]).toEqual([false, undefined, []]);
  });

  test("stopAtWord leaves everything from the first word on", () => {
    const args = parseArguments(["-y", "get", "--anything", "-y"], flags, { stopAtWord: 1 });
    expect(args.words).toEqual(["get", "--anything", "-y"]);
    expect(args.on("yes")).toBe(true);
  });

  test.each([
    [["--timout", "5s"], 'unknown flag "--timout": did you mean "--timeout"?'],
    [["--wholly-else"], 'unknown flag "--wholly-else"'],
    [["-x"], 'unknown flag "-x"'],
    [["-yx"], 'unknown flag "-x"'],
    [["--file"], "--file needs a value"],
    [["-f", "--yes"], '-f needs a value, and "--yes" is another flag'],
    [["--yes=maybe"], "--yes is a switch: it takes no value but true or false"],
    [["--timeout", "1s", "--timeout", "2s"], "--timeout is given twice"],
  ])("%p is refused", (tokens, message) => {
    expect(refusalOf(...tokens)).toMatchObject({ message, exitCode: 2 });
  });
});
