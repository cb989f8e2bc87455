import { unnamed } from "../../../access/principal.ts";
import {
  Failure,
  type Place,
  placeWithin,
  problemsAt,
  problemsFailure,
  problemText,
} from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey, type Spec } from "../../api/manifest.ts";
import type { ExpandInput } from "../../api/plugins/protocol.ts";
import { protocolVersion } from "../../api/plugins/plugin-yml.ts";
import type { CoreDraft, PluginBlock } from "../../core/draft.ts";
import type { PlannedAction } from "../../core/plugins/actions.ts";
import { bareData } from "../../core/plugins/envelope.ts";
import { readExpansion, takePin } from "../../core/plugins/expansion.ts";
import { makerOf } from "../../core/plugins/maker.ts";
import { leftOutTexts } from "../../core/plugins/unknown-fields.ts";
import { expansionProblems, mayTouch, permissionProblems } from "../../core/plugins/permissions.ts";
import { repeatedText } from "../../core/validate.ts";
import { createLimit } from "../../../base/words/limit.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import { type ReadyAction, readyActions } from "./actions.ts";
import type { ApplyOptions } from "../write/apply-change.ts";
import { requireAllowedBlock, requireMachine } from "../state/authority.ts";
import { blockKey } from "../write/blocks.ts";
import type { Context } from "../state/context.ts";
import { recorded, refuseFailed } from "./dispatch.ts";
import { type Installed, bringPlugins } from "./just-in-time.ts";
import { guardsOf, type Guards, type Made } from "./lent.ts";
import { type CheckedBlock, checkedBlock } from "./block-check.ts";
import { handOver, recordMakers, wouldHandOver } from "../state/makers.ts";
import { runPlugin } from "./plugin-run.ts";

/** A block and what its plugin made of it. */
export interface ExpandedBlock {
  key: ManifestKey;
  /** As written, an alias perhaps: `pg/data/main`. */
  ref: string;
  index: number;
  plugin: Plugin;
  spec: PluginBlock["spec"];
  ifRevision: number | undefined;
  place: Place;
  /** The bucket as the plugin got it: when it has moved meanwhile, the answer counts no more. */
  config: Record<string, string>;
  manifests: CoreDraft[];
  ready: ReadyAction[];
  /** Kept with the block: what of its plugin's answer is not served. */
  warnings: string[];
  /** Undefined where its caller may do everything, or nothing of it reaches the machine. */
  guards: Guards | undefined;
}

export interface Expansions {
  blocks: ExpandedBlock[];
  installs: Installed[];
  /** In a dry run: blocks whose plugin is not there yet, or did not make them. */
  unknown: { ref: string; key: ManifestKey; why: string; stands: boolean }[];
}

interface Expanding {
  blocks: readonly PluginBlock[];
  placeAt: (index: number) => Place;
  options: ApplyOptions;
  /** Gets what takes an install back. */
  undo: (() => Promise<void>)[];
}

/** Steps 2 and 3 of an apply: plugins that are missing are installed, then every block is expanded. Nothing is stored. */
export async function expandBlocks(context: Context, expanding: Expanding): Promise<Expansions> {
  const { blocks, placeAt, options, undo } = expanding;
  if (blocks.length === 0) return { blocks: [], installs: [], unknown: [] };
  await recordMakers(context);
  if (options.replacePlugin === true) requireMachine(options.by, "handing blocks to another plugin");
  for (const { kind, scope, name, spec } of blocks) {
    const stands = context.store.blocks.get(blockKey(context, { kind, scope, name }))?.spec;
    const block = { ref: formatKey({ kind, scope, name }), wanted: spec, ...(stands === undefined ? {} : { stands }) };
    requireAllowedBlock(options.by, block);
  }
  const pinned = blocks.map((block) => ({ block, place: placeAt(block.index), ...takePin(block.spec) }));
  const problems = pinned.flatMap(({ place, problems: own }) => problemsAt(place, own));
  if (problems.length > 0) throw problemsFailure(problems);
  const { installs, missing } = await bringPlugins(context, pinned, { options, undo });
  const unknown = pinned.flatMap(({ block }) => {
    const why = missing.get(block.kind);
    return why === undefined
      ? []
      : [{ ref: formatKey(block), key: blockKey(context, block), why, stands: standing(context, block) !== undefined }];
  });
  const present = pinned.filter(({ block }) => !missing.has(block.kind));
  const strange = present.flatMap((pin) => handedOver(context, pin, options));
  unknown.push(...strange);
  const there = present.filter(({ block }) => strange.every(({ ref }) => ref !== formatKey(block)));
  requireDifferent(
    context,
    there.map(({ block }) => block),
  );
  const looked = await Promise.all(
    there.map(({ block, spec, place }) => checkedBlock(context, { block: { ...block, spec }, place })),
  );
  const faults = looked.flatMap((one) => ("problems" in one ? one.problems : []));
  if (faults.length > 0) throw problemsFailure(faults);
  const stop = new AbortController();
  const limit = createLimit(context.limits.expandAtOnceMax);
  const expanded = await Promise.all(
    looked.map(async (one) => {
      if ("problems" in one) throw problemsFailure(one.problems);
      return limit(() => expandOne(context, { ...one, options, signal: stop.signal })).catch((error: unknown) => {
        // The others are for nothing now.
        stop.abort();
        throw error;
      });
    }),
  );
  return { blocks: expanded, installs, unknown };
}

function standing(context: Context, block: ManifestKey) {
  return context.store.blocks.get(blockKey(context, block));
}

