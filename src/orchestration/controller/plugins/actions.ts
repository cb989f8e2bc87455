import type { Principal } from "../../../access/principal.ts";
import { Failure, type Problem, problemsAt, problemsFailure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { DispatchResult } from "../../api/dispatch.ts";
import { normaliseSpec } from "../../core/normalise.ts";
import type { PlannedAction } from "../../core/plugins/actions.ts";
import type { Transaction } from "../../store/store.ts";
import { change, type Incoming } from "../write/apply-change.ts";
import { materialise } from "../desired/assets.ts";
import { type ConfigGiven, unreadConfig } from "../write/empty-buckets.ts";
import { patchInside, varProblems } from "../write/config.ts";
import type { Context } from "../state/context.ts";
import type { Guards } from "./lent.ts";
import { deleteInside } from "../write/delete-inside.ts";
import { requireUnlocked } from "../state/locks.ts";
import { requireActionsReached } from "./reach.ts";
import { runJob } from "../runs/jobs.ts";

/** An action with everything at hand that its transaction needs. */
export interface ReadyAction {
  action: PlannedAction;
  incoming: Incoming | undefined;
  /** For which block: what it applies belongs to that. */
  block: ManifestKey | undefined;
}

interface Readying {
  dryRun: boolean;
  by?: Principal | undefined;
  block: ManifestKey | undefined;
  /** See `ExpandedBlock`. */
  guards?: Guards | undefined;
}

/** What is checked and fetched before the transaction: the caller's reach, values of config, bytes of assets. */
export async function readyActions(
  context: Context,
  actions: readonly PlannedAction[],
  options: Readying,
): Promise<ReadyAction[]> {
  requireActionsReached(options, actions, context.store);
  const problems = actions.flatMap((action, index) => valueProblems(context, action, `actions[${index}]`));
  if (problems.length > 0) throw problemsFailure(problems);
  const ready: ReadyAction[] = [];
  for (const action of actions)
    ready.push({ action, incoming: await incomingOf(context, action, options), block: options.block });
  return ready;
}

function valueProblems(context: Context, action: PlannedAction, path: string): Problem[] {
  if (action.type !== "config_set" && action.type !== "config_unset") return [];
  return Object.entries(action.vars)
    .flatMap(([key, value]) => varProblems(context, key, value))
    .map((problem) => ({ path: `${path}.${problem.path}`, message: problem.message }));
}

async function incomingOf(context: Context, action: PlannedAction, options: Readying): Promise<Incoming | undefined> {
  if (action.type !== "apply_manifest") return undefined;
  const { kind, scope, name, spec } = action.draft;
  const key = { kind, scope, name };
  const incoming: Incoming = {
    key,
    spec: normaliseSpec(kind, spec),
    ifRevision: undefined,
    place: { within: [action.path] },
    asset: undefined,
    guard: options.guards?.get(formatKey(key)),
  };
  if (kind !== "asset") return incoming;
  const previous = context.store.assetFiles.get(key);
  const { problems, ...asset } = await materialise(context, incoming, { dryRun: options.dryRun, previous });
  if (problems.length > 0) throw problemsFailure(problemsAt(incoming.place, problems));
  return { ...incoming, asset };
}

/** What the actions of one answer did, or will have done once the transaction is through. */
export interface ActionOutcome {
  applied: string[];
  jobs: ManifestKey[];
  configured: ConfigGiven[];
  deleted: ManifestKey[];
  execLocal: { command: string[] }[];
  fetchFile: DispatchResult["fetch_file"];
}

export function noActions(): ActionOutcome {
  return { applied: [], jobs: [], configured: [], deleted: [], execLocal: [], fetchFile: [] };
}

interface ActionOptions {
  actor: string;
  by: Principal | undefined;
  /** Let config actions restart who reads the bucket, where they do not say otherwise themselves. */
  restart: boolean;
}

/** Carries actions out in order, inside the transaction of the caller: one that cannot be carried out undoes them all. */
export function carryOut(
  context: Context,
  tx: Transaction,
  { ready, options }: { ready: readonly ReadyAction[]; options: ActionOptions },
): ActionOutcome {
  const outcome = noActions();
  for (const item of ready) carryOutOne(context, tx, { item, options, outcome });
  return outcome;
}

function carryOutOne(
  context: Context,
  tx: Transaction,
  { item, options, outcome }: { item: ReadyAction; options: ActionOptions; outcome: ActionOutcome },
): void {
  const { action, incoming, block } = item;
  const { actor, by } = options;
  requireActionsReached({ by, block }, [action], tx);
  switch (action.type) {
    case "config_set":
    case "config_unset": {
      const { scope, name, vars } = action;
      const restart = options.restart && action.restart;
      const event = action.type === "config_set" ? "config.set" : "config.unset";
      patchInside(context, tx, { scope, name, vars, options: { restart, actor, by }, action: event });
      const keys = Object.keys(vars).filter((key) => vars[key] !== "");
      if (keys.length > 0) outcome.configured.push({ scope, name, keys });
      break;
    }
    case "apply_manifest":
      if (incoming !== undefined) applyOne(context, tx, { incoming, block, options });
      break;
    case "delete_manifest": {
      const { kind, scope, name } = action;
      const key = { kind, scope, name };
      if (tx.manifests.get(key) === undefined) break;
      requireUnlocked(context, tx, [key]);
      deleteInside(tx, { key, prune: false, actor, why: "deleted by a plugin", now: context.clock.now() });
      outcome.deleted.push(key);
      break;
    }
    case "run_job":
      outcome.jobs.push({ kind: "job", scope: action.scope, name: action.name });
      break;
    case "exec_local":
      outcome.execLocal.push({ command: action.command });
      return;
    case "fetch_file": {
      const { remote_path, dest_path, size_bytes } = action;
      outcome.fetchFile.push({ remote_path, dest_path, ...(size_bytes === undefined ? {} : { size_bytes }) });
      return;
    }
  }
  outcome.applied.push(action.label);
}

function applyOne(
  context: Context,
  tx: Transaction,
  {
    incoming,
    block,
    options: { actor, by },
  }: { incoming: Incoming; block: ManifestKey | undefined; options: ActionOptions },
): void {
  // What somebody applied by itself stays theirs.
  const isNew = tx.manifests.get(incoming.key) === undefined;
  change(context, tx, {
    incoming: [incoming],
    options: { dryRun: false, prune: false, actor, by, byAction: true },
    pulled: undefined,
  });
  if (block !== undefined && isNew) tx.blocks.adopt(block, incoming.key);
}

/** Last in the transaction: a job may be stored by a later action, or by the manifests that come with them. */
export function requireJobs(tx: Transaction, { jobs }: ActionOutcome): void {
  const missing = jobs.find((key) => tx.manifests.get(key) === undefined);
  if (missing === undefined) return;
  throw new Failure("invalid", `run_job: ${formatKey(missing)} is not stored; apply it first, or with it`);
}

/** Once the transaction is through. What is said undoes nothing: runs that cannot be begun, and config that nothing reads. */
export async function afterActions(context: Context, outcome: ActionOutcome, actor: string): Promise<string[]> {
  for (const key of outcome.deleted) context.enqueue(key);
  const warnings = unreadConfig(context, outcome.configured);
  for (const { scope, name } of outcome.jobs) {
    try {
      await runJob(context, { kind: "job", scope, name }, { wait: false, actor, trigger: "action" });
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      warnings.push(`run_job ${scope}/${name}: ${text}`);
      context.log.warn("job of a plugin not run", { scope, name, error });
    }
  }
  return warnings;
}
