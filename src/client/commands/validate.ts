import { formatKey } from "../../orchestration/api/manifest.ts";
import { placeHere, placesInWords } from "../build/place.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { warn } from "../shell/progress-answer.ts";
import { fileFlag, formatFlag, manifestDetail, manifestsAt } from "../shell/manifest-flags.ts";

export const validateCommand: CommandBody = {
  usage: ["validate [PATH…]", "validate -f PATH…"],
  examples: [
    "validate  what berth.yaml of this folder says",
    "validate app.yaml  one file",
    "validate deploy/  all manifests of a folder together",
    "validate - --format hcl  standard input",
  ],
  detail: [
    "Checks what berth apply checks before it stores anything, without a server: syntax, fields, values,",
    "and manifests that exclude each other. Exits with 0 when all is well and with 1 when not; each fault",
    "has its file, line and column. What only the server knows is not checked: what is stored already,",
    "config, images, the fields of plugins' kinds. berth diff -f PATH asks the server too.",
    "Without a PATH, as berth up, it looks for",
    `${placesInWords}.`,
    "",
    ...manifestDetail,
  ],
  flags: [fileFlag, formatFlag],
  async run(context, args) {
    const given = [...args.values("file"), ...args.words];
    const paths = given.length > 0 ? given : placeHere(context.cwd);
    if (paths.length === 0) throw usageFailure("say which manifests: validate FILE, validate FOLDER, or - for stdin");
    const set = await manifestsAt(paths, args, context);
    const { checkManifests } = await import("../manifests/check.ts");
    const { problems, blocks, warnings } = checkManifests(set.manifests, context.validation);
    if (problems.length > 0) throw new CommandFailure(set.explain(problems), exitCodes.failed, { problems });
    const shownMax = context.limits.faultsShownMax;
    for (const block of blocks.slice(0, shownMax)) {
      const where = `${set.places[block.index]}: ${formatKey(block)}`;
      context.terminal.note(`${where}: the fields of a plugin's kind are checked by the server that has the plugin`);
    }
    if (blocks.length > shownMax) context.terminal.note(`and ${blocks.length - shownMax} more blocks of plugins`);
    const warned = warnings.map(({ index, text }) => `${set.places[index]}: ${text}`);
    warn(context, warned.slice(0, shownMax));
    if (warned.length > shownMax)
      context.terminal.note(`and ${warned.length - shownMax} more warnings; -o json has all`);
    const { files } = set;
    const unchecked = blocks.map((block) => formatKey(block));
    const { length } = set.manifests;
    return answer(
      context,
      { manifests: length, files, unchecked, ...(warned.length === 0 ? {} : { warnings: warned }) },
      () => {
        return `${counted(length, "manifest")} in ${counted(files, "file")}: no faults`;
      },
    );
  },
};

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