/** A block that another plugin made is not even shown to this one. Fails `conflict`; a dry run returns why. */
function handedOver(
  context: Context,
  { block, place }: { block: PluginBlock; place: Place },
  { dryRun, replacePlugin }: ApplyOptions,
): Expansions["unknown"] {
  const plugin = context.plugins.registry.ofKind(block.kind);
  const stands = standing(context, block);
  const ref = formatKey(block);
  const text = plugin && handOver(stands, makerOf(plugin));
  if (stands === undefined || text === undefined || replacePlugin === true) return [];
  const failure = wouldHandOver(stands, { text, place: placeWithin(place, ref) });
  if (!dryRun) throw failure;
  return [
    { ref, key: blockKey(context, block), why: `${text}; apply refuses that without --replace-plugin`, stands: true },
  ];
}

/** An alias of a kind makes no other block. */
function requireDifferent(context: Context, blocks: readonly PluginBlock[]): void {
  const seenAt = new Map<string, number>();
  for (const block of blocks) {
    const text = repeatedText(formatKey(blockKey(context, block)), block.index, seenAt);
    if (text !== undefined) throw new Failure("invalid", text);
  }
}

interface BlockExpansion extends CheckedBlock {
  options: ApplyOptions;
  signal: AbortSignal;
}

async function expandOne(context: Context, expansion: BlockExpansion): Promise<ExpandedBlock> {
  const { block, plugin, key, place } = expansion;
  const { index, ifRevision, spec } = block;
  const config = context.store.config.merged(block.scope, block.name);
  const made = await ask(context, { ...expansion, config });
  return { key, ref: formatKey(block), index, plugin, spec, ifRevision, place, config, ...made };
}

/** Its actions are carried out with the apply, or not at all. */
function noLabels(): string[] {
  return [];
}

interface Question {
  plugin: Plugin;
  block: PluginBlock;
  config: Record<string, string>;
  place: Place;
  options: ApplyOptions;
  signal: AbortSignal;
}

async function ask(context: Context, question: Question) {
  const { plugin, block, config, place, options, signal } = question;
  try {
    const answer = await runPlugin(context, {
      plugin,
      command: "expand",
      args: [],
      input: inputOf({ plugin, block, config, dryRun: options.dryRun }),
      timeoutMs: context.limits.expandTimeoutMs,
      actor: options.actor,
      by: options.by,
      signal,
    });
    return await recorded(answer, noLabels, async () => {
      refuseFailed({ plugin, command: "expand", answer });
      const data = answer.reply.type === "ok" ? answer.reply.data : bareData(answer.stdout);
      const { manifests, actions, problems, leftOut, warnings = [] } = readExpansion(data, block, context.limits);
      if (problems.length > 0) throw problemsFailure(problems);
      const made = { manifests, actions };
      const expandAs = (spec: Spec) => askPlainly(context, { ...question, block: { ...block, spec } });
      const guards = await guardsOf(context, { plugin, block, made, options, expandAs });
      const refused = permissionProblems(actions, plugin.permissions, () => block.spec);
      if (refused.length > 0) throw problemsFailure(refused);
      const stranger = manifests.find(({ scope }) => !mayTouch(plugin.permissions, scope));
      if (stranger !== undefined) {
        throw new Failure("invalid", `${formatKey(stranger)}: the plugin was not granted this scope`);
      }
      const beyond = expansionProblems(manifests, plugin.permissions, block.spec);
      if (beyond.length > 0) throw problemsFailure(beyond);
      const news = actions.filter((action) => !isSet(context, action));
      return {
        manifests,
        guards,
        warnings: [...leftOutTexts(plugin.yml.name, leftOut), ...warnings],
        ready: await readyActions(context, news, { ...options, block: blockKey(context, block), guards }),
      };
    });
  } catch (error) {
    throw told(error, place);
  }
}

/** What the plugin makes of a block in which nothing is of the caller; nothing of it is stored. */
async function askPlainly(context: Context, { plugin, block, options, signal }: Question): Promise<Made> {
  const answer = await runPlugin(context, {
    plugin,
    command: "expand",
    args: [],
    input: inputOf({ plugin, block, config: {}, dryRun: true }),
    timeoutMs: context.limits.expandTimeoutMs,
    actor: options.actor,
    by: unnamed,
    alone: true,
    signal,
  });
  return recorded(answer, noLabels, async () => {
    refuseFailed({ plugin, command: "expand", answer });
    const data = answer.reply.type === "ok" ? answer.reply.data : bareData(answer.stdout);
    const { manifests, actions, problems } = readExpansion(data, block, context.limits);
    if (problems.length > 0) throw problemsFailure(problems);
    return { manifests, actions };
  });
}

/** Config that says so already: a block may ask for it at each apply, and nothing is to be reported or restarted. */
function isSet({ store }: Context, action: PlannedAction): boolean {
  if (action.type !== "config_set" && action.type !== "config_unset") return false;
  const bucket = store.config.bucket(action.scope, action.name);
  // Somebody may not have been restarted for it yet.
  if (store.config.behindSince(action.scope, action.name, Object.keys(action.vars)) !== undefined) return false;
  return Object.entries(action.vars).every(([key, value]) => (bucket[key] ?? "") === value);
}

function inputOf({
  plugin,
  block,
  config,
  dryRun,
}: Pick<Question, "plugin" | "block" | "config"> & { dryRun: boolean }): ExpandInput {
  const { kind, scope, name, spec } = block;
  return {
    protocol: protocolVersion,
    kind,
    scope,
    name,
    spec,
    config,
    dry_run: dryRun,
    plugin_dir: plugin.folder,
  };
}

/** The same error, naming the block on each of its lines: paths of the plugin's answer are not paths of the request. */
function told(error: unknown, place: Place): unknown {
  if (!(error instanceof Failure)) return error;
  const problems = error.message.split("\n").map((message) => ({ path: "", message, place }));
  return new Failure(error.code, problems.map(problemText).join("\n"), { cause: error, problems });
}
