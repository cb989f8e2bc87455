import { reachOf } from "../../../access/reach.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { formatKey } from "../../api/manifest.ts";
import type { Spec } from "../../api/manifest.ts";
import type { CoreDraft, PluginBlock } from "../../core/draft.ts";
import type { PlannedAction } from "../../core/plugins/actions.ts";
import { leastSpec } from "../../core/plugins/least-spec.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { ApplyOptions } from "../write/apply-change.ts";
import { type Lent, refused, requireAllowed, type Wanted } from "../write/authority.ts";
import type { Context } from "../state/context.ts";

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
 * What a plugin may add to the manifests of a block that its caller could not write: exactly what it also makes of a
 * block that has nothing of the caller in it. Fails `forbidden` where the rest reaches the machine.
 */
export async function lentBy(context: Context, lending: Lending): Promise<Lent | undefined> {
  const { made, options } = lending;
  const stored = context.store.manifests.get;
  const drafts = draftsOf(made);
  const open = refused(options.by, drafts.map(wanted), stored);
  if (open.length === 0) return undefined;
  const lent = new Map<string, Set<string>>();
  for (const spec of await plainSpecs(context, lending)) {
    const plain = await lending.expandAs(spec).catch(notMade);
    for (const draft of draftsOf(plain)) {
      const ref = formatKey(draft);
      const marks = lent.get(ref) ?? new Set<string>();
      for (const { mark } of reachOf(draft)) marks.add(mark);
      lent.set(ref, marks);
    }
    const shown = drafts.map((draft) => ({ ...wanted(draft), lent: lent.get(formatKey(draft)) }));
    if (refused(options.by, shown, stored).length === 0) return lent;
  }
  requireAllowed(
    options.by,
    drafts.map((draft) => ({ ...wanted(draft), lent: lent.get(formatKey(draft)) })),
    stored,
  );
  return lent;
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

function wanted({ kind, scope, name, spec }: CoreDraft): Wanted {
  return { key: { kind, scope, name }, spec };
}
