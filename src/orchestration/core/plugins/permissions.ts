import type { Problem } from "../../../base/wire/failure.ts";
import { formatKey, type Spec } from "../../api/manifest.ts";
import type { PluginPermissions } from "../../api/plugins/plugin-yml.ts";
import type { CoreDraft } from "../draft.ts";
import type { PlannedAction } from "./actions.ts";
import { runsAsRoot } from "./conflicts.ts";
import { privileges } from "./privileges.ts";

/** The spec of the block, one of the plugin's own, that a manifest came from; undefined where there is none. */
type BlockSpecOf = (draft: CoreDraft) => Spec | undefined;

/** What the plugin was not granted, each with the place of the action; nothing of such an answer is carried out. */
export function permissionProblems(
  actions: readonly PlannedAction[],
  granted: PluginPermissions,
  blockSpecOf: BlockSpecOf,
): Problem[] {
  return actions.flatMap((action, index) => {
    const path = `actions[${index}]`;
    if (!granted.actions.some((type) => type === action.type)) {
      return [{ path, message: `the plugin was not granted "${action.type}"; ${wayOut}` }];
    }
    const scope = scopeOf(action);
    if (scope !== undefined && !mayTouch(granted, scope)) {
      return [{ path, message: `the plugin was not granted the scope "${scope}"; ${wayOut}` }];
    }
    if (action.type !== "apply_manifest") return [];
    const problems = manifestProblems(action.draft, granted, blockSpecOf(action.draft));
    return problems.map((problem) => ({ ...problem, path: `${path}.manifest.${problem.path}` }));
  });
}

/**
 * What a manifest of a plugin without root may not have: whatever would make its containers root on the machine, or
 * give them what is of other scopes. What the operator wrote into the block that it came from is the operator's own.
 */
export function manifestProblems(draft: CoreDraft, granted: PluginPermissions, blockSpec: Spec | undefined): Problem[] {
  if (runsAsRoot(granted)) return [];
  return privileges(draft).flatMap(({ path, field, value, scope, what }): Problem[] => {
    if (scope !== undefined && mayTouch(granted, scope)) return [];
    if (blockSpec !== undefined && hasWord(blockSpec, field, value)) return [];
    return [{ path, message: `"${value.slice(0, 200)}" ${what}; ${rootWayOut}` }];
  });
}

/** Like `manifestProblems`, for what a block became, each problem with the manifest that it is of. */
export function expansionProblems(
  manifests: readonly CoreDraft[],
  granted: PluginPermissions,
  blockSpec: Spec | undefined,
): Problem[] {
  return manifests.flatMap((draft) =>
    manifestProblems(draft, granted, blockSpec).map((problem) => ({
      ...problem,
      path: `${formatKey(draft)}: ${problem.path}`,
    })),
  );
}

/** Whether a field of that name holds the value, at whatever depth. */
function hasWord(spec: unknown, field: string, value: string): boolean {
  if (typeof spec !== "object" || spec === null) return false;
  return Object.entries(spec).some(([key, found]) => {
    const isIt = key === field && (found === value || (Array.isArray(found) && found.includes(value)));
    return isIt || hasWord(found, field, value);
  });
}

/** Whether the plugin may touch resources of a scope; the empty scope is that of registries and shared assets. */
export function mayTouch({ scopes }: PluginPermissions, scope: string): boolean {
  return scopes.includes("*") || scopes.includes(scope);
}

const wayOut = "its plugin.yml has to ask for it under permissions";
const rootWayOut = "its plugin.yml has to ask for root under permissions";

function scopeOf(action: PlannedAction): string | undefined {
  switch (action.type) {
    case "exec_local":
    case "fetch_file":
      return undefined;
    case "apply_manifest":
      return action.draft.scope;
    default:
      return action.scope;
  }
}
