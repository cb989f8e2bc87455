import { apply } from "../../orchestration/api/apply.ts";
import { noBuildFlag } from "../build/build-flags.ts";
import { answer, type CommandBody } from "../shell/command.ts";
import { exitCodes } from "../basics/failures.ts";
import {
  explained,
  fileFlag,
  formatFlag,
  manifestDetail,
  manifestsOf,
  dropFlag,
  replacePluginFlag,
  takeOverFlag,
} from "../shell/manifest-flags.ts";
import { hasChanges, planText } from "../text/plan-text.ts";

export const diffCommand: CommandBody = {
  usage: ["diff -f PATH… [--prune] [--detailed-exitcode]"],
  examples: ["diff -f deploy/  what apply would change", "diff -f deploy/ --detailed-exitcode  for scripts"],
  detail: manifestDetail,
  flags: [
    fileFlag,
    formatFlag,
    { name: "prune", summary: "count in what apply --prune would delete" },
    takeOverFlag,
    noBuildFlag,
    replacePluginFlag,
    dropFlag,
    { name: "detailed-exitcode", summary: "exit with 2 when there are changes, 0 when there are none" },
    { name: "reveal", summary: "show environment values instead of digests" },
  ],
  async run(context, args) {
    const set = await manifestsOf(args, context, "diff");
    const { planBuilds } = await import("../build/of-manifests.ts");
    if (!args.on("no-build")) await planBuilds(set, context.limits.folder);
    const flag = (name: string) => (args.on(name) ? "true" : undefined);
    const query = {
      dry_run: "true",
      prune: flag("prune"),
      take_over: flag("take-over"),
      replace_plugin: flag("replace-plugin"),
      drop: args.value("drop"),
      unbuilt: flag("no-build"),
    };
    const plan = await explained(set, () => context.api.call(apply, { body: set.manifests, query }));
    answer(context, plan, () => planText(plan, { style: context.terminal.style, reveal: args.on("reveal") }));
    return args.on("detailed-exitcode") && hasChanges(plan) ? exitCodes.usage : exitCodes.done;
  },
};
