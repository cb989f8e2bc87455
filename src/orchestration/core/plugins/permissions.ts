import type { Problem } from "../../../base/wire/failure.ts";
import type { PluginPermissions } from "../../api/plugins/plugin-yml.ts";
import type { PlannedAction } from "./actions.ts";

/** What the plugin was not granted, each with the place of the action; nothing of such an answer is carried out. */
export function permissionProblems(actions: readonly PlannedAction[], granted: PluginPermissions): Problem[] {
  return actions.flatMap((action, index) => {
    const path = `actions[${index}]`;
    if (!granted.actions.some((type) => type === action.type)) {
      return [{ path, message: `the plugin was not granted "${action.type}"; ${wayOut}` }];
    }
    const scope = scopeOf(action);
    if (scope === undefined || mayTouch(granted, scope)) return [];
    return [{ path, message: `the plugin was not granted the scope "${scope}"; ${wayOut}` }];
  });
}

/** Whether the plugin may touch resources of a scope; the empty scope is that of registries and shared assets. */
export function mayTouch({ scopes }: PluginPermissions, scope: string): boolean {
  return scopes.includes("*") || scopes.includes(scope);
}

const wayOut = "its plugin.yml has to ask for it under permissions";

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
