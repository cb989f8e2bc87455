import { answer, type CommandBody } from "../shell/command.ts";
import { exitCodes, usageFailure } from "../basics/failures.ts";
import { psTable } from "../text/pod-table.ts";
import { requireNamed } from "../shell/named.ts";
import { askPods, tableSetup } from "./get.ts";
import { rowsOf } from "../shell/listing.ts";

export const psCommand: CommandBody = {
  usage: ["ps [SCOPE[/NAME[.REPLICA]]]"],
  examples: ["ps  all pods", "ps shop/web  the pods of one app"],
  flags: [],
  groups: true,
  lists: rowsOf("pods", "name"),
  async run(context, args) {
    const [reference, ...more] = args.words;
    if (more.length > 0) throw usageFailure("ps takes one SCOPE, SCOPE/NAME or pod");
    const found = await askPods(reference, context);
    if (found === undefined) return exitCodes.failed;
    if (found.pods.length === 0) await requireNamed(reference, context);
    return answer(context, found, () =>
      found.pods.length === 0 ? "no pods" : psTable(found.pods, tableSetup(context)),
    );
  },
};
