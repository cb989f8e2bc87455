import { ApiError, type CallInput } from "../../../base/wire/client.ts";
import {
  type InstallBody,
  type InstallOutcome,
  installPlugin,
  type PluginInfo,
  type PluginPreview,
  type UpdateBody,
  updatePlugin,
} from "../../../orchestration/api/plugins.ts";
import { requireYes } from "../../shell/ask.ts";
import { answer, type Context } from "../../shell/command.ts";
import { CommandFailure, exitCodes } from "../../basics/failures.ts";
import { grantText, previewText } from "../../text/plugin-text.ts";
import { callWithProgress, warn } from "../../shell/progress-answer.ts";
import { printable } from "../../basics/style.ts";

/** Installs a plugin; where somebody can be asked, they see first what it is and say yes, unless they did already. */
export async function installShown(context: Context, body: InstallBody, { yes }: { yes: boolean }): Promise<number> {
  const verb = body.link === true ? "linked" : "installed";
  const text = body.link === true ? "Link it?" : "Install it?";
  if (yes || context.autoApprove || !context.terminal.asks) {
    await requireYes(context, { text, yes });
    return cameIn(context, await bring(context, installPlugin, { body }), { verb });
  }
  const seen = await bring(context, installPlugin, { body: { ...body, preview: true } });
  if (!isPreview(seen)) {
    warn(context, [older]);
    return cameIn(context, seen, { verb });
  }
  await requireShown(context, seen, text);
  const outcome = await bring(context, installPlugin, { body: { ...body, expect: seen.digest } });
  return cameIn(context, outcome, { verb, seen });
}

/** What a server answers with that does not know previews. */
const older = "the server is older than this client: it installed the plugin without showing it before";

interface Update {
  name: string;
  before: PluginInfo | undefined;
  version: string | undefined;
  /** Grants what the new version asks for, without being asked. */
  yes: boolean;
}

/** Updates a plugin; one that wants more than it was granted is shown, and brought in where the operator says yes. */
export async function updateShown(context: Context, update: Update): Promise<number> {
  const { outcome, seen } = await updated(context, update);
  return cameIn(context, outcome, { verb: (plugin) => updateVerb(update.before, plugin), seen });
}

function updateVerb(before: PluginInfo | undefined, plugin: PluginInfo): string {
  const isSame = before?.installed_at === plugin.installed_at;
  if (before?.version === plugin.version) return isSame ? "already the newest:" : "installed again:";
  return `updated from ${printable(before?.version || "an unknown version")} to`;
}

async function updated(
  context: Context,
  { name, version, yes }: Update,
): Promise<{ outcome: InstallOutcome; seen: PluginPreview | undefined }> {
  const call = (body?: UpdateBody) =>
    bring(context, updatePlugin, { params: { name }, query: { version }, ...(body === undefined ? {} : { body }) });
  try {
    return { outcome: await call(), seen: undefined };
  } catch (error) {
    // It wants more than it was granted.
    const isGrant = error instanceof ApiError && error.status === 403;
    const isYes = yes || context.autoApprove;
    if (!isGrant || !(isYes || context.terminal.asks)) throw error;
    const seen = await call({ preview: true });
    if (!isPreview(seen) || (seen.more ?? []).length === 0) throw error;
    if (!isYes) await requireShown(context, seen, "Grant that and update it?");
    return { outcome: await call({ expect: seen.digest, grant: seen.grant }), seen: isYes ? undefined : seen };
  }
}

/** On a terminal, prints the progress line by line. */
async function bring<E extends typeof installPlugin | typeof updatePlugin>(
  context: Context,
  endpoint: E,
  input: CallInput<E>,
): Promise<InstallOutcome> {
  const { interactive, live } = context.terminal;
  if (context.json || !(interactive || live)) return context.api.call(endpoint, { ...input, signal: context.signal });
  const broken = "on the way; to see what was installed: berth plugins list";
  return callWithProgress(context, endpoint, { input, broken });
}

/** Shows it on stderr, so that the answer stays alone on stdout. Fails `refused`. */
async function requireShown(context: Context, seen: PluginPreview, text: string): Promise<void> {
  const { terminal } = context;
  terminal.note(previewText(seen, terminal.noteStyle));
  warn(context, seen.warnings);
  await requireYes(context, { text, yes: false });
}

interface CameIn {
  verb: string | ((plugin: PluginInfo) => string);
  /** What was shown before: its warnings were, too. */
  seen?: PluginPreview | undefined;
}

function cameIn(context: Context, outcome: InstallOutcome, { verb, seen }: CameIn): number {
  if (isPreview(outcome)) throw new CommandFailure("the server answered with a preview that was not requested");
  const code = toldPlugin(context, outcome, typeof verb === "string" ? verb : verb(outcome));
  // An older server tells none.
  const warnings = (outcome.warnings ?? []).filter((warning) => seen?.warnings.includes(warning) !== true);
  if (!context.json) warn(context, warnings);
  return code;
}

/** Blocks that have no plugin now. An older server tells none. */
export function tellStranded(context: Context, { stranded = [] }: { stranded?: string[] | undefined }): void {
  if (!context.json) warn(context, stranded);
}

/** A plugin as it is now, and what it may do. */
export function toldPlugin(context: Context, plugin: PluginInfo, verb: string): number {
  const version = plugin.version === "" ? "" : ` ${printable(plugin.version)}`;
  answer(context, plugin, () => `${verb} ${plugin.name}${version}`);
  if (!context.json && plugin.enabled) context.terminal.note(`  it may ${printable(grantText(plugin))}`);
  tellStranded(context, plugin);
  return exitCodes.done;
}

function isPreview(outcome: InstallOutcome): outcome is PluginPreview {
  return "preview" in outcome;
}
