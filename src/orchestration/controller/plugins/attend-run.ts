import { theServer, unnamed } from "../../../access/principal.ts";
import { Failure } from "../../../base/wire/failure.ts";
import { formatKey, type ManifestKey } from "../../api/manifest.ts";
import type { AttendInput } from "../../api/plugins/protocol.ts";
import { makerOf } from "../../core/plugins/maker.ts";
import { leftOutTexts } from "../../core/plugins/unknown-fields.ts";
import type { Plugin } from "../../plugins/plugin.ts";
import type { Context } from "../state/context.ts";
import { inputOf, performActions, readCommandReply, recorded } from "./dispatch.ts";
import { blockOfWords } from "./own-places.ts";
import { type PluginCall, runPlugin } from "./plugin-run.ts";

interface Attention {
  block: ManifestKey;
  plugin: Plugin;
  reason: AttendInput["reason"];
  unready: AttendInput["unready"];
  /** What the last attempt failed with. */
  known: string | undefined;
}

/**
 * Runs the plugin's command for a block and carries its actions out. Returns after how many milliseconds it wants to be
 * asked again. What it says it has done, and a new failure, is an event of the block's name, so that `why` tells it.
 */
export async function attendTo(context: Context, attention: Attention): Promise<number | undefined> {
  const { block, plugin, reason } = attention;
  const stored = context.store.blocks.get(block);
  const command = plugin.yml.attend?.command;
  if (stored === undefined || command === undefined) return undefined;
  const actor = `plugin ${plugin.yml.name}`;
  if (!plugin.argv.has(command))
    throw new Failure("invalid", `plugin "${plugin.yml.name}" has no command "${command}"`);
  const { kind, scope, name, spec } = stored;
  const input: AttendInput = {
    ...inputOf(plugin, { plugin: plugin.yml.name, command }),
    reason,
    block: { kind, scope, name, spec },
    unready: attention.unready,
  };
  const args = [`${scope}/${name}`];
  const by = stored.lesser === true ? unnamed : theServer;
  const call: PluginCall = {
    plugin,
    command,
    args,
    input,
    timeoutMs: context.limits.dispatchTimeoutMs,
    actor,
    by,
  };
  try {
    const { message, again } = await context.attendance.alone(call, () => carriedOut(context, call));
    if (message !== "") await tell(context, attention, { message });
    return again;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (text !== attention.known) await tell(context, attention, { error: text });
    throw error;
  }
}

async function carriedOut(context: Context, call: PluginCall) {
  const { plugin, command, actor, by } = call;
  const answer = await runPlugin(context, call);
  return recorded(
    answer,
    ({ applied }) => applied,
    async () => {
      const { message, actions, leftOut, again } = readCommandReply(context, { plugin, command, answer });
      const { outcome, warnings } = await performActions(context, actions, {
        actor,
        by,
        block: blockOfWords(context, makerOf(plugin), call.args),
        restart: true,
      });
      for (const warning of [...leftOutTexts(plugin.yml.name, leftOut), ...warnings])
        context.log.warn(warning, { plugin: plugin.yml.name });
      return { message, again, applied: outcome.applied };
    },
  );
}

/** Without a kind, as events about config: it belongs to everything of that name. */
async function tell(context: Context, { block, plugin, reason }: Attention, what: Record<string, string>) {
  const { scope, name } = block;
  const detail = { block: formatKey(block), reason, ...what };
  const event = { actor: `plugin ${plugin.yml.name}`, action: "plugin.attend", scope, name, detail };
  await context.notes.write((tx) => tx.events.append(event, context.clock.now()));
}
