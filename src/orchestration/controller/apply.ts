import {
  Failure,
  type Place,
  placeWithin,
  type Problem,
  problemFailure,
  problemsAt,
  problemsFailure,
} from "../../base/wire/failure.ts";
import type { WritableKind } from "../api/kinds/schemas.ts";
import { keyOf } from "../api/manifest-key.ts";
import { formatKey, type Spec } from "../api/manifest.ts";
import type { ApplyResult } from "../api/apply.ts";
import { inOrder } from "../../base/pure/canonical.ts";
import { deepFreeze } from "../../base/pure/deep-freeze.ts";
import { canonicalJson } from "../../base/pure/digest.ts";
import { deployMessage } from "../core/deploy-message.ts";
import type { DraftManifest } from "../core/draft.ts";
import { expandApp } from "../core/expand.ts";
import { normaliseSpec } from "../core/normalise.ts";
import { asksForTelemetry } from "../core/telemetry-env.ts";
import { type Decoded, concernsPlugins, placeOf } from "../core/validate.ts";
import type { Transaction } from "../store/store.ts";
import { settleBuilds } from "./builds/settle-builds.ts";
import { type ActionOutcome, afterActions, carryOut, requireJobs } from "./plugins/actions.ts";
import { type ApplyOptions, change, type Incoming, type Outcome } from "./write/apply-change.ts";
import { report } from "./views/apply-report.ts";
import { blockChanges, refuseLeftVolumes } from "./plugins/block-changes.ts";
import { materialise } from "./desired/assets.ts";
import { beginAtomic, lookBefore } from "./write/atomic.ts";
import { writeUnlessDry } from "./state/dry-run.ts";
import { requireAllowed } from "./state/authority.ts";
import { decode } from "./decode.ts";
import type { Context } from "./state/context.ts";
import { engineNotes } from "./desired/engine-notes.ts";
import { type ExpandedBlock, type Expansions, expandBlocks } from "./plugins/expansion.ts";
import { builtAgain, imagePullRows, type PulledImages, pullImages } from "./rollout/image-pulls.ts";
import { takenPorts } from "./desired/tcp-ports.ts";
import { discardAssets } from "./rollout/collect-assets.ts";
import { copyBefore } from "./rollout/copy-before.ts";
import type { Installed } from "./plugins/just-in-time.ts";

/** A config that moves under every expansion is somebody else's loop. */
const attemptsMax = 3;

/** POST /apply, in the steps of docs/contract/orchestration.md, 4.2. */
export async function apply(context: Context, body: unknown, asked: ApplyOptions): Promise<ApplyResult> {
  const options = { ...asked, message: deployMessage(asked.message, context.limits.messageCharactersMax) };
  if (concernsPlugins(body)) await context.plugins.registry.refresh();
  const decoded = await decodeAll(context, body, options);
  if (options.atomic) refuseBlocks(decoded);
  const installs: Installed[] = [];
  const undo: Undo[] = [];
  for (let attempt = 1; ; attempt++) {
    try {
      return await applyOnce(context, { decoded, options, installs, undo });
    } catch (error) {
      if (error instanceof ConfigMoved && attempt < attemptsMax) continue;
      await takeBack(context, undo);
      if (!(error instanceof ConfigMoved)) throw error;
      throw new Failure("conflict", `${error.message}; apply it again`);
    }
  }
}

/** A restore may have nothing to write, only to delete. */
async function decodeAll(context: Context, body: unknown, { by, restoring }: ApplyOptions): Promise<Decoded> {
  const isEmpty = Array.isArray(body) && body.length === 0 && restoring !== undefined;
  return isEmpty ? { manifests: [], indexes: [], pluginBlocks: [], problems: [] } : decode(context, body, by);
}

/** What a plugin has done meanwhile cannot be undone by anybody but itself. */
function refuseBlocks({ pluginBlocks }: Decoded): void {
  const [block] = pluginBlocks;
  if (block === undefined) return;
  throw new Failure(
    "invalid",
    `atomic: ${formatKey(block)} is a block of a plugin, whose work cannot be put back; apply it without atomic`,
  );
}

interface Attempt {
  decoded: Decoded;
  options: ApplyOptions;
  /** Installs of all attempts. */
  installs: Installed[];
  /** What to take back where the apply is refused. */
  undo: Undo[];
}

type Undo = () => Promise<void>;

/** Nothing of a refused apply stays, neither plugins that it brought nor files of assets; it is refused all the same. */
async function takeBack({ log }: Context, undo: readonly Undo[]): Promise<void> {
  for (const step of undo.toReversed())
    await step().catch((error) => log.warn("refused apply not taken back", { error }));
}

