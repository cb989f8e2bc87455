import type { PluginYml } from "../../api/plugins/plugin-yml.ts";

/** A plugin, as far as it may route ingresses. */
interface Router {
  yml: Pick<PluginYml, "name">;
  enabled: boolean;
  argv: ReadonlyMap<string, unknown>;
}

/** What the server calls for an ingress. */
const commands = ["apply", "remove"];

/** Why the plugin of this name cannot route ingresses; undefined where it can. */
export function routingFault(name: string, plugin: Router | undefined): string | undefined {
  if (plugin === undefined) {
    return `plugin "${name}" is not installed; install it (berth plugins install), or move the ingress (berth ingress move)`;
  }
  if (!plugin.enabled) return `plugin "${name}" is disabled; enable it with: berth plugins enable ${name}`;
  const missing = commands.find((command) => !plugin.argv.has(command));
  return missing === undefined ? undefined : `plugin "${name}" has no command ${missing}, so it cannot route ingresses`;
}

/** The only enabled plugin that can route ingresses; undefined where there is none, or a choice. */
export function soleRouter(plugins: readonly Router[]): string | undefined {
  const [one, ...others] = plugins.filter((plugin) => routingFault(plugin.yml.name, plugin) === undefined);
  return others.length === 0 ? one?.yml.name : undefined;
}
