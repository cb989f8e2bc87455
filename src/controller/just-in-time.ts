import { Failure } from "../api/failure.ts";
import { formatKey } from "../api/manifest.ts";
import type { ApplyResult } from "../api/orchestration/apply.ts";
import type { PluginBlock } from "../core/draft.ts";
import type { BlockPin } from "../core/plugins/expansion.ts";
import { isPluginName } from "../core/plugins/names.ts";
import type { InstallRequest, Plugin } from "../plugin/plugin.ts";
import type { ApplyOptions } from "./apply-change.ts";
import type { Context } from "./context.ts";

export type Installed = NonNullable<ApplyResult["plugin_installs"]>[number];

/** A block and which plugin it wants. */
export interface PinnedBlock {
  block: PluginBlock;
  path: string;
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
    const request = requestFor(context, first);
    if (request === undefined) continue;
    if (options.dryRun) {
      const version = request.version ?? "";
      installs.push({ plugin: kind, version, source: request.source });
      const why = `unknown until "${kind}" is installed from ${request.source}`;
      for (const { block } of [first, ...others]) missing.set(block.kind, why);
    } else {
      installs.push(await bring(context, { wanted: first, request, options, undo }));
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
    throw new Failure(
      "invalid",
      `${other.path}spec.plugin.${field}: ${formatKey(other.block)} wants ${say(other)} and ${formatKey(first.block)} ${say(first)}; ` +
        "one plugin serves both, write the same in each",
    );
  }
}

/** What has to be installed for a block; undefined when what is there will do. */
function requestFor(context: Context, { block, path, pin }: PinnedBlock): InstallRequest | undefined {
  const there = context.plugins.registry.ofKind(block.kind);
  const version = pin.version === "latest" ? undefined : pin.version;
  const wanted = version === undefined ? {} : { version };
  const named = pin.repo ?? context.plugins.defaultRepo(block.kind);
  if (there === undefined || there.origin === "bundled") {
    if (named !== undefined) return { source: named, ...wanted, replace: true };
    if (there !== undefined && fits(there, pin.version)) return undefined;
    throw notThere(block, path, there);
  }
  if (fits(there, pin.version) && pin.version !== "latest") return undefined;
  const source = pin.repo ?? there.lock?.source ?? context.plugins.defaultRepo(block.kind);
  const isOwn = there.origin === "installed";
  if (source !== undefined && source !== "" && isOwn) return { source, ...wanted };
  // Nothing to compare with: what lies there by hand is what there is.
  if (pin.version === "latest") return undefined;
  throw notThere(block, path, there);
}

function fits({ yml }: Plugin, version: string | undefined): boolean {
  return version === undefined || version === "latest" || bare(version) === bare(yml.version);
}

function bare(version: string): string {
  return version.replace(/^v(?=\d)/, "");
}

function notThere(block: PluginBlock, path: string, there: Plugin | undefined): Failure {
  const has = there === undefined ? "is not installed" : `is here in version "${there.yml.version}"`;
  const hint = "say where from with spec.plugin.repo, or leave spec.plugin.version out";
  return new Failure("invalid", `${path}spec.plugin: the plugin of "${block.kind}" ${has}; ${hint}`);
}

interface Bringing {
  wanted: PinnedBlock;
  request: InstallRequest;
  options: ApplyOptions;
  undo: (() => Promise<void>)[];
}

/** Takes an install back, unless a block that was stored meanwhile is of the plugin. */
async function unbring(context: Context, before: Plugin | undefined, { name, version }: Plugin["yml"]): Promise<void> {
  const { installer, registry } = context.plugins;
  if (context.store.blocks.list({}).some(({ plugin }) => plugin === name) && before?.origin !== "installed") return;
  if (before?.origin !== "installed") await installer.remove(name);
  else if (before.yml.version !== version) await installer.rollback(name);
  else return;
  await registry.refresh();
  const detail = { plugin: name, version, why: "the apply that brought it was refused" };
  const event = { actor: "reconciler", action: "plugin.remove", detail };
  await context.store.write((tx) => tx.events.append(event, context.clock.now()));
}

async function bring(context: Context, { wanted, request, options, undo }: Bringing): Promise<Installed> {
  const { block, path, pin } = wanted;
  const { source } = request;
  const before = context.plugins.registry.ofKind(block.kind);
  const at = `${path}${formatKey(block)}: `;
  const { yml } = await context.plugins.installer.install(request).catch((error: unknown) => {
    throw asInvalid(error, at);
  });
  undo.push(() => unbring(context, before, yml));
  await context.plugins.registry.refresh();
  const detail = { plugin: yml.name, version: yml.version, source, for: formatKey(block) };
  const event = { actor: options.actor, action: "plugin.install", detail };
  await context.store.write((tx) => tx.events.append(event, context.clock.now()));
  const there = context.plugins.registry.ofKind(block.kind);
  if (there?.yml.name !== yml.name) {
    const text = `${at}"${source}" holds the plugin "${yml.name}", which does not expand blocks of kind "${block.kind}"`;
    throw new Failure("invalid", text);
  }
  if (!fits(there, pin.version)) {
    throw new Failure("invalid", `${at}"${source}" holds version "${yml.version}", not "${pin.version}"`);
  }
  return { plugin: yml.name, version: yml.version, source };
}

/** Whatever is wrong with a source is the caller's to set right; the server's own troubles stay what they are. */
export function asInvalid(error: unknown, at = ""): unknown {
  if (!(error instanceof Failure)) return error;
  const isTheirs = ["not_found", "conflict", "forbidden", "invalid", "too_large"].includes(error.code);
  return new Failure(isTheirs ? "invalid" : error.code, `${at}${error.message}`, { cause: error });
}
