import { listManifests } from "../../orchestration/api/apply.ts";
import { deletePreview, listPreviews } from "../../orchestration/api/previews.ts";
import type { Arguments } from "../basics/arguments.ts";
import { requireYes, yesFlag } from "../shell/ask.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes, usageFailure } from "../basics/failures.ts";
import { printable } from "../basics/style.ts";
import { tableText } from "../basics/table-text.ts";
import { shortDuration } from "../text/time-text.ts";
import { requireKnown } from "../shell/known.ts";
import { tableSetup } from "./get.ts";
import { openCommand } from "./open.ts";
import { rowsOf, whenListing } from "../shell/listing.ts";

export const previewCommand: CommandBody = {
  usage: ["preview [list [SCOPE]]", "preview open SCOPE BRANCH", "preview delete SCOPE BRANCH [-y]"],
  examples: [
    "preview  the branches that run in scopes of their own, and until when",
    "preview open shop new-cart  print the address of a branch",
    "preview delete shop new-cart  delete it with its config, files and volumes",
  ],
  detail: [
    "A branch that is pushed and does not deploy the app itself becomes a preview, if an app of its",
    "manifests has preview settings. Each push lets it live longer. It ends with the branch (git push",
    "berth :BRANCH), by this command, or when its time is over. berth up --preview BRANCH makes one from",
    "this folder.",
  ],
  flags: [yesFlag, { name: "if-exists", summary: "of delete: no error where there is none" }],
  lists: whenListing("list", rowsOf("previews", "scope"), { byDefault: true }),
  async run(context, args) {
    const [verb = "list", ...words] = args.words;
    if (verb === "list") return list(context, words);
    if (verb === "open") return open(context, args, words);
    if (verb === "delete") return remove(context, args, words);
    throw usageFailure(`unknown command "preview ${verb}": use list, open or delete`);
  },
};

async function list(context: Context, [of, ...more]: string[]): Promise<number> {
  if (more.length > 0) throw usageFailure("preview list takes one SCOPE at most");
  const data = await context.api.call(listPreviews, { query: { of } });
  return answer(context, data, () => {
    if (data.previews.length === 0) return "no previews";
    const { now, width, style } = tableSetup(context);
    const rows = data.previews.map((one) => [
      one.of,
      printable(one.branch),
      one.scope,
      one.host ?? "-",
      shortDuration(Date.parse(one.until) - now),
    ]);
    return tableText([["SCOPE", "BRANCH", "RUNS IN", "HOST", "ENDS IN"], ...rows], { width, head: style.dim });
  });
}

async function open(context: Context, args: Arguments, words: string[]): Promise<number> {
  const { of, branch } = placeOf(words, "open");
  const { previews } = await context.api.call(listPreviews, { query: { of } });
  const found = previews.find((one) => one.branch === branch);
  if (found === undefined) throw new CommandFailure(`${of} has no preview of the branch "${branch}"`);
  const apps = await context.api.call(listManifests, { query: { kind: "ingress", scope: found.scope } });
  const [first] = apps;
  if (first === undefined) {
    throw new CommandFailure("the preview has no address: write preview.host into the manifest of an app");
  }
  return openCommand.run(context, { ...args, words: [`${found.scope}/${first.name}`] });
}

async function remove(context: Context, args: Arguments, words: string[]): Promise<number> {
  const { of, branch } = placeOf(words, "delete");
  const { previews } = await context.api.call(listPreviews, { query: { of } });
  const names = previews.map((one) => one.branch);
  if (args.on("if-exists") && !names.includes(branch)) return exitCodes.done;
  requireKnown(branch, { what: `preview of ${of} for the branch`, names, see: `berth preview list ${of}` });
  await requireYes(context, {
    text: `Delete the preview of ${branch}, with its config, files and volumes?`,
    yes: args.on("yes"),
  });
  const data = await context.api.call(deletePreview, { query: { of, branch } });
  return answer(context, data, () => `deleted the preview of ${printable(data.branch)}: ${data.scope}`);
}

function placeOf([of, branch, ...more]: string[], verb: string): { of: string; branch: string } {
  if (of !== undefined && branch !== undefined && more.length === 0) return { of, branch };
  throw usageFailure(`say which: preview ${verb} SCOPE BRANCH`);
}
