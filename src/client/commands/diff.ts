import { type ApplyResult, apply, listManifests, type PlanRow } from "../../orchestration/api/apply.ts";
import { historyState } from "../../orchestration/api/history.ts";
import type { Manifest } from "../../orchestration/api/manifest.ts";
import { changedPaths } from "../../orchestration/core/diff.ts";
import { noBuildFlag } from "../build/build-flags.ts";
import type { Arguments } from "../basics/arguments.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
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
import { refOf, parseReference } from "../basics/reference.ts";
import { optionalWord, timeOf } from "../shell/words.ts";
import { hasChanges, planText } from "../text/plan-text.ts";

export const diffCommand: CommandBody = {
  usage: ["diff -f PATH… [--prune] [--detailed-exitcode]", "diff --at TIME [SCOPE | SCOPE/NAME | -f PATH…]"],
  examples: [
    "diff -f deploy/  what apply would change",
    "diff -f deploy/ --detailed-exitcode  for scripts",
    'diff --at "2026-11-28 14:05" shop  what is different since then',
  ],
  detail: [
    "With --at the other side is what was wanted at that time: without -f it shows what is different since,",
    "with -f what the files would make different from then. A TIME without a zone is yours.",
    "",
    ...manifestDetail,
  ],
  flags: [
    fileFlag,
    formatFlag,
    { name: "at", value: "TIME", summary: "compare with what was wanted at this time: see berth history" },
    { name: "prune", summary: "count in what apply --prune would delete" },
    takeOverFlag,
    noBuildFlag,
    replacePluginFlag,
    dropFlag,
    { name: "detailed-exitcode", summary: "exit with 2 when there are changes, 0 when there are none" },
    { name: "reveal", summary: "show environment values instead of digests" },
  ],
  async run(context, args) {
    const at = timeOf(args, "at");
    if (at !== undefined && args.values("file").length === 0) return since(context, args, at);
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
    const planned = await explained(set, () => context.api.call(apply, { body: set.manifests, query }));
    if (at === undefined) return shown(context, args, planned);
    const { manifests } = await context.api.call(historyState, { query: { at } });
    const refs = new Set(planned.applied.map(refOf));
    const then = manifests.filter((manifest) => refs.has(refOf(manifest)));
    return shown(context, args, differences(then, planned.applied));
  },
};

/** What was made different since a time. */
async function since(context: Context, args: Arguments, at: string): Promise<number> {
  const text = optionalWord(args, "diff --at takes one SCOPE or SCOPE/NAME");
  const reference = text === undefined ? undefined : parseReference(text);
  const part = { scope: reference?.scope ?? reference?.word, name: reference?.name };
  const { manifests } = await context.api.call(historyState, { query: { at, ...part } });
  const now = await context.api.call(listManifests, { query: { ...part, blocks: "true" } });
  return shown(context, args, differences(manifests, now), true);
}

function shown(context: Context, args: Arguments, plan: ApplyResult, isPast = false): number {
  const { style } = context.terminal;
  answer(context, plan, () => planText(plan, { style, reveal: args.on("reveal"), isPast }));
  return args.on("detailed-exitcode") && hasChanges(plan) ? exitCodes.usage : exitCodes.done;
}

/** Two states in the form of a plan; what is the same is left out. */
function differences(before: readonly Manifest[], after: readonly Manifest[]): ApplyResult {
  const known = new Map(before.map((manifest) => [refOf(manifest), manifest]));
  const left = new Set(after.map(refOf));
  const changes = after.flatMap((manifest) => {
    const was = known.get(refOf(manifest));
    const changed = was === undefined ? [] : changedPaths(was.spec, manifest.spec);
    if (was !== undefined && changed.length === 0) return [];
    const row: PlanRow = { ...rowOf(manifest), action: was === undefined ? "create" : "update", changed };
    return [{ manifest, was: was ?? null, row }];
  });
  const gone = before.filter((manifest) => !left.has(refOf(manifest)));
  return {
    applied: changes.map(({ manifest }) => manifest),
    current: changes.map(({ was }) => was),
    pruned: gone.map(refOf),
    plan: [
      ...changes.map(({ row }) => row),
      ...gone.map((manifest): PlanRow => ({ ...rowOf(manifest), action: "delete" })),
    ],
  };
}

function rowOf(manifest: Manifest): Omit<PlanRow, "action"> {
  return { ref: refOf(manifest), changed: [], replicas: [], notes: [] };
}
