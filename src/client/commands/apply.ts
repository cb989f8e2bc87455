import type { Client } from "../../base/wire/client.ts";
import { ApiError } from "../../base/wire/client.ts";
import { keyOf } from "../../orchestration/api/manifest-key.ts";
import { coreKinds, type Manifest } from "../../orchestration/api/manifest.ts";
import { type ApplyResult, apply } from "../../orchestration/api/apply.ts";
import { partialText, undecidedText } from "../text/apply-outcome.ts";
import type { Arguments } from "../basics/arguments.ts";
import { assent, yesFlag } from "../shell/ask.ts";
import { answer, type CommandBody, type Context } from "../shell/command.ts";
import { CommandFailure, exitCodes } from "../basics/failures.ts";
import { followAtomic } from "../wait/follow-atomic.ts";
import { certificateLines } from "../wait/certificate-lines.ts";
import { exitOf, timeoutOf, watch } from "../wait/follow.ts";
import { normalKind } from "../basics/kinds.ts";
import { buildChoices, buildFlags, noBuildFlag } from "../build/build-flags.ts";
import type { PlannedBuild } from "../build/plan.ts";
import { announce, runBuild } from "../build/run.ts";
import type { ManifestSet } from "../manifests/read.ts";
import { receiptLines } from "../wait/receipt-lines.ts";
import { imagePullText } from "../text/image-pull-text.ts";
import { isPodKind, readyTarget } from "../facts/look.ts";
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
import { appliedText, hasChanges, planText } from "../text/plan-text.ts";
import { printable } from "../basics/style.ts";

/** Kept with the releases that a command makes. */
export const noBackupFlag = { name: "no-backup", summary: "change the image of a database without a backup before" };
export const messageFlag = { name: "message", short: "m", value: "WHY", summary: "why, in a line; releases shows it" };

export const applyCommand: CommandBody = {
  usage: ["apply -f PATH… [-m WHY] [--prune] [--pull] [--atomic] [-y] [--no-wait] [--timeout TIME]"],
  examples: [
    "apply -f app.yaml  show the plan, ask, wait until it is ready",
    "apply -f deploy/ -y  in a script: do not ask",
    'apply -f deploy/ -m "raise the limit"  berth releases shows why',
    "apply -f deploy/ --prune  also delete what the folder no longer has",
  ],
  detail: [
    "Shows the plan and asks; without a terminal it needs -y. Stores the manifests whole or not at all.",
    "Then waits until deployments and statefulsets are ready, and exits with 0 when they are, with 1 when",
    "one failed or went back to the version before, with 3 when --timeout came first, with 4 when the",
    "server did not answer for a minute, or at the end of the time: what was stored stays stored. It",
    "also waits up to 30 s for new certificates; a missing one does not change the exit code. If",
    "someone else changes a resource between plan and apply, nothing is overwritten: -y plans again, up",
    "to 3 times.",
    "With --atomic the server puts every resource of the apply back as it was when one of them fails,",
    "also when this command or the server ends meanwhile. Release commands, jobs and webhooks that ran",
    "cannot be undone; blocks of plugins are refused.",
    "Before the image of a database changes, the server backs it up, for minutes if it is large; if that",
    "fails, nothing is changed. --no-backup leaves it out.",
    "",
    ...manifestDetail,
  ],
  flags: [
    fileFlag,
    formatFlag,
    messageFlag,
    { name: "prune", summary: "delete what the files do not have, in the same scopes and kinds" },
    { name: "pull", aliases: ["force"], summary: "ask the registries again; replicas roll where a tag moved" },
    noBackupFlag,
    { name: "atomic", summary: "all or nothing: when one resource fails, put all of them back" },
    takeOverFlag,
    replacePluginFlag,
    dropFlag,
    ...buildFlags,
    noBuildFlag,
    { ...yesFlag, aliases: ["auto-approve"] },
    { name: "dry-run", summary: "show the plan and stop" },
    { name: "reveal", summary: "show environment values in the plan instead of digests" },
    { name: "no-wait", aliases: ["detach"], summary: "do not wait until it is ready" },
    { name: "timeout", value: "TIME", summary: "how long to wait: 90s, 5m (default), 1h" },
  ],
  run: runApply,
};

/** What is built from source, told before the plan; the manifests name their builds afterwards. */
async function plannedBuilds(set: ManifestSet, context: Context): Promise<PlannedBuild[]> {
  const { planBuilds } = await import("../build/of-manifests.ts");
  const builds = await planBuilds(set, context.limits.folder).catch(async (error: unknown) => {
    const { withFaultsOf } = await import("../manifests/all-faults.ts");
    throw withFaultsOf(error, set, context);
  });
  for (const build of builds) announce(context, build, builds);
  return builds;
}

export async function runApply(context: Context, args: Arguments): Promise<number> {
  return applySet(context, args, await manifestsOf(args, context, "apply"));
}

