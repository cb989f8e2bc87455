import { Failure, problemsFailure } from "../../../base/wire/failure.ts";
import { isFields } from "../../../base/pure/fields.ts";
import type { PluginConfig, PluginConfigChange } from "../../api/plugin-config.ts";
import { MASK } from "../../core/mask.ts";
import { makerOf } from "../../core/plugins/maker.ts";
import { configProblems } from "../../core/plugins/own-environment.ts";
import type { Context } from "../state/context.ts";
import { requireMachine } from "../state/authority.ts";
import { note, pluginNamed, type PluginOptions } from "./plugins.ts";

/** GET /plugins/{name}/config: the names, and never a value. */
export async function getPluginConfig(
  context: Context,
  name: string,
  { by }: Pick<PluginOptions, "by">,
): Promise<PluginConfig> {
  requireMachine(by, "looking at the config of a plugin");
  const plugin = await pluginNamed(context, name);
  const vars = context.store.pluginConfig.of(makerOf(plugin));
  return { plugin: plugin.yml.name, vars: Object.fromEntries(Object.keys(vars).map((key) => [key, MASK])) };
}

/** POST /plugins/{name}/config: all keys in one transaction; an empty value unsets, and an absent key is fine. */
export async function setPluginConfig(
  context: Context,
  { name, body }: { name: string; body: unknown },
  { actor, by }: PluginOptions,
): Promise<PluginConfigChange> {
  requireMachine(by, "changing the config of a plugin");
  const vars = readVars(body);
  const plugin = await pluginNamed(context, name);
  const maker = makerOf(plugin);
  const { envPrefix } = context.names;
  const changed = await context.store.write((tx) => {
    const before = tx.pluginConfig.of(maker);
    const problems = configProblems(before, vars, { envPrefix, limits: context.limits.pluginConfig });
    if (problems.length > 0) throw problemsFailure(problems);
    const now = context.clock.now();
    const keys = Object.keys(vars).filter((key) => (Object.hasOwn(before, key) ? before[key] : "") !== vars[key]);
    for (const key of keys) {
      const value = vars[key] ?? "";
      if (value === "") tx.pluginConfig.unset(maker, key);
      else tx.pluginConfig.set(maker, key, value, now);
    }
    return keys;
  });
  const detail = { plugin: plugin.yml.name, changed };
  if (changed.length > 0) await note(context, { actor, action: "plugin.config", detail });
  return { plugin: plugin.yml.name, changed };
}

function readVars(body: unknown): Record<string, string> {
  const { vars } = isFields(body) ? body : {};
  if (!isFields(vars)) throw new Failure("invalid", 'vars: expected an object such as {"KEY": "value"}');
  const wrong = Object.entries(vars).flatMap(([key, value]) =>
    typeof value === "string" ? [] : [{ path: `vars.${key}`, message: "expected string; put it in quotes" }],
  );
  if (wrong.length > 0) throw problemsFailure(wrong);
  return vars as Record<string, string>;
}
