import { isoTime } from "../../../base/pure/iso-time.ts";
import { formatKey, type Manifest, type ManifestKey } from "../../api/manifest.ts";
import { kindList, kindWords, parseKind } from "../../core/kind.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { maskBlock } from "../../core/plugins/block-mask.ts";
import { didYouMean } from "../../../base/pure/suggest.ts";
import type { BlockRecord } from "../../store/plugin-records.ts";
import type { Transaction } from "../../store/store.ts";
import type { Context } from "../state/context.ts";
import type { Target } from "../requests.ts";
import { deleteInside } from "./delete-inside.ts";
import { ambiguousScope, notStored, unknownKind } from "../state/target.ts";

/** Identity of a block: an alias stands for the plugin's own name. */
export function blockKey(context: Context, { kind, scope, name }: ManifestKey): ManifestKey {
  return { kind: blockKind(context, kind), scope, name };
}

function blockKind(context: Context, kind: string): string {
  const plugin = context.plugins.registry.ofKind(kind) ?? context.plugins.registry.find(kind);
  const isAlias = plugin?.yml.aliases.includes(kind) === true && plugin.yml.kinds.includes(plugin.yml.name);
  return isAlias ? plugin.yml.name : kind;
}

/**
 * The kind of blocks that a word means, in any case, singular or plural; undefined for core kinds and for what no plugin
 * ever expanded.
 */
export function storedBlockKind(context: Context, word: string | undefined): string | undefined {
  if (!word || parseKind(word) !== undefined) return undefined;
  const lower = word.toLowerCase();
  const spellings = [word, lower, lower.replace(/es$/, ""), lower.replace(/s$/, "")];
  return spellings.map((spelling) => blockKind(context, spelling)).find((kind) => isBlockKind(context, kind));
}

function isBlockKind(context: Context, kind: string): boolean {
  return context.plugins.registry.ofKind(kind) !== undefined || context.store.blocks.list({ kind }).length > 0;
}

/** Rejects a word that is neither a core kind nor one of a plugin. Fails `invalid`, naming those that are. */
export function requireKind(context: Context, word: string | undefined): void {
  if (!word || parseKind(word) !== undefined || storedBlockKind(context, word) !== undefined) return;
  const trouble = kindTrouble(context, word);
  if (trouble !== undefined) throw new Failure("invalid", trouble, { reason: "UnknownKind", fields: { kind: word } });
  const plugins = pluginKinds(context);
  const hint = didYouMean(word, [...kindWords(), ...plugins]);
  const more = plugins.length === 0 ? "" : `, and of plugins ${plugins.join(", ")}`;
  throw unknownKind(word, `${hint}; kinds are ${kindList()}${more}`);
}

/**
 * The stored block that a caller means; undefined where the kind is none of a plugin. A scope left out is found where
 * exactly one matches.
 */
export function resolveBlock(context: Context, target: Target): BlockRecord | undefined {
  requireKind(context, target.kind);
  const kind = storedBlockKind(context, target.kind);
  if (kind === undefined || !target.name) return undefined;
  const known = context.store.blocks.list({
    kind,
    name: target.name,
    ...(target.scope ? { scope: target.scope } : {}),
  });
  const [first, ...others] = known;
  if (first === undefined) throw notStored(context.store.manifests, [kind], { scope: target.scope, name: target.name });
  if (others.length > 0) throw ambiguousScope(kind, target.name, known);
  return first;
}

/** A block as callers see it. */
export function wireBlock({ kind, scope, name, spec, revision, createdAt, updatedAt }: BlockRecord): Manifest {
  return {
    kind,
    scope,
    name,
    spec: maskBlock(spec),
    metadata: { revision, created_at: isoTime(createdAt), updated_at: isoTime(updatedAt) },
  };
}

/** Kinds that installed plugins expand, aliases included. */
export function pluginKinds(context: Context): string[] {
  const { registry } = context.plugins;
  const kinds = registry.list().plugins.flatMap(({ yml }) => yml.kinds);
  return [...new Set(kinds.filter((kind) => registry.ofKind(kind) !== undefined))];
}

/** Why a kind cannot be used although there is a plugin of its name; undefined where there is none. */
export function kindTrouble({ plugins: { registry } }: Context, kind: string): string | undefined {
  const broken = registry.list().errors.find((text) => text.startsWith(`${kind}: `));
  if (broken !== undefined) return `the plugin of this kind cannot be used: ${broken}`;
  const plugin = registry.find(kind);
  return plugin && `the plugin "${plugin.yml.name}" has no command "expand", so "${kind}" is not a kind`;
}

interface DeletingBlock {
  block: ManifestKey;
  prune: boolean;
  /** The manifests that it was expanded into stay, and belong to no block. */
  keepChildren?: boolean;
  /** `formatKey` of manifests that stay, of any owner. */
  except?: ReadonlySet<string>;
  actor: string;
  why: string;
  /** The time that a restore goes back to, ISO 8601. */
  restored?: string;
  now: number;
}

/** Forgets a block and deletes what it was expanded into. Returns those that were deleted. */
export function deleteBlockInside(
  tx: Transaction,
  deleting: DeletingBlock,
): { key: ManifestKey; configWiped: boolean }[] {
  const { block, prune, actor, why, restored, now } = deleting;
  const children = deleting.keepChildren === true ? [] : tx.blocks.children(block);
  const gone = children
    .filter((child) => deleting.except?.has(formatKey(child)) !== true)
    .map((key) => ({ key, ...deleteInside(tx, { key, prune, actor, why, restored, now }) }));
  const { kind, scope, name } = block;
  if (prune) tx.config.wipe(scope, name);
  tx.blocks.delete(block);
  tx.events.append({ actor, action: "block.delete", kind, scope, name, detail: { why, prune, restored } }, now);
  return gone;
}
