import { isFields } from "../../../base/pure/fields.ts";
import { didYouMean } from "../../../base/pure/suggest.ts";
import { Failure, type Place, type Problem, problemFailure } from "../../../base/wire/failure.ts";
import { keyOf } from "../../api/manifest-key.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import { isOwn, type Maker, makerOf, makerText, originOfSource, wayBack } from "../../core/plugins/maker.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { Context } from "./context.ts";

/**
 * Blocks that were stored before makers were recorded get the plugin that is there now under the same name. Where none is
 * there, the maker stays unknown: a plugin that comes later is not taken for it.
 */
export async function recordMakers(context: Context): Promise<void> {
  const isOpen = ({ origin }: Maker) => origin === "unrecorded";
  if (!context.store.blocks.keys().some(isOpen)) return;
  await context.plugins.registry.refresh();
  const plugins = new Map(context.plugins.registry.list().plugins.map((plugin) => [plugin.yml.name, plugin]));
  await context.store.write((tx) => {
    for (const block of tx.blocks.keys().filter(isOpen)) {
      const plugin = plugins.get(block.plugin);
      const maker: Maker = plugin === undefined ? { ...block, origin: "unknown" } : makerOf(plugin);
      tx.blocks.setMaker(block, maker);
      const { origin, source } = maker;
      const detail = { plugin: block.plugin, origin, ...(source === "" ? {} : { source }) };
      tx.events.append({ actor: "server", action: "block.maker", ...keyOf(block), detail }, context.clock.now());
    }
  });
}

/** The plugin that serves a block now, if it is the one that made it. */
function ownPlugin({ plugins }: Context, block: ManifestKey & Maker): Plugin | undefined {
  const plugin = plugins.registry.find(block.plugin);
  return plugin !== undefined && isOwn(block, makerOf(plugin)) ? plugin : undefined;
}

/** Blocks that no plugin serves, because the one that made them is gone or another one is there in its place. */
function strandedBlocks(context: Context): (ManifestKey & Maker)[] {
  return context.store.blocks.keys().filter((block) => ownPlugin(context, block) === undefined);
}

/** Why a block has no plugin now, and how it gets its own back; undefined where it has. */
export function strandedText(context: Context, block: ManifestKey & Maker): string | undefined {
  if (ownPlugin(context, block) !== undefined) return undefined;
  const there = context.plugins.registry.find(block.plugin);
  const way = wayBack(block);
  const now = there === undefined ? "which is not there" : `and ${makerText(makerOf(there))} is there now`;
  return `made by ${makerText(block)}, ${now}${way === undefined ? "" : `; to bring its own back: ${way}`}`;
}

/** The same for each block that an operation on plugins has left without one, as warnings. */
export function strandedWarnings(context: Context): string[] {
  return strandedBlocks(context).map((block) => `${formatKey(block)}: ${strandedText(context, block)}`);
}

/** Blocks that an install would leave without their plugin, as warnings. */
export function wouldStrand(
  context: Context,
  { yml, source, replaces }: { yml: { name: string }; source: string; replaces?: Plugin },
): string[] {
  if (replaces === undefined) return [];
  const before = makerOf(replaces);
  if (isOwn(before, { plugin: yml.name, ...originOfSource(source) })) return [];
  return context.store.blocks
    .keys()
    .filter((block) => isOwn(block, before))
    .map((block) => `${formatKey(block)} was made by ${makerText(before)}, and would have no plugin`);
}

/** What an apply would do: hand a block to a plugin that did not make it. Undefined where it is new or its own. */
export function handOver(stands: Maker | undefined, plugin: Maker): string | undefined {
  if (stands === undefined || isOwn(stands, plugin)) return undefined;
  return `made by ${makerText(stands)}, and ${makerText(plugin)} would take it over with its config and volumes`;
}

/** Fails `conflict` for a block that another plugin made, with both ways out. */
export function wouldHandOver(stands: Maker, { text, place }: { text: string; place: Place }): Failure {
  const way = wayBack(stands);
  const back = way === undefined ? "" : `to keep its own: ${way}; `;
  const message = `${text}; ${back}to hand it over: replace_plugin (apply --replace-plugin)`;
  return problemFailure("conflict", { path: "", message, place });
}

/**
 * A command that names a block of this plugin's name or kinds which another plugin made. Fails `conflict`. Commands may
 * name anything else, such as an app to back up.
 */
export function refuseStrangeBlocks(context: Context, plugin: Plugin, words: readonly string[]): void {
  const maker = makerOf(plugin);
  const { name, kinds } = plugin.yml;
  const named = new Set(words.flatMap((word) => [word, word.slice(word.indexOf("=") + 1)]).map(withoutOrdinal));
  const strange = context.store.blocks
    .keys()
    .find(
      (block) =>
        !isOwn(block, maker) &&
        (block.plugin === name || kinds.includes(block.kind)) &&
        named.has(`${block.scope}/${block.name}`),
    );
  if (strange === undefined) return;
  const way = wayBack(strange);
  const ways = `${way === undefined ? "" : `to bring its own back: ${way}; `}to hand it over: apply --replace-plugin`;
  const message = `${formatKey(strange)} was made by ${makerText(strange)}, so ${makerText(maker)} runs no command for it`;
  throw new Failure("conflict", `${message}; ${ways}`);
}

function withoutOrdinal(word: string): string {
  return word.replace(/\.\d+$/, "");
}

/** A field that a bundled plugin does not know may be one of another plugin: the error names the way to that. */
export function withWayToOther(problems: readonly Problem[], { yml }: Plugin, schema: unknown): Problem[] {
  const properties = isFields(schema) && isFields(schema.properties) ? Object.keys(schema.properties) : [];
  return problems.map((problem) => {
    const field = /^spec\.([^.[]+)$/.exec(problem.path)?.[1];
    if (field === undefined || properties.includes(field) || didYouMean(field, properties) !== "") return problem;
    const way = `for a manifest of another plugin: berth plugins install OWNER/REPO --replace`;
    return { ...problem, message: `${problem.message}; the bundled plugin "${yml.name}" has no such field; ${way}` };
  });
}
