import { Failure, type Place, placeWithin, problemFailure } from "../../../base/wire/failure.ts";
import { formatKey } from "../../api/manifest.ts";
import type { ApplyResult } from "../../api/apply.ts";
import type { PluginBlock } from "../../core/draft.ts";
import type { BlockPin } from "../../core/plugins/expansion.ts";
import { isOwn, makerOf, makerText, originOfSource } from "../../core/plugins/maker.ts";
import { isPluginName } from "../../core/plugin-names.ts";
import { parseSource } from "../../core/plugins/source.ts";
import { bareVersion } from "../../plugins/checks.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { ApplyOptions } from "../write/apply-change.ts";
import { requireMachine } from "../state/authority.ts";
import { blockKey } from "../write/blocks.ts";
import { handOver, wouldHandOver } from "../state/makers.ts";
import { type PluginWish, installOnce, giveUp } from "./pending-installs.ts";
import type { Context } from "../state/context.ts";

export type Installed = NonNullable<ApplyResult["plugin_installs"]>[number];

/** A block and which plugin it wants. */
interface PinnedBlock {
  block: PluginBlock;
  place: Place;
  pin: BlockPin;
}

/** Whether an apply can get a plugin for blocks of this kind: the block says where from, or the operator did. */
export function canBring(context: Context, kind: string, pin: BlockPin): boolean {
  return isPluginName(kind) && (pin.repo !== undefined || context.plugins.defaultRepo(kind) !== undefined);
}

/**
 * Step 2 of an apply: installs what the blocks want and is not there. In a dry run nothing is installed; `missing` then
 * holds the kinds that would have been waited for. Fails `invalid` for whatever is wrong with a source or a package.
 */
export async function bringPlugins(
  context: Context,
  blocks: readonly PinnedBlock[],
  { options, undo }: { options: ApplyOptions; undo: (() => Promise<void>)[] },
): Promise<{ installs: Installed[]; missing: Map<string, string> }> {
  const installs: Installed[] = [];
  const missing = new Map<string, string>();
  for (const [first, ...others] of byPlugin(context, blocks)) {
    if (first === undefined) continue;
    refuseTwoPins(first, others);
    const { kind } = first.block;
    const wish = wishFor(context, first);
    if (wish === undefined) continue;
    const { request } = wish;
    requireOwnSource(context, [first, ...others], { wish, options });
    requireMachine(
      options.by,
      `${formatKey(first.block)}: the plugin "${kind}" would come from ${request.source}, which`,
    );
    if (options.dryRun) {
      const version = request.version ?? "";
      installs.push({ plugin: kind, version, source: request.source });
      const why = `unknown until "${kind}" is installed from ${request.source}`;
      for (const { block } of [first, ...others]) missing.set(block.kind, why);
    } else {
      installs.push(await install(context, { wanted: first, wish, options, undo }));
    }
  }
  return { installs, missing };
}

/** Blocks of one plugin, however each calls it. */
function byPlugin(context: Context, blocks: readonly PinnedBlock[]): PinnedBlock[][] {
  const groups = new Map<string, PinnedBlock[]>();
  for (const pinned of blocks) {
    const { kind } = pinned.block;
    const name = context.plugins.registry.ofKind(kind)?.yml.name ?? kind;
    groups.set(name, [...(groups.get(name) ?? []), pinned]);
  }
  return [...groups.values()];
}

/** There is one plugin of a name: two blocks that want two versions of it would install in turns for ever. */
function refuseTwoPins(first: PinnedBlock, others: readonly PinnedBlock[]): void {
  for (const field of ["version", "repo"] as const) {
    const other = others.find(({ pin }) => pin[field] !== first.pin[field]);
    if (other === undefined) continue;
    const say = ({ pin }: PinnedBlock) => (pin[field] === undefined ? "none" : `"${pin[field]}"`);
    const message =
      `${formatKey(other.block)} wants ${say(other)} and ${formatKey(first.block)} ${say(first)}; ` +
      "one plugin serves both, write the same in each";
    throw problemFailure("invalid", { path: `spec.plugin.${field}`, message, place: other.place });
  }
}

/** What has to be installed for a block; undefined when what is there will do. */
function wishFor(context: Context, { block, place, pin }: PinnedBlock): PluginWish | undefined {
  const there = context.plugins.registry.ofKind(block.kind);
  const version = pin.version === "latest" ? undefined : pin.version;
  const wanted = version === undefined ? {} : { version };
  const byOperator = context.plugins.defaultRepo(block.kind);
  const named = pin.repo ?? byOperator;
  if (there === undefined) {
    if (named === undefined) throw notThere({ block, place, pin }, there);
    return { request: { source: named, ...wanted }, present: undefined };
  }
  if (there.origin === "bundled") {
    if (pin.repo !== undefined && !isSame(pin.repo, byOperator)) throw wouldReplace({ block, place, pin }, there);
    if (named !== undefined) return { request: { source: named, ...wanted, replace: true }, present: undefined };
    if (fits(there, pin.version)) return undefined;
    throw notThere({ block, place, pin }, there);
  }
  if (fits(there, pin.version) && pin.version !== "latest") return undefined;
  const own = there.lock?.source ?? "";
  if (there.origin !== "installed" || own === "") {
    // Nothing to compare with: what lies there by hand is what there is.
    if (pin.version === "latest") return undefined;
    throw notThere({ block, place, pin }, there);
  }
  if (pin.repo !== undefined && !isSame(pin.repo, own)) throw wouldReplace({ block, place, pin }, there);
  return { request: { source: own, ...wanted }, present: there };
}