/** Builds, plans, asks, stores and waits; `args` are those of `applyCommand`. */
export async function applySet(context: Context, args: Arguments, set: ManifestSet): Promise<number> {
  const timeoutMs = timeoutOf(args.value("timeout"), context);
  const choices = buildChoices(args, context, { again: false });
  const unbuilt = args.on("no-build") ? "true" : undefined;
  const builds = unbuilt === undefined ? await plannedBuilds(set, context) : [];
  const prune = args.on("prune") ? "true" : undefined;
  const force = args.on("pull") ? "true" : undefined;
  const atomic = args.on("atomic") ? "true" : undefined;
  const flag = (name: string) => (args.on(name) ? "true" : undefined);
  const asked = {
    prune,
    unbuilt,
    take_over: flag("take-over"),
    replace_plugin: flag("replace-plugin"),
    drop: args.value("drop"),
    no_backup: flag("no-backup"),
  };
  const call = (body: unknown, query: Query) => explained(set, () => context.api.call(apply, { body, query }));
  const steps: Steps = {
    plan: () => call(set.manifests, { ...asked, dry_run: "true" }),
    store: async (plan) => {
      for (const build of builds) await runBuild(context, build, choices);
      return await call(guarded(set.manifests, plan), {
        ...asked,
        force,
        atomic,
        message: args.value("message"),
      });
    },
  };
  if (args.on("dry-run")) {
    showPlan(await steps.plan(), args, context);
    return exitCodes.done;
  }
  const { plan, result } = await planAndStore(steps, args, context);
  if (context.json) answer(context, result, () => "");
  else report(result, plan, context);
  if (args.on("no-wait")) {
    if (result.atomic !== undefined) context.terminal.note(`${undecidedText}; see: berth events`);
    return exitCodes.done;
  }
  const targets = targetsOf(context.api, result, plan);
  if (result.atomic !== undefined) return followAtomic({ id: result.atomic, targets, timeoutMs, context });
  const waited = await watch(targets, timeoutMs, context);
  for (const line of receiptLines(waited.targets, context)) context.terminal.note(line);
  for (const line of await certificateLines(result, timeoutMs, context)) context.terminal.note(line);
  for (const line of partialText(plan, waited, context.terminal.noteStyle)) context.terminal.note(line);
  return exitOf(waited);
}

interface Query {
  unbuilt?: string | undefined;
  prune?: string | undefined;
  dry_run?: string;
  force?: string | undefined;
  no_backup?: string | undefined;
  message?: string | undefined;
  take_over?: string | undefined;
  replace_plugin?: string | undefined;
  drop?: string | undefined;
  atomic?: string | undefined;
}

interface Steps {
  plan: () => Promise<ApplyResult>;
  /** Stores what was planned, if what the plan was made against is still there. */
  store: (plan: ApplyResult) => Promise<ApplyResult>;
}

/** Tries again after losing a race, where the operator has said yes to whatever the plan will be. */
const retriesMax = 3;

async function planAndStore(steps: Steps, args: Arguments, context: Context) {
  for (let retries = args.on("yes") || context.autoApprove ? retriesMax : 0; ; retries--) {
    const plan = await steps.plan();
    showPlan(plan, args, context);
    if (hasChanges(plan)) await assent("apply these changes?", args, context);
    try {
      return { plan, result: await steps.store(plan) };
    } catch (error) {
      const changed = changedMeanwhile(error);
      if (changed === undefined) throw error;
      if (retries === 0) throw new CommandFailure(`${changed}\n  nothing was changed; look again: berth diff`);
      context.terminal.note(`${context.terminal.noteStyle.yellow("!")} ${changed}; planning again`);
    }
  }
}

function showPlan(plan: ApplyResult, args: Arguments, context: Context): void {
  const { terminal, json } = context;
  const reveal = args.on("reveal");
  if (args.on("dry-run")) answer(context, plan, () => planText(plan, { style: terminal.style, reveal }));
  else if (!json) terminal.out(planText(plan, { style: terminal.style, reveal }));
  else if (terminal.asks) terminal.note(planText(plan, { style: terminal.noteStyle, reveal }));
}

function report(result: ApplyResult, plan: ApplyResult, { terminal }: Context): void {
  for (const pull of result.image_pulls ?? []) terminal.note(imagePullText(pull, terminal.noteStyle));
  if (!hasChanges(plan)) return;
  terminal.out(`\n${appliedText(plan)}`);
}

/**
 * The manifests with the revisions that the plan was made against, 0 for what did not exist: the server refuses when
 * somebody else was faster. What a manifest of another kind expands to is not known here and goes unguarded.
 */
export function guarded(manifests: readonly Record<string, unknown>[], plan: ApplyResult): Record<string, unknown>[] {
  return manifests.map((manifest) => {
    const index = plan.applied.findIndex((planned) => isSame(planned, manifest));
    const current = plan.current?.[index];
    if (index === -1 || current === undefined || !isCore(manifest.kind)) return manifest;
    const metadata = { if_revision: current?.metadata?.revision ?? 0, ...asObject(manifest.metadata) };
    return { ...manifest, metadata };
  });
}

function isSame(planned: Manifest, written: Record<string, unknown>): boolean {
  if (typeof written.kind !== "string" || planned.name !== written.name) return false;
  return planned.kind === normalKind(written.kind) && (planned.scope ?? "") === (written.scope ?? "");
}

function isCore(kind: unknown): boolean {
  return typeof kind === "string" && coreKinds.some((core) => core === normalKind(kind));
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

/** What happened, without the field by which we asked; undefined where the error is not a lost race. */
function changedMeanwhile(error: unknown): string | undefined {
  if (!(error instanceof ApiError) || error.data.reason !== "RevisionConflict") return undefined;
  return `someone else changed ${printable(String(error.data.fields?.resource))} meanwhile`;
}

export function targetsOf(api: Client, result: ApplyResult, plan: ApplyResult) {
  return result.applied
    .filter(({ kind }) => isPodKind(kind))
    .map((manifest) => {
      const key = keyOf(manifest);
      const revision = manifest.metadata?.revision ?? 0;
      const before = plan.current?.[plan.applied.findIndex((planned) => isSame(planned, { ...key }))];
      const unchanged = before?.metadata?.revision === revision;
      const verb = before === null ? `delete ${key.kind}` : "rollback";
      const undo = unchanged ? undefined : `${verb} ${key.scope}/${key.name}`;
      return { ...readyTarget(api, key, { revision, unchanged }), undo };
    });
}