async function applyOnce(context: Context, { decoded, options, installs, undo }: Attempt): Promise<ApplyResult> {
  const count = decoded.manifests.length + decoded.pluginBlocks.length;
  const placeAt = (index: number) => placeOf(index, count);
  // Before anything is fetched or run, and then for what the blocks have become.
  const asWritten = decoded.manifests.flatMap(expandApp).map((part) => ({ key: keyOf(part), spec: part.spec }));
  requireAllowed(options.by, asWritten, context.store);
  const expansions = await expandBlocks(context, { blocks: decoded.pluginBlocks, placeAt, options, undo });
  installs.push(...expansions.installs);
  await refuseLeftVolumes(context, expansions.blocks);
  const incoming = spliced(context, { decoded, expansions, placeAt });
  requireAllowed(options.by, incoming, context.store);
  const problems = [...settleBuilds(context, incoming, options), ...(await takenPorts(context, incoming))];
  const release = await withAssets(context, incoming, { options, undo, problems });
  try {
    return await store(context, { incoming, expansions: { ...expansions, installs }, options, problems });
  } finally {
    release();
  }
}

interface Storing {
  incoming: Incoming[];
  expansions: Expansions;
  options: ApplyOptions;
  /** What is wrong so far. The transaction finds the rest, and refuses. */
  problems: readonly Problem[];
}

async function store(context: Context, storing: Storing): Promise<ApplyResult> {
  const { incoming, expansions, options, problems } = storing;
  if (problems.length > 0) await refuse(context, storing);
  const pulled = options.force && !options.dryRun ? await pullIncoming(context, incoming) : undefined;
  // Their containers get the address of the controller when they are created.
  if (expansions.blocks.length > 0 && !options.dryRun) await context.plugins.callbacks.open();
  if (!options.dryRun && incoming.some(asksForTelemetry)) await context.telemetry?.open();
  const trial = () => commit(context, { ...storing, pulled: undefined, options: { ...options, dryRun: true } });
  if (!options.dryRun) await copyBefore(context, incoming, { ...options, trial });
  const built = await builtAgain(context, { manifests: incoming.map(({ key, spec }) => ({ ...key, spec })) });
  const images = new Map([...built, ...(pulled ?? [])]);
  const committed = await commit(context, { ...storing, pulled: images });
  const started = options.dryRun ? [] : await afterActions(context, committed.actions, options.actor);
  options.onTried?.({ outcome: committed.outcome, ...madeBy(expansions) });
  const ports = await engineNotes(context, committed.outcome);
  const result = report(context, { ...committed, expansions, started, ports }, options);
  return {
    ...result,
    ...(pulled === undefined ? {} : { image_pulls: imagePullRows(pulled) }),
    ...(committed.atomic === undefined || options.dryRun ? {} : { atomic: committed.atomic }),
  };
}

function madeBy({ blocks, unknown }: Expansions) {
  const children = blocks.flatMap(({ ref, manifests }) =>
    manifests.map((one) => [formatKey(keyOf(one)), ref] as const),
  );
  return { children: new Map(children), unknown };
}

/** With what the transaction finds as well. */
async function refuse(context: Context, storing: Storing): Promise<never> {
  const failure = problemsFailure(storing.problems);
  const more: unknown = await commit(context, { ...storing, pulled: undefined }).catch((error: unknown) => error);
  throw more instanceof Failure && more.problems.length > failure.problems.length ? more : failure;
}

/** Step 3: everything in the order of the body, expansions in the place of their blocks. */
function spliced(
  context: Context,
  { decoded, expansions, placeAt }: { decoded: Decoded; expansions: Expansions; placeAt: (index: number) => Place },
): Incoming[] {
  const blocks = new Map(expansions.blocks.map((block) => [block.index, block]));
  const places = new Set(decoded.pluginBlocks.map(({ index }) => index));
  const drafts = decoded.manifests.values();
  const incoming: Incoming[] = [];
  for (let index = 0; index < decoded.manifests.length + decoded.pluginBlocks.length; index++) {
    const block = blocks.get(index);
    if (block !== undefined) incoming.push(...childrenOf(block));
    else if (!places.has(index)) incoming.push(...partsOf(drafts.next().value, placeAt(index)));
  }
  const most = context.limits.manifestsPerApplyMax;
  if (incoming.length > most) {
    throw new Failure("invalid", `${incoming.length} manifests after expansion; at most ${most} are allowed`);
  }
  refuseTwins(incoming);
  return incoming;
}

