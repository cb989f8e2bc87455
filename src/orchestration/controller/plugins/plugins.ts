import type { Principal } from "../../../access/principal.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { formatKey } from "../../api/manifest.ts";
import type { InstallOutcome, PluginChanges, PluginInfo, PluginPreview } from "../../api/plugins.ts";
import {
  ChangedPackage,
  type InstalledPlugin,
  type InstallOptions,
  type Plugin,
  type Preview,
} from "../../plugins/plugin.ts";
import type { Context } from "../state/context.ts";
import type { PluginCaller } from "../requests.ts";
import { requireMachine } from "../state/authority.ts";
import { knownPlugin } from "./dispatch.ts";
import { asInvalid } from "./just-in-time.ts";
import { strandedWarnings, wouldStrand } from "../state/makers.ts";
import { readAccept, readInstall, readUpdate } from "./plugin-request.ts";

/** Who asks for a change of plugins. */
export interface PluginOptions {
  actor: string;
  /** Left out, it may do the least. */
  by?: Principal | undefined;
}

/** GET /plugins. */
export async function listPlugins(context: Context): Promise<{ plugins: PluginInfo[]; errors: string[] }> {
  await context.plugins.registry.refresh();
  const { plugins, errors } = context.plugins.registry.list();
  return { plugins: plugins.map(wirePlugin), errors: [...errors, ...withoutPlugin(context)] };
}

/** Kinds of stored blocks that no plugin expands any more. */
function withoutPlugin({ plugins: { registry }, store }: Context): string[] {
  const blocks = Map.groupBy(store.blocks.list({}), ({ kind }) => kind);
  const { errors } = registry.list();
  return [...blocks].flatMap(([kind, [first]]) => {
    const isKnown = registry.ofKind(kind) !== undefined || errors.some((text) => text.startsWith(`${kind}: `));
    if (first === undefined || isKnown) return [];
    const what = `no plugin expands blocks of this kind, such as ${formatKey(first)}`;
    return [`${kind}: ${what}; what they became runs on, install the plugin again to change it`];
  });
}

/** GET /plugins/{name}. */
export async function getPlugin(context: Context, name: string): Promise<PluginInfo> {
  return wirePlugin(await pluginNamed(context, name));
}

/** GET /plugins/{name}/schema. */
export async function pluginSchema(context: Context, target: { name: string; kind: string | undefined }) {
  const plugin = await pluginNamed(context, target.name);
  const kind = target.kind || plugin.yml.name;
  const found = await context.plugins.schemas.of(plugin, kind);
  if (found !== undefined) return { plugin: plugin.yml.name, kind, schema: found.json };
  throw new Failure("not_found", `the plugin "${plugin.yml.name}" publishes no schema for blocks of kind "${kind}"`);
}

/** Fails `not_found`, naming those that are there. */
export async function pluginNamed(context: Context, name: string): Promise<Plugin> {
  return knownPlugin(context, name).catch((error: unknown) => {
    if (error instanceof Failure && error.code === "invalid") throw new Failure("not_found", error.message);
    throw error;
  });
}

function wirePlugin({ yml, lock, origin, enabled, permissions }: Plugin): PluginInfo {
  const { permissions: declared, ...fields } = yml;
  return {
    ...fields,
    origin,
    enabled,
    ...(lock === undefined || lock.source === "" ? {} : { source: lock.source }),
    ...(lock?.requested ? { requested: lock.requested } : {}),
    ...(lock?.commit === undefined ? {} : { commit: lock.commit }),
    ...(lock?.installed_at ? { installed_at: lock.installed_at } : {}),
    ...(lock?.accepted === undefined ? {} : { accepted: lock.accepted }),
    ...(lock?.previous === undefined ? {} : { previous: lock.previous.version }),
    permissions,
    full_grant: declared === undefined,
  };
}

function wirePreview(context: Context, outcome: Preview): PluginPreview {
  const { yml, requested, version, replaces, ...seen } = outcome;
  const { permissions: declared, ...fields } = yml;
  return {
    preview: true,
    ...fields,
    ...seen,
    warnings: [...seen.warnings, ...wouldStrand(context, outcome)],
    version,
    full_grant: declared === undefined,
    ...(requested === "" ? {} : { requested }),
    ...(replaces === undefined ? {} : { replaces: { version: replaces.yml.version, origin: replaces.origin } }),
  };
}

/**
 * POST /plugins/install. Every fault of the source or the package is a 400; a package that is not the one that was shown
 * is a 409.
 */
export async function installPlugin(context: Context, body: unknown, caller: PluginCaller): Promise<InstallOutcome> {
  requireMachine(caller.by, "installing a plugin");
  const { request, preview } = readInstall(body);
  const { installer } = context.plugins;
  const how = howOf(caller, { preview });
  const coming = preview ? installer.preview(request, how) : installer.install(request, how);
  const outcome = await coming.catch((error: unknown) => {
    throw error instanceof ChangedPackage ? error : asInvalid(error);
  });
  if ("digest" in outcome) return wirePreview(context, outcome);
  const detail = { source: request.source };
  return cameIn(context, outcome, { actor: caller.actor, action: "plugin.install", detail });
}

