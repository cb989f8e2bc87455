import { listBackupApps, listBackupTargets } from "../../backups/api/backups.ts";
import { ApiError } from "../../base/wire/client.ts";
import { getIngress } from "../../ingress/api/ingress.ts";
import { listAlerts } from "../../observability/api/alerts.ts";
import type { App } from "../../observability/api/app-model.ts";
import { listApps } from "../../observability/api/apps.ts";
import { type Drain, listDrains } from "../../observability/api/log-drains.ts";
import { listPlugins } from "../../orchestration/api/plugins.ts";
import type { Context } from "../shell/command.ts";
import { firing, type Troubles } from "../text/trouble-text.ts";

/** What is wrong for visitors now. What a server cannot tell, one of another version for instance, is left out. */
export async function readTroubles(context: Pick<Context, "api">): Promise<Troubles> {
  const [sites, alerts] = await Promise.all([
    context.api.call(getIngress).then((status) => status.sites, nothingTold),
    firingAlerts(context),
  ]);
  return { sites: sites ?? [], alerts };
}

/** Alerts that fire, as far as the server can tell. */
export async function firingAlerts({ api }: Pick<Context, "api">): Promise<Troubles["alerts"]> {
  const found = await api.call(listAlerts, { query: {} }).catch(nothingTold);
  return firing(found?.alerts ?? []);
}

/** Apps that serve and whose visitors get errors, as far as the server can tell. */
export async function failingApps({ api }: Pick<Context, "api">): Promise<readonly App[]> {
  const found = await api.call(listApps, { query: { state: "failing", sparks: "false" } }).catch(nothingTold);
  return found?.apps ?? [];
}

/** Where lines are sent to, as far as the server can tell. */
export async function knownDrains({ api }: Pick<Context, "api">): Promise<readonly Drain[]> {
  const found = await api.call(listDrains, {}).catch(nothingTold);
  return found?.drains ?? [];
}

/** Plugins that cannot be used, and why, as far as the server can tell. */
export async function pluginFaults({ api }: Pick<Context, "api">): Promise<readonly string[]> {
  return (await api.call(listPlugins).catch(nothingTold))?.errors ?? [];
}

/** Places that copies go to, as far as the server can tell. */
export async function knownTargets({ api }: Pick<Context, "api">) {
  return (await api.call(listBackupTargets).catch(nothingTold))?.targets;
}

/** What is known of the copies of apps; undefined from a server that does not say. */
export async function knownBackups({ api }: Pick<Context, "api">) {
  return (await api.call(listBackupApps).catch(nothingTold))?.apps;
}

function nothingTold(error: unknown): undefined {
  if (!(error instanceof ApiError)) throw error;
  return undefined;
}
