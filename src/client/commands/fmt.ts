import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";

export const fmtCommand: CommandBody = {
  usage: ["fmt [--check] [PATH…]"],
  examples: [
    "fmt  the HCL files of this folder and below",
    "fmt --check deploy/  in a pipeline: change nothing, name the files that are not formatted",
    "fmt -  standard input to standard output",
  ],
  detail: [
    "Sets indentation, blanks, and the alignment of = and of comments. Lines, their order, comments and",
    "texts stay as they are, and so does the meaning. Prints the names of the files that it changed. YAML",
    "and JSON files are left alone. A file with a fault in its syntax is not touched; the exit code is 1.",
  ],
  flags: [{ name: "check", summary: "change nothing; exit with 1 if a file is not formatted" }],
  async run(context, args) {
    const { formatFiles, formatText } = await import("../manifests/format-files.ts");
    const setup = { cwd: context.cwd, limits: context.limits };
    if (args.words.includes("-")) {
      if (args.words.length > 1) throw usageFailure("- stands alone: berth fmt -");
      return fromInput(context, formatText(await context.stdin(), setup), args.on("check"));
    }
    const outcome = formatFiles(args.words.length === 0 ? ["."] : args.words, { ...setup, write: !args.on("check") });
    for (const name of outcome.left) context.terminal.note(`${name}: left alone, only HCL files are formatted`);
    if (outcome.read === 0 && args.words.length === 0) context.terminal.note("no HCL file in this folder or below");
    if (outcome.fault !== undefined) {
      if (!context.json) for (const name of outcome.changed) context.terminal.out(name);
      throw outcome.fault;
    }
    answer(context, { changed: outcome.changed }, () => outcome.changed.join("\n"));
    return args.on("check") && outcome.changed.length > 0 ? exitCodes.failed : exitCodes.done;
  },
};

function fromInput(context: Context, { before, after }: { before: string; after: string }, check: boolean): number {
  if (check) {
    if (before !== after) throw new CommandFailure("standard input is not formatted");
  } else answer(context, { text: after }, () => after.replace(/\n$/, ""));
  return exitCodes.done;
}
