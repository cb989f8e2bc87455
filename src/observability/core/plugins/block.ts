import type { ListedManifest } from "../../../orchestration/api/apply.ts";
import { keyText } from "../../../orchestration/api/manifest-key.ts";
import type { PluginInfo } from "../../../orchestration/api/plugins.ts";
import { type App, type AppState, appStates } from "../../api/app-model.ts";
import type { BlockView } from "../../api/plugins.ts";
import { isOffered } from "./command.ts";

/** A block as the platform lists it. */
export type StoredBlock = ListedManifest & { scope: string };

interface PluginAndApps {
  /** Undefined where it is gone. */
  plugin: PluginInfo | undefined;
  apps: readonly App[];
}

/** A block, and how what it became is. */
export function blockView(
  { kind, scope, name, spec, status }: StoredBlock,
  { plugin, apps }: PluginAndApps,
): BlockView {
  const own = apps.filter(({ block }) => block === keyText({ kind, scope, name }));
  const [worst] = own.toSorted((a, b) => rank(b.state) - rank(a.state));
  return {
    plugin: plugin?.name ?? textOf(status?.plugin),
    ...{ kind, scope, name },
    version: textOf(status?.version),
    state: worst?.state ?? "deploying",
    summary: worst?.summary ?? "nothing of it runs yet",
    image: worst?.image ?? textOf(spec.image),
    desired: own.reduce((sum, app) => sum + app.desired, 0),
    ready: own.reduce((sum, app) => sum + app.ready, 0),
    children: childrenOf(status?.children),
    commands: plugin?.enabled === true ? plugin.commands.filter(isOffered).map(commandView) : [],
  };
}

function commandView({ name, help, destructive, reads, reveals }: PluginInfo["commands"][number]) {
  return {
    name,
    help,
    destructive: destructive === true,
    reads: reads === true,
    reveals: reveals === true,
  };
}

function rank(state: AppState): number {
  return appStates.indexOf(state);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function childrenOf(value: unknown): string[] {
  return Array.isArray(value) ? value.flatMap((child: { ref?: unknown }) => textOf(child.ref) || []) : [];
}
