import { acceptPlugin, type PluginChanges, pluginChanges } from "../../../orchestration/api/plugins.ts";
import { changesText } from "../../text/plugin-changes.ts";
import { requireYes } from "../../shell/ask.ts";
import { answer, type Context } from "../../shell/command.ts";
import { toldPlugin } from "./install.ts";
import { printable } from "../../basics/style.ts";

/** Shows what was changed in a plugin, and takes just that where the operator says yes. */
export async function acceptShown(context: Context, name: string, { yes }: { yes: boolean }): Promise<number> {
  const { terminal } = context;
  const seen: PluginChanges = await context.api.call(pluginChanges, { params: { name } });
  if (seen.files.length === 0) {
    return answer(context, seen, () => `nothing was changed in ${printable(seen.name)}`);
  }
  if (!context.json || terminal.asks) terminal.note(changesText(seen, terminal.noteStyle));
  await requireYes(context, { text: "Accept that?", yes, otherwise: "nothing was accepted" });
  const body = { expect: seen.digest };
  const plugin = await context.api.call(acceptPlugin, { params: { name: seen.name }, body });
  return toldPlugin(context, plugin, "accepted the changes of");
}