/**
 * Before anything is fetched: what would come in may not take blocks from the plugin that made them. Those of this apply
 * can be handed over; others would be left without their plugin, which only an install by name may do. Fails `conflict`.
 */
function requireOwnSource(
  context: Context,
  pinned: readonly PinnedBlock[],
  { wish, options }: { wish: PluginWish; options: ApplyOptions },
): void {
  const { source } = wish.request;
  const comes = originOfSource(source);
  const keys = pinned.map(({ block }) => formatKey(blockKey(context, block)));
  for (const { block, place } of pinned) {
    const stands = context.store.blocks.get(blockKey(context, block));
    if (stands === undefined || options.replacePlugin === true) continue;
    const text = handOver(stands, { plugin: stands.plugin, ...comes });
    if (text !== undefined) throw wouldHandOver(stands, { text, place: placeWithin(place, formatKey(block)) });
  }
  const there = context.plugins.registry.ofKind(pinned[0]?.block.kind ?? "");
  if (there === undefined || wish.present !== undefined) return;
  const left = context.store.blocks
    .keys()
    .filter((block) => isOwn(block, makerOf(there)) && !keys.includes(formatKey(block)));
  const [one] = left;
  if (one === undefined) return;
  const more = left.length > 1 ? ` and ${left.length - 1} more` : "";
  const way = `to do that: berth plugins install ${source} --replace`;
  throw new Failure(
    "conflict",
    `${source} would leave ${formatKey(one)}${more} without ${makerText(makerOf(there))}; ${way}`,
  );
}

/** Two ways to write one source are one. */
function isSame(one: string, other: string | undefined): boolean {
  return other !== undefined && JSON.stringify(parseSource(one)) === JSON.stringify(parseSource(other));
}

/** A plugin serves blocks of every scope: one block does not decide what all others are expanded by. */
function wouldReplace({ block, place, pin }: PinnedBlock, { yml, origin, lock }: Plugin): Failure {
  const present = origin === "bundled" ? "is part of the server" : `is installed from ${lock?.source}`;
  const version = pin.version === undefined || pin.version === "latest" ? "" : ` --version ${pin.version}`;
  const way = `berth plugins install ${pin.repo}${version}${origin === "bundled" ? " --replace" : ""}`;
  const message =
    `the plugin "${yml.name}" ${present}, and ${pin.repo} would take its place for blocks of kind ` +
    `"${block.kind}" in all scopes; to do that: ${way}; else leave spec.plugin out`;
  return problemFailure("conflict", { path: "spec.plugin.repo", message, place });
}

function fits({ yml }: Plugin, version: string | undefined): boolean {
  return version === undefined || version === "latest" || bareVersion(version) === bareVersion(yml.version);
}

function notThere({ block, place, pin }: PinnedBlock, there: Plugin | undefined): Failure {
  const has = there === undefined ? "is not installed" : `is here in version "${there.yml.version}"`;
  const install = `berth plugins install OWNER/REPO --version ${pin.version} --replace`;
  const hint =
    there?.origin === "bundled"
      ? `it is bundled: leave spec.plugin.version out, or install the plugin that the manifest is for: ${install}`
      : "say where from with spec.plugin.repo, or leave spec.plugin.version out";
  const message = `the plugin of "${block.kind}" ${has}; ${hint}`;
  return problemFailure("invalid", { path: "spec.plugin", message, place });
}

interface Installing {
  wanted: PinnedBlock;
  wish: PluginWish;
  options: ApplyOptions;
  undo: (() => Promise<void>)[];
}

async function install(context: Context, { wanted, wish, options, undo }: Installing): Promise<Installed> {
  const { block, pin } = wanted;
  const { source } = wish.request;
  const place = placeWithin(wanted.place, formatKey(block));
  const { present } = wish;
  const version = pin.version === "latest" ? undefined : pin.version;
  const forBlocks = { kind: block.kind, version, updates: present?.yml.name };
  const pending = installOnce(context, { ...wish, request: { ...wish.request, forBlocks } });
  undo.push(() => giveUp(context, pending));
  const { yml } = await pending.plugin.catch((error: unknown) => {
    throw asInvalid(error, place);
  });
  await context.plugins.registry.refresh();
  const detail = { plugin: yml.name, version: yml.version, source, for: formatKey(block) };
  const event = { actor: options.actor, action: "plugin.install", detail };
  await context.store.write((tx) => tx.events.append(event, context.clock.now()));
  if (context.plugins.registry.ofKind(block.kind)?.yml.name !== yml.name) {
    const message = `"${source}" holds the plugin "${yml.name}", which does not expand blocks of kind "${block.kind}"`;
    throw problemFailure("invalid", { path: "", message, place });
  }
  return { plugin: yml.name, version: yml.version, source };
}

/** Whatever is wrong with a source is the caller's to set right; the server's own troubles stay what they are. */
export function asInvalid(error: unknown, place?: Place): unknown {
  if (!(error instanceof Failure)) return error;
  const isTheirs = ["not_found", "conflict", "forbidden", "invalid", "too_large"].includes(error.code);
  const code = isTheirs ? "invalid" : error.code;
  const { message, problems } = error;
  if (place === undefined) return new Failure(code, message, { cause: error, problems });
  return problemFailure(code, { path: "", message, place }, { cause: error });
}