/** A client that watches an install cancels it by leaving; an install without a watcher goes on to its end. */
function howOf({ signal, onLine }: PluginCaller, { preview }: { preview: boolean }): InstallOptions {
  const endsIt = preview || onLine !== undefined;
  return {
    ...(signal === undefined || !endsIt ? {} : { signal }),
    ...(onLine === undefined ? {} : { progress: onLine }),
  };
}

async function cameIn(context: Context, plugin: InstalledPlugin, event: Told): Promise<InstallOutcome> {
  return { ...(await told(context, plugin, event)), warnings: [...plugin.warnings] };
}

/** DELETE /plugins/{name}: one that is not there is fine. */
export async function removePlugin(context: Context, name: string, { actor, by }: PluginOptions) {
  requireMachine(by, "removing a plugin");
  const { registry, installer } = context.plugins;
  await registry.refresh();
  const own = registry.find(name)?.yml.name ?? name;
  const removed = await installer.remove(name);
  // Its uninstall hook had it until now.
  await context.store.write((tx) => tx.pluginConfig.forget(own));
  await registry.refresh();
  const stranded = strandedWarnings(context);
  if (removed)
    await note(context, { actor, action: "plugin.remove", detail: { plugin: name, stranded: stranded.length } });
  return { name, removed, ...(stranded.length > 0 ? { stranded } : {}) };
}

/** POST /plugins/{name}/update. */
export async function updatePlugin(
  context: Context,
  { name, version, body }: { name: string; version: string | undefined; body: unknown },
  caller: PluginCaller,
): Promise<InstallOutcome> {
  requireMachine(caller.by, "updating a plugin");
  const { request, preview } = readUpdate(body, version);
  const { yml } = await pluginNamed(context, name);
  const { installer } = context.plugins;
  const how = howOf(caller, { preview });
  if (preview) return wirePreview(context, await installer.previewUpdate(yml.name, request, how));
  const plugin = await installer.update(yml.name, request, how);
  return cameIn(context, plugin, { actor: caller.actor, action: "plugin.update", detail: { from: yml.version } });
}

/** GET /plugins/{name}/changes. What is in the files is for those who may install. */
export async function pluginChanges(
  { plugins }: Context,
  name: string,
  { by }: Pick<PluginOptions, "by">,
): Promise<PluginChanges> {
  requireMachine(by, "looking at what was changed in a plugin");
  const { yml, grant, ...seen } = await plugins.installer.changes(name);
  const asked = grant === undefined ? {} : { grant, full_grant: yml.permissions === undefined };
  return { name: yml.name, version: yml.version, ...seen, ...asked };
}

/** POST /plugins/{name}/accept. A plugin that was changed since it was looked at is a 409. */
export async function acceptPlugin(
  context: Context,
  { name, body }: { name: string; body: unknown },
  { actor, by }: PluginOptions,
): Promise<PluginInfo> {
  requireMachine(by, "accepting what was changed in a plugin");
  const plugin = await context.plugins.installer.accept(name, readAccept(body));
  return told(context, plugin, {
    actor,
    action: "plugin.accept",
    detail: { files: plugin.lock?.accepted?.files ?? [] },
  });
}

/** POST /plugins/{name}/rollback. */
export async function rollbackPlugin(
  context: Context,
  name: string,
  { actor, by }: PluginOptions,
): Promise<PluginInfo> {
  requireMachine(by, "rolling a plugin back");
  const known = await pluginNamed(context, name);
  const plugin = await context.plugins.installer.rollback(known.yml.name);
  return told(context, plugin, { actor, action: "plugin.rollback", detail: { from: known.yml.version } });
}

/** POST /plugins/{name}/enable and /disable. */
export async function setPluginEnabled(
  context: Context,
  { name, enabled }: { name: string; enabled: boolean },
  { actor, by }: PluginOptions,
): Promise<PluginInfo> {
  requireMachine(by, `${enabled ? "enabling" : "disabling"} a plugin`);
  const known = await pluginNamed(context, name);
  const plugin = await context.plugins.installer.setEnabled(known.yml.name, enabled);
  return told(context, plugin, { actor, action: enabled ? "plugin.enable" : "plugin.disable", detail: {} });
}

interface Told {
  actor: string;
  action: string;
  detail: Record<string, unknown>;
}

async function told(context: Context, plugin: Plugin, { detail, ...event }: Told): Promise<PluginInfo> {
  await context.plugins.registry.refresh();
  await note(context, { ...event, detail: { plugin: plugin.yml.name, version: plugin.yml.version, ...detail } });
  const stranded = strandedWarnings(context);
  return { ...wirePlugin(plugin), ...(stranded.length > 0 ? { stranded } : {}) };
}

/** Appends an event. */
export async function note(context: Context, event: Told): Promise<void> {
  await context.store.write((tx) => tx.events.append(event, context.clock.now()));
}
