import { getPluginConfig, setPluginConfig } from "../../../orchestration/api/plugin-config.ts";
import { printable } from "../../basics/style.ts";
import { answer, type Context } from "../../shell/command.ts";
import { CommandFailure, usageFailure } from "../../basics/failures.ts";
import { readPairs } from "../../shell/pairs.ts";
import { tableText } from "../../basics/table-text.ts";

interface ConfigWish {
  name: string;
  /** `KEY=VALUE` */
  pairs: readonly string[];
  unset: readonly string[];
}

/** Shows the environment that was set for a plugin, or changes it in one call. */
export async function pluginConfigured(context: Context, { name, pairs, unset }: ConfigWish): Promise<number> {
  if (pairs.length === 0 && unset.length === 0) return listed(context, name);
  const set = await readPairs(pairs, name, context);
  const wrong = unset.find((key) => key.includes("=") || Object.hasOwn(set, key));
  if (wrong !== undefined) throw usageFailure("--unset takes a key alone, which is not set in the same call");
  const vars = { ...set, ...Object.fromEntries(unset.map((key) => [key, ""])) };
  const data = await context.api.call(setPluginConfig, { params: { name }, body: { vars } });
  const shown = printable(data.plugin);
  if (pairs.length === 0 && data.changed.length === 0) {
    throw new CommandFailure(`not set for ${shown}: ${unset.join(", ")}; see: berth plugins config ${shown}`);
  }
  return answer(context, data, () =>
    data.changed.length === 0
      ? `nothing changed for ${shown}`
      : `changed ${printable(data.changed.join(", "))} for ${shown}; its next run has it`,
  );
}

async function listed(context: Context, name: string): Promise<number> {
  const data = await context.api.call(getPluginConfig, { params: { name } });
  const rows = Object.entries(data.vars).map(([key, value]) => [printable(key), printable(value)]);
  return answer(context, data, () =>
    rows.length === 0 ? `nothing is set for ${printable(data.plugin)}` : tableText([["KEY", "VALUE"], ...rows]),
  );
}
