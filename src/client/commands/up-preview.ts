import { putPreview } from "../../orchestration/api/previews.ts";
import { isFields } from "../../base/pure/fields.ts";
import type { ManifestSet } from "../manifests/read.ts";
import { branchPlan } from "../preview/overlay.ts";
import type { Context } from "../shell/command.ts";
import { CommandFailure } from "../basics/failures.ts";
import { shortDuration } from "../text/time-text.ts";

/**
 * The manifests as the branch runs them, with its scope set aside on the server. Undefined where the manifests allow no
 * previews.
 */
export async function previewSet(context: Context, set: ManifestSet, branch: string): Promise<ManifestSet | undefined> {
  const of = scopeOf(set);
  const plan = branchPlan(set.manifests, of, branch);
  if (plan === undefined) return undefined;
  const { terminal, api, clock } = context;
  for (const note of plan.notes) terminal.note(`preview: ${note}`);
  const { scope, until } = await api.call(putPreview, { query: { of, branch, host: plan.host, for: plan.ttl } });
  terminal.note(
    `preview of ${branch} in the scope ${scope}; it ends in ${shortDuration(Date.parse(until) - clock.now())}`,
  );
  const pick = <T>(items: readonly T[]) => plan.kept.flatMap((index) => items[index] ?? []);
  return { ...set, manifests: plan.manifests, directories: pick(set.directories), places: pick(set.places) };
}

/** One scope is previewed: that of the apps with settings. */
function scopeOf({ manifests, places }: ManifestSet): string {
  const first = manifests.find(({ spec }) => isFields(spec) && spec.preview !== undefined) ?? manifests[0];
  const scope = first?.scope;
  const other = manifests.findIndex((manifest) => manifest.scope !== scope);
  if (typeof scope === "string" && other === -1) return scope;
  throw new CommandFailure(`${places[Math.max(0, other)]}: a preview is of one scope, and this is of another`);
}
