import type { Guard } from "../../../access/allowed.ts";
import { ownsMachine, unnamed } from "../../../access/principal.ts";
import { reachOf } from "../../../access/reach.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { formatKey } from "../../api/manifest.ts";
import type { Spec } from "../../api/manifest.ts";
import type { CoreDraft, PluginBlock } from "../../core/draft.ts";
import type { PlannedAction } from "../../core/plugins/actions.ts";
import { leastSpec } from "../../core/plugins/least-spec.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { ApplyOptions } from "../write/apply-change.ts";
import { refused, requireAllowed, type Wanted } from "../state/authority.ts";
import type { Context } from "../state/context.ts";

/** By manifest: `kind/scope/name`. */
export type Guards = ReadonlyMap<string, Guard>;

/** What a plugin made of a block. */
export interface Made {
  manifests: readonly CoreDraft[];
  actions: readonly PlannedAction[];
}

interface Lending {
  plugin: Plugin;
  block: PluginBlock;
  made: Made;
  options: ApplyOptions;
  /** The same block with another spec and without config, by a run that reaches nothing of the server. */
  expandAs: (spec: Spec) => Promise<Made>;
}

/**
 * What holds for each manifest of an expansion that reaches the machine, where its caller may not bring that in: a plugin
 * may add of itself what it also makes of a block that has nothing of the caller in it. Fails `forbidden` for the rest.
 */
export async function guardsOf(context: Context, lending: Lending): Promise<Guards | undefined> {
  const { made, options } = lending;
  const drafts = draftsOf(made);
  if (ownsMachine(options.by ?? unnamed) || drafts.every((draft) => reachOf(draft).length === 0)) return undefined;
  const guards = new Map<string, Guard>(drafts.map((draft) => [formatKey(draft), {}]));
  const wanted = () => drafts.map((draft) => ({ ...wantedOf(draft), guard: guards.get(formatKey(draft)) }));
  if (refused(options.by, wanted(), context.store).length === 0) return guards;
  for (const spec of await plainSpecs(context, lending)) {
    const plain = await lending.expandAs(spec).catch(notMade);
    for (const draft of draftsOf(plain)) guards.set(formatKey(draft), { lent: draft.spec });
    if (refused(options.by, wanted(), context.store).length === 0) return guards;
  }
  requireAllowed(options.by, wanted(), context.store);
  return guards;
}

/** A plugin may not take such a block: then nothing is known of what it adds. */
function notMade(error: unknown): Made {
  if (error instanceof Failure && error.code !== "unavailable") return { manifests: [], actions: [] };
  throw error;
}

/** Nothing at all, and what the plugin's own schema says where it wants more. */
async function plainSpecs({ plugins }: Context, { plugin, block }: Lending): Promise<Spec[]> {
  const published = await plugins.schemas.of(plugin, block.kind);
  const least = published === undefined ? undefined : leastSpec(published.json);
  return least === undefined || Object.keys(least).length === 0 ? [{}] : [{}, least];
}

function draftsOf({ manifests, actions }: Made): CoreDraft[] {
  return [...manifests, ...actions.flatMap((action) => (action.type === "apply_manifest" ? [action.draft] : []))];
}

function wantedOf({ kind, scope, name, spec }: CoreDraft): Wanted {
  return { key: { kind, scope, name }, spec };
}