function childrenOf({ manifests, place: around, guards }: ExpandedBlock): Incoming[] {
  return manifests.map(({ kind, scope, name, spec }): Incoming => {
    const key = { kind, scope, name };
    const place = placeWithin(around, formatKey(key));
    return {
      key,
      spec: storedForm(kind, spec),
      ifRevision: undefined,
      place,
      asset: undefined,
      guard: guards?.get(formatKey(key)),
    };
  });
}

/** An `app` is a block that the server itself expands. */
function partsOf(draft: DraftManifest | undefined, place: Place): Incoming[] {
  if (draft === undefined) return [];
  return expandApp(draft).map((part): Incoming => {
    const key = keyOf(part);
    return {
      key,
      spec: storedForm(part.kind, part.spec),
      ifRevision: part.ifRevision,
      place,
      asset: undefined,
    };
  });
}

/** The very object that is stored, unless it holds secrets or names assets: what is read from it is read once. */
function storedForm(kind: WritableKind, spec: Spec): Spec {
  return deepFreeze(inOrder(normaliseSpec(kind, spec)));
}

function refuseTwins(incoming: Incoming[]): void {
  const seen = new Map<string, Incoming>();
  for (const item of incoming) {
    const text = formatKey(item.key);
    const twin = seen.get(text);
    if (twin !== undefined) {
      const hint = "an app or a plugin's block makes one of them";
      const message = `${text} is in this apply twice; ${hint}`;
      throw problemFailure("invalid", { path: "", message, place: item.place });
    }
    seen.set(text, item);
  }
}

/**
 * Step 4, first half: asset bytes; `problems` gets their faults. The digests are stamped inside the transaction; until then, and until the answer is
 * called, no collection takes the files away.
 */
async function withAssets(
  context: Context,
  incoming: Incoming[],
  { options, undo, problems }: { options: ApplyOptions; undo: Undo[]; problems: Problem[] },
): Promise<() => void> {
  const written: string[] = [];
  if (!options.dryRun) undo.push(() => discardAssets(context, written));
  for (const item of incoming) {
    if (item.key.kind !== "asset") continue;
    const previous = context.store.assetFiles.get(item.key);
    const asset = await materialise(context, item, { dryRun: options.dryRun, previous });
    problems.push(...problemsAt(item.place, asset.problems));
    item.asset = { files: asset.files, errors: asset.errors, declared: asset.declared };
    written.push(...Object.values(asset.files));
  }
  return context.assetHolds.hold(written);
}

/** Before anything is written, so that an image that cannot be had refuses the whole apply. */
function pullIncoming(context: Context, incoming: Incoming[]): Promise<PulledImages> {
  return pullImages(context, {
    manifests: incoming.map(({ key, spec }) => ({ ...key, spec })),
    registries: incoming.filter(({ key }) => key.kind === "registry").map(({ spec }) => spec),
  });
}

interface Committing extends Storing {
  pulled: PulledImages | undefined;
}

/** What the transaction did, the actions of expansions before the manifests. */
interface Committed {
  outcome: Outcome;
  actions: ActionOutcome;
  /** See `beginAtomic`. */
  atomic: string | undefined;
}

/** A bucket was written between an expansion and its commit: what the plugin made of the old one must not be stored. */
class ConfigMoved extends Error {}

/** Steps 5 to 8, whole or not at all. */
function commit(context: Context, committing: Committing): Promise<Committed> {
  return writeUnlessDry(context.store, committing.options.dryRun, (tx) => commitInside(context, tx, committing));
}

function commitInside(context: Context, tx: Transaction, committing: Committing): Committed {
  const { incoming, expansions, options, pulled, problems: earlier } = committing;
  for (const { key, ref, config } of expansions.blocks) {
    const isSame = canonicalJson(tx.config.merged(key.scope, key.name)) === canonicalJson(config);
    if (!isSame) throw new ConfigMoved(`${ref}: its config was changed while it was expanded`);
  }
  const ready = expansions.blocks.flatMap((block) => block.ready);
  const actions = carryOut(context, tx, { ready, options: { actor: options.actor, by: options.by, restart: true } });
  const { blocks, standing } = blockChanges(expansions);
  const before = options.atomic ? lookBefore(tx) : undefined;
  const outcome = change(context, tx, { incoming, blocks, standing, options, pulled, earlier });
  requireJobs(tx, actions);
  const atomic = before && beginAtomic(context, tx, { before, outcome, actor: options.actor });
  return { outcome, actions, atomic };
}
